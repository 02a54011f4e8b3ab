/* SPDX-License-Identifier: MIT */
/*
 * Suppressions: leaks that the gate ignores, by rules in the format of LeakSanitizer.
 *
 *     # cuFoo keeps its tables for good
 *     leak:libcufoo.so
 *     leak:^init_*_tables$
 *
 * A pattern matches anywhere in the function, the file or the module of any frame, native or Python; '^' and '$' anchor
 * it, '*' matches anything. Used by the gate, and by analysis/, which recognizes memory of CUDA libraries by the
 * built-in list.
 */
#ifndef VRAMTRACE_ANALYZER_SUPPRESS_H
#define VRAMTRACE_ANALYZER_SUPPRESS_H

#include "model.h"

struct vt_suppression {
    char *pattern; /* as the user wrote it */
    char *glob;    /* with '*' at each unanchored end */
    char *file;    /* NULL: built in */
    uint32_t line;
    uint64_t sites; /* number of suppressed sites, counted by gate.c */
};

/* Initialize as {0}; free with vt_suppress_free. */
struct vt_suppressions {
    struct vt_suppression *rules;
    uint32_t count, room;
};

/* The built-in list, in the syntax of a file. */
extern const char vt_suppress_builtin[];

/* Adds the rules of a file. Returns 0, or -errno with a `message` that names the file and the line, if it cannot be
 * read, is empty, or has a line that is not a rule or would suppress everything. */
int vt_suppress_read(struct vt_suppressions *list, const char *path, struct vt_string *message);

/* Adds the built-in list. Call it after the user's files, whose rules come first. */
void vt_suppress_add_builtin(struct vt_suppressions *list);

/* The index of the first rule that matches the stack of a site with that verdict, or -1. Built-in rules do not match
 * growing sites: a handle that a loop creates repeatedly is the program's leak. */
int64_t vt_suppress_find(const struct vt_suppressions *list, const struct vt_stack *stack,
                         enum vt_verdict verdict);

void vt_suppress_free(struct vt_suppressions *list);

#endif
