/* SPDX-License-Identifier: MIT */
/*
 * Files for the fuzz targets (see files.h).
 */
#define _GNU_SOURCE
#include "files.h"

#include "base/new_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 8

static struct file {
    const char *name;
    int fd;
    bool exists;
} files[FILES];

static FILE *sink;

/* Freed memory is kept back for a while to find uses of it. 256 MiB, the default, would not fit a
 * machine that runs several targets. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "quarantine_size_mb=16:detect_stack_use_after_return=0";
}

static _Noreturn void give_up(const char *what) {
    perror(what);
    abort();
}

static struct file *find(const char *name) {
    for (size_t i = 0; i < FILES && files[i].name; i++)
        if (!strcmp(files[i].name, name))
            return &files[i];
    return NULL;
}

int vt_fuzz_file(const char *name) {
    struct file *file = find(name);
    for (size_t i = 0; i < FILES && !file; i++)
        if (!files[i].name) {
            file = &files[i];
            *file = (struct file){.name = name, .fd = memfd_create(name, MFD_CLOEXEC)};
        }
    if (!file || file->fd < 0 || ftruncate(file->fd, 0))
        give_up(name);
    file->exists = true;
    return file->fd;
}

void vt_fuzz_file_write(const char *name, const void *bytes, size_t size) {
    if (pwrite(vt_fuzz_file(name), bytes, size, 0) != (ssize_t)size)
        give_up(name);
}

void vt_fuzz_file_remove(const char *name) {
    struct file *file = find(name);
    if (file)
        file->exists = false;
}

FILE *vt_fuzz_sink(void) {
    static char buffer[1 << 16];
    if (!sink) {
        sink = fopen("/dev/null", "we");
        if (!sink || setvbuf(sink, buffer, _IOFBF, sizeof buffer))
            give_up("/dev/null");
    }
    return sink;
}

/* --- what the product calls --- */

int vt_fuzz_open(const char *path, int flags, ...);
FILE *vt_fuzz_fopen(const char *path, const char *mode);
int vt_fuzz_stat(const char *path, struct stat *st);
int vt_fuzz_lstat(const char *path, struct stat *st);
int vt_fuzz_access(const char *path, int mode);
DIR *vt_fuzz_opendir(const char *path);
int vt_fuzz_mkostemp(char *path, int flags);

static int missing(void) {
    errno = ENOENT;
    return -1;
}

/* Opens one of our files again, with its own position. */
static int open_ours(const char *path) {
    char link[64];
    const struct file *file = find(path);
    if (!file || !file->exists)
        return missing();
    snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
    return open(link, O_RDONLY | O_CLOEXEC);
}

int vt_fuzz_open(const char *path, int flags, ...) {
    if (!strncmp(path, "/proc/self/fd/", 14)) /* one that was found, as vt_file_open_as opens it */
        return open(path, flags);
    return open_ours(path);
}

FILE *vt_fuzz_fopen(const char *path, const char *mode) {
    (void)mode;
    int fd = open_ours(path);
    return fd < 0 ? NULL : fdopen(fd, "r");
}

int vt_fuzz_stat(const char *path, struct stat *st) {
    const struct file *file = find(path);
    if (file && file->exists)
        return fstat(file->fd, st);
    missing();
    for (size_t i = 0; i < FILES && files[i].name; i++) { /* behind a file */
        size_t length = strlen(files[i].name);
        if (files[i].exists && !strncmp(path, files[i].name, length) && path[length] == '/')
            errno = ENOTDIR;
    }
    return -1;
}

int vt_fuzz_lstat(const char *path, struct stat *st) {
    return vt_fuzz_stat(path, st);
}

int vt_fuzz_access(const char *path, int mode) {
    const struct file *file = find(path);
    (void)mode;
    return file && file->exists ? 0 : missing();
}

DIR *vt_fuzz_opendir(const char *path) {
    (void)path;
    missing();
    return NULL;
}

/* Unpacked files stay in memory. */
int vt_fuzz_mkostemp(char *path, int flags) {
    (void)path;
    (void)flags;
    return missing();
}

/* In place of the analyzer's (fuzz.mk), which goes from folder to folder: what root opens. */
int vt_new_file_find(const char *path, struct stat *st) {
    int fd = open_ours(path);
    return fd < 0 || fstat(fd, st) ? -errno : fd;
}

/* In place of the analyzer's (fuzz.mk): into a file of ours that there is, else nowhere. */
int vt_new_file_open(struct vt_new_file *file, const char *path, unsigned how, mode_t mode) {
    char link[64] = "/dev/null";
    const struct file *ours = find(path);
    (void)mode;
    *file = (struct vt_new_file){.how = how, .direct = true, .folder = -1, .at = -1};
    if (ours && ours->exists)
        snprintf(link, sizeof link, "/proc/self/fd/%d", ours->fd);
    file->out = fopen(link, "we");
    if (!file->out)
        give_up(path);
    return 0;
}
