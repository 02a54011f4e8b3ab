/* SPDX-License-Identifier: MIT */
/*
 * Opens files above descriptor 2 (see descriptors.h). The kernel gives the lowest free number, so we first fill the
 * free numbers from 0 to 2 with O_PATH descriptors, on which a read or write fails with EBADF, as on a closed one. If
 * we opened the file first and moved its descriptor up, another thread's output could go into the file in between. A
 * child must not inherit the fillers, since nothing would close them there: a fork waits (locks.h), and if it waited in
 * vain, the child closes them.
 *
 * Called by all code that opens files, by nvtx.c and stack.c, which load libraries, and by fork.c.
 */
#define _GNU_SOURCE
#include "descriptors.h"
#include "atomic.h"
#include "libc.h"
#include "locks.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define LEAST 3

static uint32_t filling[LEAST];       /* atomic: threads that fill it, or try to */
static __thread uint32_t mine[LEAST]; /* ... this thread's part */

/* Uses fstat, which the log needs anyway, because a seccomp filter may allow no other call. */
static unsigned closed_ones(void) {
    unsigned closed = 0;
    struct stat st;
    for (unsigned fd = 0; fd < LEAST; fd++)
        closed |= (unsigned)(VT_SYS2(SYS_fstat, fd, &st) == -EBADF) << fd;
    return closed;
}

static void count(unsigned fd, uint32_t by) {
    mine[fd] += by;
    vt_add(&filling[fd], by);
}

unsigned vt_descriptors_fill(void) {
    unsigned filled = 0, closed = closed_ones();
    if (!closed)
        return 0;
    vt_locks_enter();
    for (; closed; closed &= closed - 1) {
        unsigned lowest = (unsigned)__builtin_ctz(closed);
        count(lowest, 1);
        long fd = VT_SYS4(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC, 0);
        if (fd == lowest) {
            filled |= 1u << fd;
            continue;
        }
        count(lowest, -1u); /* another thread was faster */
        if (fd >= 0)
            VT_SYS1(SYS_close, fd);
    }
    if (!filled)
        vt_locks_leave();
    return filled;
}

/* The program may have put its own descriptor there meanwhile. */
static void close_filled(unsigned fd) {
    long flags = VT_SYS2(SYS_fcntl, fd, F_GETFL);
    if (flags >= 0 && flags & O_PATH)
        VT_SYS1(SYS_close, fd);
}

void vt_descriptors_clear(unsigned filled) {
    for (unsigned fd = 0; fd < LEAST; fd++)
        if (filled >> fd & 1) {
            close_filled(fd);
            count(fd, -1u);
        }
    if (filled)
        vt_locks_leave();
}

/* Each thread clears its own fillers. */
void vt_descriptors_forked(void) {
    for (unsigned fd = 0; fd < LEAST; fd++) {
        uint32_t others = vt_get(&filling[fd]) - mine[fd];
        if (others && !mine[fd])
            close_filled(fd);
        vt_put(&filling[fd], mine[fd]);
    }
}

long vt_descriptors_open(const char *path, int flags, unsigned mode) {
    /* Signals are held: a handler would see the fillers, and could jump out. */
    unsigned closed = closed_ones();
    uint64_t held = closed ? vt_sys_hold_signals() : 0;
    unsigned filled = closed ? vt_descriptors_fill() : 0;
    long fd = VT_SYS4(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
    vt_descriptors_clear(filled);
    /* Another thread's use of this number has just ended: it was our filler, or the program closed it. */
    if (fd >= 0 && fd < LEAST) {
        long high = VT_SYS3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, LEAST);
        VT_SYS1(SYS_close, fd);
        fd = high;
    }
    if (closed)
        vt_sys_let_signals(held);
    return fd;
}

void *vt_descriptors_dlopen(const char *path, int flags) {
    unsigned filled = vt_descriptors_fill();
    void *handle = vt_libc_dlopen(path, flags);
    vt_descriptors_clear(filled);
    return handle;
}
