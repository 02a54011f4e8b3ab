/* SPDX-License-Identifier: MIT */
/*
 * split SETTING [fork] [thread]: malloc's heap lies in more than one mapping. Allocations to which a list of blocks all
 * over the heap points, and allocations to which only freed blocks point. Exit status 77: the kernel refuses it.
 */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE   ((size_t)4096)
#define SOME   400u
#define GROWTH 12000u
#define EACH   500u

struct block {
    struct block *next;
    CUdeviceptr memory;
    char rest[48];
};

struct block *list; /* not static: it is written only */
static const char *setting = "plain";
static char *middle; /* pages in the midst of the heap */
static struct block *half;

static bool is(const char *name) {
    return strcmp(setting, name) == 0;
}

static CUdeviceptr make(size_t bytes) {
    CUdeviceptr made;
    CHECK(cuMemAlloc_v2(&made, bytes));
    return made;
}

/* Blocks of many sizes; each EACHth has an allocation. */
static __attribute__((noinline)) void keep(unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        struct block *b = malloc(sizeof *b + i % 7 * 160);
        b->next = list;
        b->memory = 0;
        if (i % EACH == EACH / 2)
            b->memory = make(4096);
        list = b;
    }
}

static __attribute__((noinline)) void drop(void) {
    struct block *all[20];
    for (unsigned i = 0; i < 20; i++) {
        all[i] = malloc(3000 + i * 16);
        memset(all[i], 0, 3000);
        ((CUdeviceptr *)all[i])[100] = make(8192);
        keep(1);
    }
    for (unsigned i = 0; i < 20; i++)
        free(all[i]);
}

/* A child of fork says so by the same status. */
static void end_if(bool refused) {
    if (refused)
        _exit(77);
}

static void split(void) {
    middle = memalign(PAGE, 16 * PAGE);
    char *page = middle + 4 * PAGE;
    memset(middle, 1, 16 * PAGE);
    memset(middle, 0, 16 * PAGE);
    if (is("mlock"))
        EXPECT(mlock(page, 2 * PAGE) == 0);
    else if (is("dontfork"))
        EXPECT(madvise(page, 2 * PAGE, MADV_DONTFORK) == 0);
    else if (is("hugepage"))
        EXPECT(madvise(page, 2 * PAGE, MADV_HUGEPAGE) == 0);
    else if (is("named"))
        end_if(prctl(0x53564d41 /* PR_SET_VMA */, 0, page, 2 * PAGE, "a name") != 0);
    else if (is("guard"))
        EXPECT(mprotect(page, PAGE, PROT_NONE) == 0);
    else if (is("untouched"))
        EXPECT(madvise(page, PAGE, MADV_DONTNEED) == 0 && mprotect(page, PAGE, PROT_NONE) == 0);
    else if (is("readonly"))
        EXPECT(mprotect(page, 2 * PAGE, PROT_READ) == 0);
    else if (is("code"))
        EXPECT(mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
    else if (is("sbrk"))
        EXPECT(sbrk(5008) != (void *)-1);
    else if (is("headers")) /* a child has none of the blocks there */
        EXPECT(madvise((char *)((uintptr_t)half & -PAGE), PAGE, MADV_DONTFORK) == 0);
}

static void *before(void *unused) {
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    for (unsigned i = 0; i < SOME; i++) {
        struct block *b = malloc(sizeof *b + i % 5 * 240);
        *b = (struct block){.next = list};
        list = b;
        half = i == SOME / 2 ? b : half;
    }
    split();
    return unused;
}

static void *after(void *unused) {
    CUcontext context = unused;
    CHECK(cuCtxSetCurrent(context));
    keep(GROWTH);
    drop();
    return NULL;
}

/* Both on one thread of its own, which fork leaves alone in a child. */
static void *both(void *unused) {
    before(NULL);
    if (unused) {
        pid_t child = fork();
        int status = 0;
        if (child) {
            EXPECT(waitpid(child, &status, 0) == child);
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 97);
        }
    }
    after(start_cuda());
    exit(0);
}

int main(int argc, char **argv) {
    bool forks = false, on_thread = false;
    pthread_t thread;
    setting = argc > 1 ? argv[1] : setting;
    for (int i = 2; i < argc; i++) {
        forks |= strcmp(argv[i], "fork") == 0;
        on_thread |= strcmp(argv[i], "thread") == 0;
    }
    if (!on_thread)
        both(forks ? &thread : NULL);
    EXPECT(pthread_create(&thread, NULL, both, forks ? &thread : NULL) == 0);
    pthread_join(thread, NULL);
    return 1;
}
