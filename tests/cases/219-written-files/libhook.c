/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into vramtrace, it does at one moment what another process could do at that moment.
 *   HOOK=swap   before the file "leaf" is removed: the folder that the file HOOK_FILE names is moved away, and a link to
 *               HOOK_VICTIM is put in its place
 *   HOOK=pipe   after look HOOK_AT at the file "swapped.vtl" a pipe takes its place; what is opened there and is
 *               no regular file, is noted by the file HOOK_FILE
 *   HOOK=kill   SIGKILL when a file's bytes are to go to the disk
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is(const char *what) {
    const char *hook = getenv("HOOK");
    return hook && !strcmp(hook, what) && !strcmp(program_invocation_short_name, "vramtrace");
}

static void before(const char *path) {
    static int done;
    char folder[4096] = "", away[4200];
    const char *slash = strrchr(path, '/');
    if (done || strcmp(slash ? slash + 1 : path, "leaf") || !is("swap"))
        return;
    FILE *file = fopen(getenv("HOOK_FILE"), "re");
    if (!file || !fgets(folder, sizeof folder, file))
        abort();
    fclose(file);
    folder[strcspn(folder, "\n")] = 0;
    snprintf(away, sizeof away, "%s.away", folder);
    done = 1;
    if (rename(folder, away) || symlink(getenv("HOOK_VICTIM"), folder))
        abort();
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int remove(const char *path) {
    before(path);
    return REAL(remove)(path);
}

int unlink(const char *path) {
    before(path);
    return REAL(unlink)(path);
}

int unlinkat(int folder, const char *path, int flags) {
    before(path);
    return REAL(unlinkat)(folder, path, flags);
}

static void looked_at(const char *path) {
    static int looks;
    const char *slash = strrchr(path, '/');
    if (strcmp(slash ? slash + 1 : path, "swapped.vtl") || !is("pipe") ||
        ++looks != atoi(getenv("HOOK_AT")))
        return;
    if (rename(path, "swapped.away") || mkfifo(path, 0666))
        abort();
}

int lstat(const char *path, struct stat *st) {
    int error = REAL(lstat)(path, st);
    looked_at(path);
    return error;
}

int stat(const char *path, struct stat *st) {
    int error = REAL(stat)(path, st);
    looked_at(path);
    return error;
}

int open(const char *path, int flags, ...) {
    struct stat st;
    va_list list;
    va_start(list, flags);
    int fd = REAL(open)(path, flags, va_arg(list, mode_t));
    va_end(list);
    if (flags & O_PATH)
        looked_at(path);
    else if (fd >= 0 && is("pipe") && !fstat(fd, &st) && S_ISFIFO(st.st_mode))
        close(creat(getenv("HOOK_FILE"), 0600));
    return fd;
}

int fsync(int fd) {
    if (is("kill"))
        raise(SIGKILL);
    return REAL(fsync)(fd);
}

int fdatasync(int fd) {
    if (is("kill"))
        raise(SIGKILL);
    return REAL(fdatasync)(fd);
}
