/* SPDX-License-Identifier: MIT */
/*
 * Collapsed stacks, in the format of Brendan Gregg's stackcollapse scripts, read by flamegraph.pl, inferno and
 * speedscope: one line per stack, with frames joined by `;`, outermost first, then a blank and the bytes.
 */
#include "samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int vt_export_folded_write(const struct vt_model *model, const struct vt_export_options *options,
                           FILE *out) {
    struct vt_samples samples;
    struct vt_sample_stack stack = {0};
    vt_samples_make(model, &samples);
    for (uint32_t i = 0; i < samples.count; i++) {
        uint64_t bytes = samples.items[i].bytes[options->value];
        if (!bytes)
            continue;
        vt_samples_stack(&samples, &samples.items[i], options->native, &stack);
        for (uint32_t k = 0; k < stack.count; k++) {
            VT_SCOPED char *line = vt_samples_line(&stack.frames[k], true);
            bool command = !k && !strncmp(line, "::", 2); /* a CI service would execute the line */
            fprintf(out, "%s%s%s", k ? ";" : "", command ? "\\x3a" : "", line + command);
        }
        fprintf(out, " %" PRIu64 "\n", bytes);
    }
    vt_samples_stack_free(&stack);
    vt_samples_free(&samples);
    return 0;
}
