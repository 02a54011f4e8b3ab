/* SPDX-License-Identifier: MIT */
/*
 * Reads our own process's memory, which may be unmapped meanwhile.
 *
 * Other threads continue during the scan and may unmap anything. So memory is copied by
 * process_vm_readv, which fails where a load would fault. What that call refuses (a driver's pinned
 * pages, or everything under some seccomp filters) is written to a memory file and read from there:
 * a write accepts any page that a load can read. With only one thread and signals blocked, nothing
 * can be unmapped, so private memory is read in place.
 *
 * The scan's own memory and its time limit are here too, because every part needs them. Called by
 * the other scan files.
 */
#define _GNU_SOURCE
#include "scan_parts.h"
#include "base/base.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <x86intrin.h>

#define PAGE        4096u
#define GATHER_MOST 512u
#define WINDOW      (2u << 20)

void *vt_scan_memory(size_t bytes) {
    return vt_sys_mmap((bytes + PAGE - 1) & ~(size_t)(PAGE - 1), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void *vt_scan_take(struct vt_scan *scan, size_t bytes) {
    void *p = vt_scan_memory(bytes);
    if (!p && !scan->stop)
        scan->stop = VT_SCAN_NO_MEMORY;
    return p;
}

bool vt_scan_goes_on(struct vt_scan *scan) {
    uint64_t ticks = __rdtsc();
    /* The clock costs a system call, so it is read only about every half millisecond. */
    if (scan->stop || ticks - scan->asked_ticks < 1u << 20)
        return !scan->stop;
    scan->asked_ticks = ticks;
    if (vt_sys_clock_ns(CLOCK_MONOTONIC) > scan->deadline_ns)
        scan->stop = "it took too long";
    return !scan->stop;
}

bool vt_scan_read_open(struct vt_scan *scan) {
    scan->pid = (uint32_t)VT_SYS0(SYS_getpid);
    scan->memfd = -1;
    scan->pagemap =
        (int)VT_SYS4(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    scan->buffer = vt_scan_take(scan, VT_SCAN_BUFFER);
    scan->peeked = vt_scan_take(scan, VT_SCAN_BUFFER);
    scan->page_entries = vt_scan_take(scan, WINDOW / PAGE * sizeof *scan->page_entries);
    return !scan->stop;
}

void vt_scan_read_close(struct vt_scan *scan) {
    if (scan->pagemap >= 0)
        VT_SYS1(SYS_close, scan->pagemap);
    if (scan->memfd >= 0)
        VT_SYS1(SYS_close, scan->memfd);
}

/* Copies the ranges. Returns how many bytes were copied, from the first on. */
static size_t copy(struct vt_scan *scan, void *to, const struct vt_range *ranges, uint32_t count) {
    static struct iovec remote[GATHER_MOST]; /* one scan per process; the stack may be small */
    struct iovec local;
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        remote[i].iov_base = (void *)ranges[i].start;
        remote[i].iov_len = ranges[i].end - ranges[i].start;
        bytes += remote[i].iov_len;
    }
    local = (struct iovec){to, bytes};
    if (scan->no_readv)
        return 0;
    long n = VT_SYS6(SYS_process_vm_readv, scan->pid, &local, 1, remote, count, 0);
    if (n == -14 /* EFAULT */)
        return 0;
    if (n < 0)
        scan->no_readv = true;
    return n < 0 ? 0 : (size_t)n;
}

/* Copies at most VT_SCAN_BUFFER bytes through a memory file. */
static bool copy_by_file(struct vt_scan *scan, void *to, uintptr_t from, size_t bytes) {
    if (scan->memfd == -1) {
        scan->memfd = (int)VT_SYS2(SYS_memfd_create, "vramtrace-scan", 1 /* MFD_CLOEXEC */);
        if (scan->memfd < 0)
            scan->memfd = -2; /* do not try again */
    }
    return scan->memfd >= 0 && VT_SYS4(SYS_pwrite64, scan->memfd, from, bytes, 0) == (long)bytes &&
           VT_SYS4(SYS_pread64, scan->memfd, to, bytes, 0) == (long)bytes;
}

bool vt_scan_in_place(struct vt_scan *scan, uintptr_t address) {
    uint8_t byte;
    return scan->alone && scan->pagemap >= 0 && copy_by_file(scan, &byte, address, 1);
}

bool vt_scan_read(struct vt_scan *scan, void *to, uintptr_t from, size_t bytes) {
    struct vt_range r = {from, from + bytes};
    if (copy(scan, to, &r, 1) == bytes)
        return true;
    return bytes <= VT_SCAN_BUFFER && copy_by_file(scan, to, from, bytes);
}

uint64_t vt_scan_peek(struct vt_scan *scan, uintptr_t from) {
    uint64_t word;
    if (from >= scan->in_place.start && from + sizeof word <= scan->in_place.end)
        return *(const uint64_t *)from;
    if (from < scan->peeked_at || from + sizeof word > scan->peeked_end) {
        /* As much as can be read, at least a page. */
        uintptr_t start = from & ~(uintptr_t)(PAGE - 1);
        struct vt_range r = {start, start + VT_SCAN_BUFFER};
        scan->peeked_at = scan->peeked_end = start;
        size_t n = copy(scan, scan->peeked, &r, 1) & ~(size_t)(PAGE - 1);
        if (!n && copy_by_file(scan, scan->peeked, start, PAGE))
            n = PAGE;
        scan->peeked_end = start + n;
        if (from + sizeof word > scan->peeked_end)
            return 0;
    }
    memcpy(&word, scan->peeked + (from - scan->peeked_at), sizeof word);
    return word;
}

uint32_t vt_scan_gather(struct vt_scan *scan, const struct vt_range *ranges, uint32_t count) {
    if (count > GATHER_MOST)
        count = GATHER_MOST;
    size_t have = copy(scan, scan->buffer, ranges, count), bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t want = ranges[i].end - ranges[i].start;
        if (bytes + want > have) {
            if (i > 0)
                return i;
            return copy_by_file(scan, scan->buffer, ranges[0].start, want) ? 1 : 0;
        }
        bytes += want;
    }
    return count;
}

bool vt_scan_resident(struct vt_scan *scan, uintptr_t from, uintptr_t until, struct vt_range *run) {
    uintptr_t first = from / PAGE, last = (until + PAGE - 1) / PAGE;
    size_t pages = last - first;
    *run = (struct vt_range){from, until};
    if (pages > WINDOW / PAGE || scan->pagemap < 0)
        return from < until;
    if (VT_SYS4(SYS_pread64, scan->pagemap, scan->page_entries, pages * 8, first * 8) !=
        (long)(pages * 8))
        return from < until; /* unknown: read it */
    size_t i = 0, held = 3;  /* present, or in swap: the two highest bits */
    while (i < pages && !(scan->page_entries[i] >> 62 & held))
        i++;
    if (i == pages)
        return false;
    size_t end = i;
    while (end < pages && scan->page_entries[end] >> 62 & held)
        end++;
    if ((first + i) * PAGE > from)
        run->start = (first + i) * PAGE;
    if ((first + end) * PAGE < until)
        run->end = (first + end) * PAGE;
    return true;
}

size_t vt_scan_file(const char *path, char *to, size_t size) {
    long fd = VT_SYS4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    size_t n = 0;
    to[0] = 0;
    if (fd < 0)
        return 0;
    while (n < size - 1) {
        long got = VT_SYS3(SYS_read, fd, to + n, size - 1 - n);
        if (got == -4 /* EINTR */)
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    to[n] = 0;
    VT_SYS1(SYS_close, fd);
    return n;
}
