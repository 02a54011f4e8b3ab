/* SPDX-License-Identifier: MIT */
/*
 * Suppressions: leaks that the gate lets pass because somebody said so, in LeakSanitizer's lines.
 *
 *     # cuFoo keeps its tables for good
 *     leak:libcufoo.so
 *     leak:^init_*_tables$
 *
 * A pattern is looked for in the function, the file and the module of every frame of a stack,
 * native or Python: anywhere in them, '^' and '$' anchor it, '*' stands for anything. For
 * cmd_check.c, gate.c.
 */
#ifndef VRAMTRACE_ANALYZER_SUPPRESS_H
#define VRAMTRACE_ANALYZER_SUPPRESS_H

#include "model/model.h"

struct vt_suppression {
    char *pattern; /* as it was written */
    char *glob;    /* as it is matched: '*' in front and behind where there is no anchor */
    char *file;    /* NULL: built in */
    uint32_t line;
    uint64_t sites, bytes; /* what it suppressed: gate.c counts */
};

/* Start it as {0}; free with vt_suppress_free. */
struct vt_suppressions {
    struct vt_suppression *rules;
    uint32_t count, room;
};

/* The built-in list, in the syntax of a file. */
extern const char vt_suppress_builtin[];

/* Adds the rules of a file. 0, or -errno and a message with file and line: it cannot be read, is
 * empty, has a line that is none, or one that would suppress everything. */
int vt_suppress_read(struct vt_suppressions *list, const char *path, struct vt_string *message);

/* Adds the built-in list: to be called after the user's files, whose rules win. */
void vt_suppress_add_builtin(struct vt_suppressions *list);

/* The index of the first rule that matches the stack, or -1. */
int64_t vt_suppress_find(const struct vt_suppressions *list, const struct vt_stack *stack);

void vt_suppress_free(struct vt_suppressions *list);

#endif
