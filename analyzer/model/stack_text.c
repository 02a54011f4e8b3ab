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

/* "train.py:24"; a cut file name is useless, so its last part is always complete. */
static char *place_text(const struct vt_process *p, const struct vt_frame *frame, unsigned width) {
    struct vt_frame place = *frame;
    place.function = NULL;
    char *text = vt_frame_text(p, &place, width);
    size_t length = strlen(text);
    if (length && (length < 3 || strcmp(text + length - 3, "...") != 0))
        return text;
    free(text);
    return NULL;
}

char *vt_stack_text(const struct vt_process *p, const struct vt_stack *stack, unsigned width,
                    bool source) {
    static const char before[] = "in backward of ", between[] = ", from ";
    const struct vt_frame *main_frame = stack ? vt_stack_main_frame(stack) : NULL;
    char *node = vt_stack_text_node(stack);
    if (!node)
        return vt_frame_text(p, main_frame, width);
    struct vt_string text = {0};
    if (!main_frame->user_code && !main_frame->python) {
        vt_string_format(&text, "%s%s", before, node);
        free(node);
        return text.text;
    }
    VT_SCOPED char *line = source ? vt_frame_text_source(p, main_frame, 60) : NULL;
    char *where = place_text(p, main_frame, UINT_MAX);
    unsigned short_columns = (unsigned)sizeof between - 1 + vt_frame_text_columns(node);
    unsigned columns = short_columns + (unsigned)sizeof before - 1;
    unsigned rest = width > columns ? width - columns : 0;
    if (line && where &&
        vt_frame_text_columns(line) + vt_frame_text_columns(where) + strlen("`` at ") <= rest) {
        vt_string_format(&text, "%s%s%s`%s` at %s", before, node, between, line, where);
    } else {
        free(where);
        where = place_text(p, main_frame, rest);
        vt_string_format(&text, "%s%s", where ? before : "", node);
        if (!where) /* the node's name is sufficient */
            where = place_text(p, main_frame, width > short_columns ? width - short_columns : 0);
        if (where)
            vt_string_format(&text, "%s%s", between, where);
    }
    free(where);
    free(node);
    return text.text;
}

char *vt_site_text(const struct vt_process *p, const struct vt_site *site, unsigned width) {
    static const char between[] = ", called by ";
    if (!site->caller)
        return vt_stack_text(p, site->stack, width, false);
    unsigned half = width / 2, rest = width - half;
    VT_SCOPED char *caller =
        vt_frame_text(p, site->caller, rest > sizeof between ? rest - (sizeof between - 1) : 1);
    VT_SCOPED char *at = vt_stack_text(p, site->stack, half, false);
    char *text = vt_formatted("%s%s%s", at, between, caller);
    return text;
}
