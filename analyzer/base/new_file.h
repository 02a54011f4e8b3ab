/* SPDX-License-Identifier: MIT */
/*
 * A file that appears whole or not at all: it is written under another name first. For the commands that make a
 * file which others read: merge, pack.
 */
#ifndef VRAMTRACE_ANALYZER_NEW_FILE_H
#define VRAMTRACE_ANALYZER_NEW_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Start it as {.path, .out = stdout}; free `path` and `written`. */
struct vt_new_file {
    char *path;    /* what it will be called; NULL: it is standard output */
    char *written; /* what it is called now; NULL: the same */
    FILE *out;
};

/* Opens it beside its place. `mode` is what others may do, less the umask. Returns 0, or an exit status after it
 * printed an error. */
int vt_new_file_open(struct vt_new_file *file, mode_t mode);

/* What becomes of a file that has the name. */
enum vt_new_name {
    VT_NEW_REPLACES,
    VT_NEW_ALONE,    /* it stays, and that is an error */
    VT_NEW_NUMBERED, /* it stays: x.vtz, x.2.vtz ... */
};

/* Ends it: under its name if there was no error, else it is gone. `error`: of what wrote to it, as -errno; -EPIPE is
 * not told. `suffix`: what the number stands before. Returns an exit status. */
int vt_new_file_close(struct vt_new_file *file, int error, enum vt_new_name name,
                      const char *suffix, uint64_t *bytes);

#endif
