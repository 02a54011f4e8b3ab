/* SPDX-License-Identifier: MIT */
/*
 * In which function a Python program makes its rounds, by its source (see containers.h).
 */
#include "containers.h"

#include <string.h>

/* The innermost loop around statement i, in its own scope. */
static uint32_t loop_around(const struct vt_pysource *s, uint32_t i) {
    for (i = vt_pysource_above(s, i); i != VT_NO_STATEMENT; i = vt_pysource_above(s, i)) {
        if (vt_pysource_is_scope(s->statements[i].text))
            return VT_NO_STATEMENT;
        if (vt_pysource_is_loop(s->statements[i].text))
            return i;
    }
    return VT_NO_STATEMENT;
}

/* PyTorch's modules, whose loops are over layers, not over rounds. */
static bool is_passed_over(const struct vt_frame *f) {
    return !f->python || (!f->user_code && f->file && strstr(f->file, "-packages/torch/"));
}

bool vt_containers_main_loops(struct vt_pyfiles *files, const struct vt_stack *stack) {
    bool main_loops = false;
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct vt_frame *f = &stack->frames[i];
        if (is_passed_over(f))
            continue;
        const struct vt_pysource *s = vt_pyfiles_get(files, f->file);
        uint32_t at = vt_pysource_frame(s, f);
        if (main_loops && at != VT_NO_STATEMENT && !strcmp(vt_pysource_name(f), "<module>"))
            return f->user_code && loop_around(s, at) == VT_NO_STATEMENT && !stack->cut;
        if (main_loops || at == VT_NO_STATEMENT || strstr(s->statements[at].text, " for "))
            return false;
        main_loops = loop_around(s, at) != VT_NO_STATEMENT;
    }
    return false;
}
