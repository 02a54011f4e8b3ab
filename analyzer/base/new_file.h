/* SPDX-License-Identifier: MIT */
/*
 * Writes every file that a command creates. Until a file is complete it has no name, or a random one in the same
 * folder; then it replaces the file of its name. So no reader sees half a file, a failure leaves the old file, and
 * traps set by other users (a link, a pipe, a hard link to another file) are replaced or refused, never written to.
 */
#ifndef VRAMTRACE_ANALYZER_NEW_FILE_H
#define VRAMTRACE_ANALYZER_NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
    /* The user named it. Links of the user or of root are followed. The file keeps its mode and owner. A device, the
     * user's own pipe, /dev/stdout and >(...) are written to directly. */
    VT_NEW_FILE_GIVEN = 1,
    VT_NEW_FILE_SYNC = 2, /* syncs its bytes to the disk before naming it */
    VT_NEW_FILE_ONCE = 4, /* an existing file is not replaced: -EEXIST */
};

struct vt_new_file {
    FILE *out;       /* open for writing and reading */
    bool exists;     /* a file had this name */
    const char *why; /* why vt_new_file_open failed */
    /* private */
    unsigned how;
    bool direct;            /* written in place, or already named */
    int folder, at;         /* at: the previous file of this name, or -1 */
    char *name, *temporary; /* NULL: none, or none yet */
    struct stat found;      /* of `at` */
};

/* `mode`: for a new file, less the umask. Returns 0, or -errno. */
int vt_new_file_open(struct vt_new_file *file, const char *path, unsigned how, mode_t mode);

/* Names the file: `name`, in the same folder, or the name in the path if NULL. Returns 0, or -errno. */
int vt_new_file_finalize(struct vt_new_file *file, const char *name);

/* Finds the file at a path, following only links of this user and of root. Returns an O_PATH descriptor and fills
 * `st`. Else -errno; -EXDEV: another user's link, which `st` describes. */
int vt_new_file_find(const char *path, struct stat *st);

/* Closes it: names the file if `error` is 0, else (-errno) discards it. Returns 0, or -errno. */
int vt_new_file_close(struct vt_new_file *file, int error);

#endif
