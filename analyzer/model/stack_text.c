/* SPDX-License-Identifier: MIT */
/*
 * A call site as text (see stack_text.h).
 *
 * A node runs in torch::autograd::...::NAME::apply. Between it and the main frame are the engine and the thread that
 * waits in backward(). A node written in Python has PyNode::apply, followed inwards by its Python frames, including
 * the class's backward().
 */
#include "stack_text.h"

#include "frame_text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* "Mul" of the Python function "Mul.backward". NULL: another function. */
static char *python_node(const struct vt_frame *frame) {
    static const char ending[] = ".backward";
    const char *at = frame->python && frame->function ? strrchr(frame->function, '.') : NULL;
    if (!at || strcmp(at, ending) != 0)
        return NULL;
    return vt_printable(vt_strndup(frame->function, (size_t)(at - frame->function)));
}

/* The node that frame `index` runs; NULL: none. */
static char *node_at(const struct vt_stack *stack, uint32_t index) {
    static const char space[] = "torch::autograd::", ending[] = "::apply";
    const struct vt_frame *frame = vt_stack_frame(stack, index);
    if (frame->python || !frame->function || strncmp(frame->function, space, sizeof space - 1) != 0)
        return NULL;
    char *name = vt_frame_text_function(frame);
    size_t length = strlen(name), end = sizeof ending - 1;
    if (length <= end || strcmp(name + length - end, ending) != 0) {
        free(name);
        return NULL;
    }
    name[length - end] = 0;
    char *node = strrchr(name, ':') ? vt_strdup(strrchr(name, ':') + 1) : vt_strdup(name);
    free(name);
    if (strcmp(node, "PyNode") != 0)
        return node;
    free(node);
    for (uint32_t i = index; i-- > 0;)
        if ((node = python_node(vt_stack_frame(stack, i))))
            return node;
    return vt_strdup("a Python function");
}

char *vt_stack_text_node(const struct vt_stack *stack) {
    char *node = NULL;
    for (uint32_t i = 0; stack && i < stack->count && !node && i <= vt_stack_main(stack); i++)
        node = node_at(stack, i);
    return node;
}

char *vt_stack_text(const struct vt_process *p, const struct vt_stack *stack, unsigned width,
                    bool source) {
    const struct vt_frame *main_frame = stack ? vt_stack_main_frame(stack) : NULL;
    VT_SCOPED char *node = vt_stack_text_node(stack);
    if (!node)
        return vt_frame_text(p, main_frame, width);
    VT_SCOPED_STRING text = {0};
    vt_string_format(&text, "in backward of %s", node);
    if (main_frame->user_code || main_frame->python) {
        struct vt_frame place = *main_frame;
        place.function = NULL;
        VT_SCOPED char *where = vt_frame_text(p, &place, UINT_MAX);
        VT_SCOPED char *line = source ? vt_frame_text_source(p, main_frame, 60) : NULL;
        vt_string_add(&text, ", from ");
        if (line)
            vt_string_format(&text, "`%s` at ", line);
        vt_string_add(&text, where);
    }
    return vt_frame_text_fit(text.text, width);
}

char *vt_site_text(const struct vt_process *p, const struct vt_site *site, unsigned width) {
    VT_SCOPED char *at = vt_stack_text(p, site->stack, UINT_MAX, false);
    VT_SCOPED char *caller = site->caller ? vt_frame_text(p, site->caller, UINT_MAX) : NULL;
    VT_SCOPED char *text =
        vt_formatted("%s%s%s", at, caller ? ", called by " : "", caller ? caller : "");
    return vt_frame_text_fit(text, width);
}
