/* SPDX-License-Identifier: MIT */
/*
 * The process's threads and their stack pointers, as /proc/self/task lists them. Reading other threads' registers needs
 * ptrace, which a process cannot use on itself; but a blocked thread's stack pointer is in its file `syscall`.
 */
#define _GNU_SOURCE
#include "memory.h"

#include <fcntl.h>
#include <string.h>

#define GONE ((uintptr_t)1)

/* A blocked thread's stack pointer: the second to last number in /proc/self/task/TID/syscall. 0: the thread is running.
 * GONE: no such thread. */
static uintptr_t stack_pointer(uint32_t tid, uintptr_t *where) {
    char path[64] = "/proc/self/task/", text[256];
    memcpy(vt_scan_write_number(path + strlen(path), tid), "/syscall", 9);
    size_t length = vt_scan_read_file(path, text, sizeof text);
    if (!length)
        return GONE;
    while (length && text[length - 1] == '\n')
        text[--length] = 0;
    char *pc = strrchr(text, ' ');
    if (!pc)
        return 0;
    *pc = 0;
    char *sp = strrchr(text, ' ');
    uintptr_t value;
    if (!sp || !vt_maps_begins(sp, " 0x"))
        return 0;
    vt_maps_hex(pc + 3, where);
    vt_maps_hex(sp + 3, &value);
    return value;
}

struct entry { /* linux_dirent64 */
    uint64_t inode, offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

bool vt_scan_next_entry(const char *block, long bytes, long *at, uint32_t *number) {
    const struct entry *e = (const void *)(block + *at);
    if (*at >= bytes)
        return false;
    *at += e->length;
    *number = 0;
    for (const char *c = e->name; *c >= '0' && *c <= '9'; c++)
        *number = *number * 10 + (uint32_t)(*c - '0');
    return true;
}

uint32_t vt_scan_own_tid(void) {
    char link[64];
    long n = VT_SYS4(SYS_readlinkat, AT_FDCWD, "/proc/thread-self", link, sizeof link - 1);
    link[n > 0 ? n : 0] = 0;
    const char *slash = strrchr(link, '/');
    uint64_t number = slash ? vt_scan_parse_number(slash + 1, 0) : 0;
    return (uint32_t)(number ? number : (uint64_t)VT_SYS0(SYS_gettid));
}

void vt_scan_find_threads(struct vt_scan *scan) {
    uint32_t self = vt_scan_own_tid(), tid;
    scan->renumbered = self != (uint32_t)VT_SYS0(SYS_gettid);
    char *block = vt_scan_allocate(scan, 32768);
    scan->threads = vt_scan_allocate(scan, VT_SCAN_THREADS * sizeof *scan->threads);
    scan->stacks_unknown = true;
    if (!block || !scan->threads)
        return;
    long fd = vt_descriptors_open("/proc/self/task", O_RDONLY | O_DIRECTORY, 0), got = 0;
    if (fd < 0)
        return;
    scan->stacks_unknown = false;
    unsigned tries = 20;
    uintptr_t pc = 0;
    bool hidden = stack_pointer(self, &pc) == GONE; /* these files cannot be read here */
    while ((got = VT_SYS3(SYS_getdents64, fd, block, 32768)) > 0)
        for (long at = 0; vt_scan_next_entry(block, got, &at, &tid);) {
            if (!tid)
                continue;
            if (scan->thread_count == VT_SCAN_THREADS) {
                scan->stacks_unknown = true;
                break;
            }
            uintptr_t sp = tid == self ? (uintptr_t)scan->frame : stack_pointer(tid, &pc);
            /* A thread that has just ended briefly looks as if it were running. */
            for (; !sp && tries; tries--) {
                static const long moment[2] = {0, 200000};
                VT_SYS2(SYS_nanosleep, moment, NULL);
                sp = stack_pointer(tid, &pc);
            }
            if (sp != GONE || hidden)
                scan->threads[scan->thread_count++] =
                    (struct vt_thread_seen){tid, sp == GONE ? 0 : sp, pc};
        }
    VT_SYS1(SYS_close, fd);
    scan->alone = scan->thread_count == 1 && !scan->stacks_unknown;
}
