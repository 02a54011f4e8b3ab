/* SPDX-License-Identifier: MIT */
/*
 * Decides which stacks append (see appends.h). analysis/growth.c asks for each site that recreates a buffer.
 *
 * The relevant frames are those from the allocation to the innermost frame of user code, inclusive, and library code
 * that called it: a vector calls the program's allocator. Frames further out prove nothing.
 */
#include "appends.h"

#include <fnmatch.h>
#include <string.h>

static const struct {
    const char *pattern;
    const char *name; /* NULL: an exception */
} rows[] = {
#define VT_APPEND(pattern, name) {pattern, name},
#define VT_APPEND_NOT(pattern)   {pattern, NULL},
#include "appends.def"
};

/* A function's name without return type, template arguments, parameters and anonymous namespaces; a very long name
 * is cut. */
static void bare_name(const char *function, char *name, size_t room) {
    static const char anonymous[] = "(anonymous namespace)::";
    size_t length = 0;
    unsigned depth = 0;
    for (const char *at = function; *at && length < room - 1; at++) {
        if (!strncmp(at, anonymous, sizeof anonymous - 1)) {
            at += sizeof anonymous - 2;
            continue;
        }
        if (*at == '(' && !depth && length)
            break;
        if (strchr("<({[", *at))
            depth++;
        else if (strchr(">)}]", *at))
            depth -= depth > 0;
        else if (*at == ' ' && !depth)
            length = 0; /* this was the return type */
        else if (!depth)
            name[length++] = *at;
    }
    name[length] = 0;
}

static const char *last_part(const char *name) {
    for (const char *at = name; *at; at++)
        if ((at[0] == ':' && at[1] == ':') || (at[0] == '.' && at[1]))
            name = at + 1 + (at[0] == ':');
    return name;
}

/* The row that this function matches; -1: none. */
static int row_of(const char *function) {
    char name[512];
    int found = -1;
    bare_name(function, name, sizeof name);
    const char *last = last_part(name);
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows) && found < 0; i++)
        if (!fnmatch(rows[i].pattern, strstr(rows[i].pattern, "::") ? name : last, 0))
            found = i;
    return found;
}

const char *vt_appends_name(const struct vt_stack *stack) {
    const char *name = NULL;
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct vt_frame *frame = vt_stack_frame(stack, i);
        if (i > stack->user_frame && frame->user_code)
            break;
        int row = frame->function && !frame->interpreter ? row_of(frame->function) : -1;
        if (row >= 0)
            name = rows[row].name;
    }
    return name;
}
