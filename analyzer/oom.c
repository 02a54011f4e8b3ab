/* SPDX-License-Identifier: MIT */
/*
 * Why was there no memory? Where the tracer refused in the driver's place (a limit, a rehearsal)
 * the log says so. Of the other causes driver events can prove one: when what this process held and
 * what it asked for together exceed the device, no other process and no order of the pieces would
 * have helped. All else stays unknown here rather than guessed.
 */
#include "diagnose.h"
#include "vramtrace/log_format.h"

#include <string.h>

static void explain(struct vt_oom *oom) {
    char asked[VT_FORMAT_BYTES], held[VT_FORMAT_BYTES], total[VT_FORMAT_BYTES];
    struct vt_string why = {0};
    vt_format_bytes(oom->requested_bytes, asked);
    vt_format_bytes(oom->tracked_bytes, held);
    if (oom->cause && !strcmp(oom->cause, "limit")) {
        vt_string_format(&why, "%s more would have gone past VRAMTRACE_LIMIT; this process held %s",
                         asked, held);
    } else if (oom->cause) {
        vt_string_add(&why, "VRAMTRACE_INJECT chose this allocation to fail");
    } else if (oom->layer == VT_LAYER_HOST) {
        vt_string_format(&why, "the system refused %s of pinned host memory", asked);
    } else if (oom->total_bytes == VT_UNKNOWN) {
        vt_string_format(&why,
                         "this process held %s; the device's size is not in the log, because the "
                         "program never asked for it",
                         held);
    } else if (oom->requested_bytes > oom->total_bytes) {
        oom->cause = "capacity";
        vt_string_format(&why, "%s is more than the whole device has (%s)", asked,
                         vt_format_bytes(oom->total_bytes, total));
    } else if (oom->tracked_bytes > oom->total_bytes - oom->requested_bytes) {
        oom->cause = "capacity";
        vt_string_format(&why, "this process held %s of the device's %s", held,
                         vt_format_bytes(oom->total_bytes, total));
    } else {
        vt_string_format(
            &why,
            "this process held only %s of the device's %s: something else held the rest, "
            "or it was in pieces",
            held, vt_format_bytes(oom->total_bytes, total));
    }
    oom->why = why.text;
}

void vt_oom_explain(struct vt_process *process) {
    for (uint32_t i = 0; i < process->oom_count; i++)
        explain(&process->ooms[i]);
}
