/* SPDX-License-Identifier: MIT */
/*
 * Every file that a command writes. It has no name, or a random one in the same folder, until it is whole; then it
 * takes its name, in place of the file that had it. So no reader sees half of one, a failure leaves the old file, and
 * what others put in the way, a link, a pipe, a second name of another file, is replaced or refused, never written to.
 */
#ifndef VRAMTRACE_ANALYZER_NEW_FILE_H
#define VRAMTRACE_ANALYZER_NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
    /* The user named it. A link of the user's own, or of root's, leads to the file that is written. That keeps its mode
     * and owner. What is no regular file is written to as it is: a device, the user's own pipe, /dev/stdout, >(...). */
    VT_NEW_FILE_GIVEN = 1,
    VT_NEW_FILE_SYNC = 2, /* its bytes are on the disk before it takes its name */
    VT_NEW_FILE_ONCE = 4, /* nothing is replaced: it gets no name that is taken, -EEXIST */
};

struct vt_new_file {
    FILE *out;       /* what is written to; it can also be read */
    bool exists;     /* a file had this name */
    const char *why; /* a failure of vt_new_file_open */
    /* its own */
    unsigned how;
    bool direct;            /* it is written where it is, or has its name already */
    int folder, at;         /* at: what had the name, -1 for nothing */
    char *name, *temporary; /* NULL: none, or none yet */
    struct stat found;      /* of `at` */
};

/* `mode`: of a new file, less the umask. Returns 0, or -errno. */
int vt_new_file_open(struct vt_new_file *file, const char *path, unsigned how, mode_t mode);

/* Gives it its name. `name`: another one in the same folder; NULL: its own. Returns 0, or -errno. */
int vt_new_file_settle(struct vt_new_file *file, const char *name);

/* What a path leads to, by links of this user or of root alone: a descriptor of O_PATH, and `st`. Else -errno; -EXDEV: by a link of
 * another user, which is `st`. */
int vt_new_file_find(const char *path, struct stat *st);

/* Ends it: under its name if there is no `error` (-errno) so far, else it is gone. Returns 0, or -errno. */
int vt_new_file_close(struct vt_new_file *file, int error);

#endif
