/* SPDX-License-Identifier: MIT */
/*
 * Lines on stderr: bad options, alarms, a log that cannot be written, the exit line. No allocation,
 * no stdio.
 */
#define _GNU_SOURCE
#include "message.h"
#include "preload.h"
#include "sys.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define PIECES 32u /* per line; few, because the stack may be small */

static dev_t stderr_device;
static ino_t stderr_inode;
static bool stderr_known;

static void nothing(void) {}

/* The loader calls this while it relocates the library, before any constructor: another library's constructor may open
 * a file, which becomes descriptor 2 if the process was started without stderr. No sanitizer is ready at that time. */
__attribute__((used,
               no_sanitize("address", "thread", "undefined"))) static void (*look(void))(void) {
    struct stat st;
    stderr_known = vt_sys_anyway(SYS_fstat, 2, (long)&st, 0, 0, 0, 0) == 0;
    stderr_device = st.st_dev;
    stderr_inode = st.st_ino;
    return nothing;
}

static void looked(void) __attribute__((ifunc("look")));

void vt_message_begin(void) {
    looked();
}

/* By now, descriptor 2 may be the program's socket or data file. */
static bool stderr_is_the_same(void) {
    struct stat st;
    return stderr_known && VT_SYS2(SYS_fstat, 2, &st) == 0 && st.st_dev == stderr_device &&
           st.st_ino == stderr_inode;
}

void vt_message_to(int fd, const struct iovec *line, size_t parts) {
    uint64_t ours = 1ull << (13 /* SIGPIPE */ - 1) | 1ull << (25 /* SIGXFSZ */ - 1), pending = 0;
    uint64_t held = VT_SIGNALS_NOT_HELD;
    /* Only these two: a write to a full pipe waits, and the user must be able to interrupt it. */
    VT_SYS4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &ours, &held, sizeof ours);
    VT_SYS4(SYS_rt_sigpending, &pending, sizeof pending, 0, 0);
    ours &= ~pending;
    if (VT_SYS3(SYS_writev, fd, line, parts) < 0) {
        uint64_t no_wait[2] = {0, 0};
        VT_SYS4(SYS_rt_sigtimedwait, &ours, NULL, no_wait, sizeof ours);
    }
    vt_sys_let_signals(held);
}

/* Characters that may not be shown become '?': the program's names and values may contain anything. */
void vt_message_path(const char *before, const char *path, const char *after) {
    const char *const texts[] = {"vramtrace: ", before, path, after};
    struct iovec line[PIECES + 1];
    size_t n = 0;
    if (!stderr_is_the_same())
        return;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (size_t left = strnlen(texts[i], 8192), at = 0, bytes; at < left; at += bytes) {
            const char *text = texts[i] + at;
            size_t shown = vt_text_shown(text, left - at);
            bytes = shown ? shown : vt_text_utf8(text, left - at);
            bytes += !bytes;
            if (shown && n && (const char *)line[n - 1].iov_base + line[n - 1].iov_len == text) {
                line[n - 1].iov_len += shown;
                continue;
            }
            if (n == PIECES) { /* too many replacements: the line is written in several parts */
                vt_message_to(2, line, n);
                n = 0;
            }
            line[n++] = (struct iovec){(void *)(uintptr_t)(shown ? text : "?"), shown ? shown : 1};
        }
    line[n++] = (struct iovec){(void *)(uintptr_t) "\n", 1};
    vt_message_to(2, line, n);
}

void vt_message(const char *text) {
    vt_message_path(text, "", "");
}
