/* SPDX-License-Identifier: MIT */
/*
 * Reads our own process's memory, which other threads may unmap meanwhile.
 *
 * So we copy memory by process_vm_readv, which fails where a load would fault. If the call refuses memory (a driver's
 * pinned pages, or everything under some seccomp filters), we write the memory to a memory file and read it from there:
 * a write accepts any page that a load can read. With only one thread and handled signals blocked, nothing can be
 * unmapped, so we read the present pages of private memory in place. Pages that pagemap shows as swapped may be guard
 * pages, on which a load faults, so we copy them. Private pages that are neither present nor swapped are empty. We do
 * not read them, because a userfaultfd may block the reader for ever.
 *
 * A search's own memory and its work limit are also here, because every part needs them. Called by the other files of
 * memory/, by scan/ and native/.
 */
#define _GNU_SOURCE
#include "memory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define PAGE        4096u /* a kernel page is one or several of these: vt_machine_page() */
#define GATHER_MOST 512u
#define WINDOW      ((uintptr_t)2 << 20)
#define NO_WINDOW   UINTPTR_MAX
#define NOT_MADE    (-1) /* the memory file */
#define NO_FILE     (-2)
#define PRESENT     (1ull << 63) /* words of pagemap */
#define SWAPPED     (1ull << 62) /* or another entry without a page, such as a guard page */
#define OF_FILE     (1ull << 61) /* or of shared memory */

/* The cost of a step, a pagemap read and a copied byte; unit: one byte read in place. */
#define STEP_WORK   1024u
#define WINDOW_WORK 131072u
#define COPY_WORK   2u

#define LOOK_WORK (64 * STEP_WORK) /* between two checks of the clock */

void *vt_memory_map(size_t bytes) {
    return vt_sys_mmap((bytes + PAGE - 1) & ~(size_t)(PAGE - 1), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Precedes each piece of memory; as large as a cache line, so that the memory after it is aligned. */
struct vt_memory_list {
    struct vt_memory_list *next;
    size_t bytes;
} __attribute__((aligned(64)));

void *vt_memory_list_add(struct vt_memory_list **list, size_t bytes) {
    struct vt_memory_list *taken = vt_memory_map(sizeof *taken + bytes);
    if (!taken)
        return NULL;
    *taken = (struct vt_memory_list){*list, sizeof *taken + bytes};
    *list = taken;
    return taken + 1;
}

void vt_memory_list_release(struct vt_memory_list **list, void *memory) {
    struct vt_memory_list *taken;
    while ((taken = *list) && memory && taken + 1 != memory)
        list = &taken->next;
    if (!taken)
        return;
    *list = taken->next;
    vt_sys_munmap(taken, (taken->bytes + PAGE - 1) & ~(size_t)(PAGE - 1));
}

void *vt_scan_allocate(struct vt_scan *scan, size_t bytes) {
    void *memory = vt_memory_list_add(&scan->memory, bytes);
    if (!memory && !scan->stop)
        scan->stop = VT_SCAN_NO_MEMORY;
    return memory;
}

void vt_scan_release(struct vt_scan *scan) {
    while (scan->memory)
        vt_memory_list_release(&scan->memory, NULL);
}

bool vt_scan_may_continue(struct vt_scan *scan) {
    scan->work += STEP_WORK;
    if (!scan->stop && scan->work > scan->most_work)
        scan->stop = "there is too much to search (VRAMTRACE_SCAN=SIZE)";
    if (scan->stop || scan->found || scan->work < scan->looked_work + LOOK_WORK)
        return !scan->stop && !scan->found;
    scan->looked_work = scan->work;
    /* It takes a system call, so check only about every half millisecond. */
    uint64_t ticks = vt_ticks(), pending = 0;
    if (ticks - scan->asked_ticks < vt_ticks_per_second() / 2000)
        return true;
    scan->asked_ticks = ticks;
    if (VT_SYS2(SYS_rt_sigpending, &pending, sizeof pending) == 0 && pending & scan->ending)
        scan->stop = "a signal arrived";
    return !scan->stop;
}

/* Valgrind reports uninitialized or freed words when they are used or written to a file; it takes words copied by
 * process_vm_readv as initialized. */
bool vt_scan_on_valgrind(void) {
    return vt_machine_ask_valgrind();
}

bool vt_scan_read_open(struct vt_scan *scan) {
    scan->pid = (uint32_t)VT_SYS0(SYS_getpid);
    scan->memfd = scan->mem = vt_scan_on_valgrind() ? NO_FILE : NOT_MADE;
    scan->window = NO_WINDOW;
    scan->pagemap = (int)vt_descriptors_open("/proc/self/pagemap", O_RDONLY, 0);
    scan->buffer = vt_scan_allocate(scan, VT_SCAN_BUFFER);
    scan->peeked = vt_scan_allocate(scan, VT_SCAN_BUFFER);
    scan->page_entries = vt_scan_allocate(scan, WINDOW / PAGE * sizeof *scan->page_entries);
    return !scan->stop;
}

void vt_scan_read_close(struct vt_scan *scan) {
    if (scan->pagemap >= 0)
        VT_SYS1(SYS_close, scan->pagemap);
    if (scan->memfd >= 0)
        VT_SYS1(SYS_close, scan->memfd);
    if (scan->mem >= 0)
        VT_SYS1(SYS_close, scan->mem);
}

/* Copies the ranges in order. Returns the number of bytes copied. */
static size_t copy_ranges(struct vt_scan *scan, void *to, const struct vt_range *ranges,
                          uint32_t count) {
    static struct iovec remote[GATHER_MOST]; /* static: the stack may be small */
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
    scan->work += n > 0 ? (uint64_t)n * COPY_WORK : 0;
    return n < 0 ? 0 : (size_t)n;
}

/* Copies at most VT_SCAN_BUFFER bytes through a memory file. */
static bool copy_by_file(struct vt_scan *scan, void *to, uintptr_t from, size_t bytes) {
    if (scan->memfd == NOT_MADE) {
        unsigned filled = vt_descriptors_fill();
        scan->memfd = (int)VT_SYS2(SYS_memfd_create, VT_SCAN_MEMFD, 1 /* MFD_CLOEXEC */);
        vt_descriptors_clear(filled);
        if (scan->memfd < 0)
            scan->memfd = NO_FILE;
    }
    return scan->memfd >= 0 && VT_SYS4(SYS_pwrite64, scan->memfd, from, bytes, 0) == (long)bytes &&
           VT_SYS4(SYS_pread64, scan->memfd, to, bytes, 0) == (long)bytes;
}

/* The same, but also copies memory that the program made inaccessible: the kernel reads it through /proc/self/mem. */
static bool copy_by_kernel(struct vt_scan *scan, void *to, uintptr_t from, size_t bytes) {
    if (copy_by_file(scan, to, from, bytes))
        return true;
    if (scan->mem == NOT_MADE)
        scan->mem = (int)vt_descriptors_open("/proc/self/mem", O_RDONLY, 0);
    return scan->mem >= 0 && VT_SYS4(SYS_pread64, scan->mem, to, bytes, from) == (long)bytes;
}

/* The words of pagemap for the window around an address. An unknown page is treated as swapped, so it is copied. */
static const uint64_t *window_at(struct vt_scan *scan, uintptr_t address) {
    uintptr_t window = address & ~(WINDOW - 1);
    if (scan->window == window)
        return scan->page_entries;
    const size_t page = vt_machine_page();
    long bytes = (long)(WINDOW / page * 8),
         got = VT_SYS4(SYS_pread64, scan->pagemap, scan->page_entries, bytes, window / page * 8);
    scan->work += WINDOW_WORK;
    scan->window = window;
    /* The file ends at the end of the address space. */
    for (size_t i = got > 0 ? (size_t)got / 8 : 0; i < WINDOW / page; i++)
        scan->page_entries[i] = got > 0 ? 0 : SWAPPED;
    return scan->page_entries;
}

static bool is_present(struct vt_scan *scan, uintptr_t address) {
    return window_at(scan, address)[address % WINDOW / vt_machine_page()] & PRESENT;
}

void vt_scan_note_present(struct vt_scan *scan, uintptr_t base, uintptr_t start, uintptr_t end,
                          uint64_t *bits) {
    for (uintptr_t p = start & ~(uintptr_t)(PAGE - 1); p < end; p += PAGE)
        if (scan->pagemap < 0 || is_present(scan, p))
            vt_bit_set(bits, p / PAGE - base / PAGE);
}

bool vt_scan_in_place(struct vt_scan *scan, uintptr_t start, uintptr_t end) {
    uint8_t byte;
    if (!scan->alone || scan->pagemap < 0)
        return false;
    /* Tries one page, in the first window or the last one. */
    uintptr_t first = start & ~(WINDOW - 1), last = (end - 1) & ~(WINDOW - 1);
    for (uintptr_t window = first;; window = last) {
        uintptr_t until = window + WINDOW < end ? window + WINDOW : end;
        for (uintptr_t p = window < start ? start : window; p < until; p += PAGE)
            if (is_present(scan, p))
                return copy_by_file(scan, &byte, p, 1);
        if (window == last)
            return false;
    }
}

bool vt_scan_read(struct vt_scan *scan, void *to, uintptr_t from, size_t bytes) {
    struct vt_range r = {from, from + bytes};
    if (copy_ranges(scan, to, &r, 1) == bytes)
        return true;
    return bytes <= VT_SCAN_BUFFER && copy_by_kernel(scan, to, from, bytes);
}

uint64_t vt_scan_peek(struct vt_scan *scan, uintptr_t from) {
    uint64_t word;
    if (from >= scan->in_place.start && from + sizeof word <= scan->in_place.end &&
        is_present(scan, from))
        return *(const uint64_t *)from;
    if (from < scan->peeked_at || from + sizeof word > scan->peeked_end) {
        /* Reads as much as possible, at least a page. */
        uintptr_t start = from & ~(uintptr_t)(PAGE - 1);
        uintptr_t window = (start & ~(WINDOW - 1)) + WINDOW, until = start + VT_SCAN_BUFFER;
        struct vt_range r;
        bool present;
        scan->peeked_at = scan->peeked_end = start;
        if (!vt_scan_resident(scan, start, until < window ? until : window, &r, &present) ||
            r.start > start)
            return 0;
        size_t n = copy_ranges(scan, scan->peeked, &r, 1) & ~(size_t)(PAGE - 1);
        if (!n && copy_by_kernel(scan, scan->peeked, start, PAGE))
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
    size_t have = copy_ranges(scan, scan->buffer, ranges, count), bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t want = ranges[i].end - ranges[i].start;
        if (bytes + want > have) {
            if (i > 0)
                return i;
            return copy_by_kernel(scan, scan->buffer, ranges[0].start, want) ? 1 : 0;
        }
        bytes += want;
    }
    return count;
}

bool vt_scan_resident(struct vt_scan *scan, uintptr_t from, uintptr_t until, struct vt_range *run,
                      bool *present) {
    *run = (struct vt_range){from, until};
    *present = false;
    if (scan->pagemap < 0 || from >= until)
        return from < until;
    const uint64_t *words = window_at(scan, from);
    uintptr_t window = scan->window;
    const size_t page = vt_machine_page();
    const uint64_t none = scan->written ? OF_FILE : 0;
    size_t i = (from - window) / page, last = (until - window + page - 1) / page;
    while (i < last && (!(words[i] & (PRESENT | SWAPPED)) || words[i] & none))
        i++;
    if (i == last)
        return false;
    size_t end = i;
    *present = words[i] & PRESENT;
    while (end < last && words[end] & (PRESENT | SWAPPED) && !(words[end] & none) &&
           !!(words[end] & PRESENT) == *present)
        end++;
    if (window + i * page > from)
        run->start = window + i * page;
    if (window + end * page < until)
        run->end = window + end * page;
    return true;
}

bool vt_scan_has_pages(struct vt_scan *scan, uintptr_t start, uintptr_t end) {
    struct vt_range run;
    bool present, has = false;
    if (scan->pagemap < 0 || end - start > VT_SEALED_MOST)
        return false;
    for (uintptr_t at = start, window; at < end && !has; at = window) {
        window = (at & ~(WINDOW - 1)) + WINDOW;
        has = vt_scan_resident(scan, at, window < end ? window : end, &run, &present);
    }
    return has;
}

void vt_scan_forget_pages(struct vt_scan *scan) {
    scan->window = NO_WINDOW;
}

size_t vt_scan_read_file(const char *path, char *to, size_t size) {
    long fd = vt_descriptors_open(path, O_RDONLY, 0);
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

uint64_t vt_scan_parse_number(const char *text, unsigned skipped) {
    uint64_t n = 0;
    for (; skipped && *text; text++)
        skipped -= *text == ' ';
    for (; *text >= '0' && *text <= '9'; text++)
        n = n * 10 + (uint64_t)(*text - '0');
    return n;
}

bool vt_scan_resident_bytes(uint64_t *resident, uint64_t *of_files) {
    char text[128];
    if (!vt_scan_read_file("/proc/self/statm", text, sizeof text))
        return false;
    *resident = vt_scan_parse_number(text, 1) * vt_machine_page();
    *of_files = vt_scan_parse_number(text, 2) * vt_machine_page();
    return true;
}

char *vt_scan_write_number(char *at, uint32_t n) {
    char digits[12];
    size_t count = 0;
    for (; n || !count; n /= 10)
        digits[count++] = (char)('0' + n % 10);
    while (count)
        *at++ = digits[--count];
    return at;
}
