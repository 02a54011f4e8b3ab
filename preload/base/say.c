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

void vt_say_begin(void) {
    struct stat st;
    stderr_known = VT_SYS2(SYS_fstat, 2, &st) == 0;
    stderr_device = st.st_dev;
    stderr_inode = st.st_ino;
}

/* By the end, the program may have made descriptor 2 a socket or a data file. */
static bool stderr_is_the_same(void) {
    struct stat st;
    return stderr_known && VT_SYS2(SYS_fstat, 2, &st) == 0 && st.st_dev == stderr_device &&
           st.st_ino == stderr_inode;
}

void vt_say_path(const char *before, const char *path, const char *after) {
    const char *parts[] = {"vramtrace: ", before, path, after, "\n"};
    struct iovec line[sizeof parts / sizeof parts[0]];
    if (!stderr_is_the_same())
        return;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        line[i] = (struct iovec){.iov_base = (void *)(uintptr_t)parts[i],
                                 .iov_len = strnlen(parts[i], 8192)};
    /* A closed pipe must not kill the program: SIGPIPE (13) is blocked, and ours is discarded. */
    uint64_t pipe_signal = 1ull << 12, mask = 0, pending = 0;
    VT_SYS4(SYS_rt_sigpending, &pending, sizeof pending, 0, 0);
    VT_SYS4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &pipe_signal, &mask, sizeof mask);
    long written = VT_SYS3(SYS_writev, 2, line, sizeof line / sizeof line[0]);
    if (written < 0 && !(pending & pipe_signal)) {
        uint64_t no_wait[2] = {0, 0};
        VT_SYS4(SYS_rt_sigtimedwait, &pipe_signal, NULL, no_wait, sizeof pipe_signal);
    }
    VT_SYS4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &mask, NULL, sizeof mask);
}

void vt_say(const char *text) {
    vt_say_path(text, "", "");
}
