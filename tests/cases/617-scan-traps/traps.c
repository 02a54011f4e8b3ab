/* SPDX-License-Identifier: MIT */
/*
 * traps guard|guard-heap|guard-aligned|missing|missing-heap|large|huge|term|handled: memory that
 * must not be read in place, or at all, when the process ends; or too much address space to look
 * through. One allocation is kept, one forgotten.
 * Exit status 77: the kernel refuses what the trap is made of.
 */
#define _GNU_SOURCE
#include "../../cuda_case.h"
#include "vramtrace/ticks.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

static CUdeviceptr kept;
static char *volatile memory;

static char *map(size_t bytes, size_t alignment) {
    char *p =
        mmap(NULL, bytes + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p = (char *)(((uintptr_t)p + alignment - 1) & ~(uintptr_t)(alignment - 1));
    memset(p, 1, bytes);
    return p;
}

static void guard(char *page) {
    if (madvise(page, PAGE, 102 /* MADV_GUARD_INSTALL */) != 0)
        exit(77);
}

/* Nobody answers for these pages: who reads one waits for ever. */
static int make_missing(char *start, size_t bytes) {
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register r = {.range = {(uintptr_t)start, bytes},
                                .mode = UFFDIO_REGISTER_MODE_MISSING};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0)
        exit(77);
    madvise(start, bytes, MADV_DONTNEED);
    if (ioctl(fd, UFFDIO_REGISTER, &r) != 0)
        exit(77);
    return fd;
}

/* Address space by the quarter of a TiB, in mappings that the kernel does not merge. */
static void reserve(unsigned quarters) {
    static char *volatile all[64];
    for (unsigned i = 0; i < quarters; i++) {
        char *p = mmap(NULL, ((size_t)1 << 38) + PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED || mprotect(p, PAGE, PROT_NONE) != 0)
            exit(77);
        all[i] = p + PAGE;
    }
}

static void *waits(void *unused) {
    for (;;)
        pause();
    return unused;
}

static void leave(int number) {
    (void)number;
    _exit(9);
}

/* A driver may hold pinned pages elsewhere, so those are read even when they are not there. When
 * that happens, the child sends SIGTERM; where it is handled, it lets the reader go on then. */
static void answer_by_term(int fd, int answers) {
    pid_t parent = getpid();
    if (fork() != 0)
        return;
    struct uffd_msg message;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(fd, &message, sizeof message) != sizeof message)
        _exit(1);
    kill(parent, SIGTERM);
    /* The scan looks for signals once in so many ticks. */
    for (uint64_t start = vt_ticks(); vt_ticks() - start < 1 << 22;)
        continue;
    while (answers) {
        struct uffdio_zeropage z = {.range = {message.arg.pagefault.address & ~(PAGE - 1), PAGE}};
        ioctl(fd, UFFDIO_ZEROPAGE, &z);
        answers = read(fd, &message, sizeof message) == sizeof message;
    }
    _exit(0);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    CUdeviceptr forgotten;
    pthread_t thread;
    start_cuda();
    CHECK(cuMemAlloc_v2(&kept, 4096));
    CHECK(cuMemAlloc_v2(&forgotten, 8192));
    memset(&forgotten, 0, sizeof forgotten);
    if (argc > 2 && pthread_create(&thread, NULL, waits, NULL) != 0)
        return 1;
    if (strcmp(what, "guard") == 0) {
        memory = map(64 * PAGE, PAGE);
        for (size_t i = 1; i < 64; i += 3)
            guard(memory + i * PAGE);
    } else if (strcmp(what, "guard-heap") == 0) {
        memory = memalign(PAGE, 8 * PAGE);
        memset(memory, 1, 8 * PAGE);
        guard(memory + 2 * PAGE);
    } else if (strcmp(what, "guard-aligned") == 0) { /* where an arena of malloc's might be */
        memory = map(16 * PAGE, (size_t)64 << 20);
        guard(memory);
    } else if (strcmp(what, "missing") == 0) {
        memory = map(PAGE, PAGE);
        make_missing(memory, PAGE);
        memory = map(1024 * PAGE, PAGE);
        make_missing(memory, 1024 * PAGE);
    } else if (strcmp(what, "missing-heap") == 0) {
        memory = memalign(PAGE, 8 * PAGE);
        memset(memory, 1, 8 * PAGE);
        make_missing(memory + 2 * PAGE, 4 * PAGE);
    } else if (strcmp(what, "large") == 0 || strcmp(what, "huge") == 0) {
        reserve(what[0] == 'l' ? 1 : 16);
    } else {
        void *pinned;
        CHECK(cuMemHostAlloc(&pinned, PAGE, 0));
        memory = pinned;
        bool handled = strcmp(what, "handled") == 0;
        int fd = make_missing(memory, PAGE);
        if (handled)
            signal(SIGTERM, leave);
        answer_by_term(fd, handled);
    }
    return 0;
}
