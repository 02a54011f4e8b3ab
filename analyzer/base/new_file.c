/* SPDX-License-Identifier: MIT */
/*
 * Files that appear whole or not at all (see new_file.h).
 */
#define _GNU_SOURCE
#include "new_file.h"

#include "exit_status.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "logs/.x.jsonl.gz.a1b2c3" beside "logs/x.jsonl.gz": the dot, so that nobody takes it for an input. */
int vt_new_file_open(struct vt_new_file *f, mode_t mode) {
    const char *name = vt_basename(f->path);
    mode_t mask = umask(0);
    umask(mask);
    f->written = vt_formatted("%.*s.%s.XXXXXX", (int)(name - f->path), f->path, name);
    int fd = mkostemp(f->written, O_CLOEXEC);
    if (fd >= 0 && !fchmod(fd, mode & ~mask) && (f->out = fdopen(fd, "w")))
        return 0;
    int error = errno;
    vt_error("%s: %s", fd < 0 ? f->path : f->written, strerror(error));
    if (fd >= 0) {
        unlink(f->written);
        close(fd);
    }
    return VT_STATUS_USAGE;
}

/* Gives the file a name that is free. Returns 0 or an errno: EEXIST where it is not. */
static int take_name(struct vt_new_file *f, const char *path) {
    int error = link(f->written, path) ? errno : 0;
    if (!error) {
        unlink(f->written);
        return 0;
    }
    /* without hard links somebody may take the name between these two calls */
    if (error == EEXIST || !access(path, F_OK))
        return EEXIST;
    return rename(f->written, path) ? errno : 0;
}

static int take_free_name(struct vt_new_file *f, const char *suffix) {
    char *first = f->path;
    int stem = (int)(strlen(first) - strlen(suffix)), error = EEXIST;
    for (unsigned i = 1; error == EEXIST; i++) {
        char *name = i == 1 ? vt_strdup(first) : vt_formatted("%.*s.%u%s", stem, first, i, suffix);
        error = take_name(f, name);
        if (error == EEXIST)
            free(name);
        else
            f->path = name;
    }
    free(first);
    return error;
}

int vt_new_file_close(struct vt_new_file *f, int error, enum vt_new_name name, const char *suffix,
                      uint64_t *bytes) {
    struct stat st = {0};
    if (!error && (fflush(f->out) || ferror(f->out)))
        error = errno ? -errno : -EIO;
    /* what a crash of the machine leaves under the name is whole, too */
    if (!error && f->written && fsync(fileno(f->out)))
        error = -errno;
    fstat(fileno(f->out), &st);
    *bytes = (uint64_t)st.st_size;
    if (f->out != stdout && fclose(f->out) && !error)
        error = -errno;
    if (!error && f->written && name == VT_NEW_REPLACES)
        error = rename(f->written, f->path) ? -errno : 0;
    else if (!error && f->written)
        error = name == VT_NEW_ALONE ? -take_name(f, f->path) : -take_free_name(f, suffix);
    if (error && f->written)
        unlink(f->written);
    if (!error || error == -EPIPE)
        return VT_STATUS_OK;
    vt_error("%s: %s", f->path ? f->path : "standard output", strerror(-error));
    return VT_STATUS_INTERNAL;
}
