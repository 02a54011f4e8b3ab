/* SPDX-License-Identifier: MIT */
/*
 * Lines on stderr: bad options, alarms, a log that cannot be written, the exit line. No allocation,
 * no stdio.
 */
#define _GNU_SOURCE
#include "say.h"
#include "preload.h"
#include "sys.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

static dev_t stderr_device;
static ino_t stderr_inode;
static bool stderr_known;

static void nothing(void) {}

/* The loader calls this as it relocates the library, before any constructor: that of another library may open a file, which
 * becomes descriptor 2 if the process was started without stderr. No sanitizer is ready at that time. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static void (*look(void))(void) {
    struct stat st;
    stderr_known = vt_sys_anyway(SYS_fstat, 2, (long)&st, 0, 0, 0, 0) == 0;
    stderr_device = st.st_dev;
    stderr_inode = st.st_ino;
    return nothing;
}

static void looked(void) __attribute__((ifunc("look")));

void vt_say_begin(void) {
    looked();
}

/* By the end, the program may have made descriptor 2 a socket or a data file. */
static bool stderr_is_the_same(void) {
    struct stat st;
    return stderr_known && VT_SYS2(SYS_fstat, 2, &st) == 0 && st.st_dev == stderr_device &&
           st.st_ino == stderr_inode;
}

void vt_say_to(int fd, const struct iovec *line, size_t parts) {
    uint64_t ours = 1ull << (13 /* SIGPIPE */ - 1) | 1ull << (25 /* SIGXFSZ */ - 1), pending = 0;
    uint64_t held = VT_SIGNALS_NOT_HELD;
    /* Only these: a pipe that is full makes us wait, and the user must be able to end that. */
    VT_SYS4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &ours, &held, sizeof ours);
    VT_SYS4(SYS_rt_sigpending, &pending, sizeof pending, 0, 0);
    ours &= ~pending;
    if (VT_SYS3(SYS_writev, fd, line, parts) < 0) {
        uint64_t no_wait[2] = {0, 0};
        VT_SYS4(SYS_rt_sigtimedwait, &ours, NULL, no_wait, sizeof ours);
    }
    vt_sys_let_signals(held);
}

void vt_say_path(const char *before, const char *path, const char *after) {
    const char *parts[] = {"vramtrace: ", before, path, after, "\n"};
    struct iovec line[sizeof parts / sizeof parts[0]];
    if (!stderr_is_the_same())
        return;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        line[i] = (struct iovec){.iov_base = (void *)(uintptr_t)parts[i],
                                 .iov_len = strnlen(parts[i], 8192)};
    vt_say_to(2, line, sizeof line / sizeof line[0]);
}

void vt_say(const char *text) {
    vt_say_path(text, "", "");
}
