/* SPDX-License-Identifier: MIT */
/*
 * Phase names that a report shows as one (see model.h).
 */
#include "model.h"

#include <ctype.h>
#include <string.h>

/* The suffix that emit_nvtx() adds to an operator's name. */
size_t vt_phase_operator_length(const char *name) {
    static const char *const added[] = {
        ", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids = "};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        const char *at = strstr(name, added[i]);
        if (at && (size_t)(at - name) < length)
            length = (size_t)(at - name);
    }
    return length;
}

/* The name with '*' for each number: "epoch *", "layer*", but "conv2d". Free it. */
char *vt_phase_group_name(const char *name) {
    struct vt_string s = {0};
    size_t length = vt_phase_operator_length(name);
    for (size_t i = 0; i < length;) {
        size_t end = i;
        while (end < length && isdigit((unsigned char)name[end]))
            end++;
        bool number =
            end > i && (end == length || (!isalpha((unsigned char)name[end]) && name[end] != '_'));
        if (number)
            vt_string_add(&s, "*");
        else
            end = end > i ? end : i + 1;
        if (!number)
            vt_string_add_bytes(&s, name + i, end - i);
        i = end;
    }
    return s.text ? s.text : vt_strdup("");
}
