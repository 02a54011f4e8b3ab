/* SPDX-License-Identifier: MIT */
/*
 * stack probe: how deep our path reaches below the caller's frame, at a first event, later ones,
 * and a first event of a new stack in a deep recursion: threads run on memory that was painted
 * before. stack small: threads with the smallest stack there is allocate first of all, end the
 * process, and so on.
 */
#include "../../cuda_case.h"

#include <pthread.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static CUcontext context;
#define BYTES (256u << 10)

/* How far below this frame the stack was written to. */
static size_t touched(unsigned char *low, unsigned char *frame) {
    unsigned char *p = low;
    while (p < frame && *p == 0xa5)
        p++;
    return (size_t)(frame - p);
}

struct probe {
    unsigned char *low;
    const char *what;
    int pairs;
};

static __attribute__((noinline)) void pair(void) {
    CUdeviceptr p;
    CHECK(cuMemAlloc_v2(&p, 100));
    CHECK(cuMemFree_v2(p));
}

static void *measured(void *arg) {
    struct probe *probe = arg;
    unsigned char *frame = __builtin_frame_address(0);
    cuCtxSetCurrent(context);
    memset(probe->low, 0xa5, (size_t)(frame - probe->low) - 512);
    for (int i = 0; i < probe->pairs; i++)
        pair();
    printf("%s %zu\n", probe->what, touched(probe->low, frame));
    return NULL;
}

static void *small(void *arg) {
    CHECK(cuCtxSetCurrent(context));
    pair();
    if (arg) {
        CUdeviceptr kept;
        CHECK(cuMemAlloc_v2(&kept, 100)); /* something to be looked for at the end */
        ((void (*)(int))arg)(7);
    }
    return NULL;
}

static void run(void *(*f)(void *), void *arg, size_t bytes, void *memory) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (memory)
        CHECK(pthread_attr_setstack(&attributes, memory, bytes));
    else
        CHECK(pthread_attr_setstacksize(&attributes, bytes));
    CHECK(pthread_create(&thread, &attributes, f, arg));
    CHECK(pthread_join(thread, NULL));
}

int main(int argc, char **argv) {
    EXPECT(argc > 1);
    context = start_cuda();
    if (strcmp(argv[1], "probe") == 0) {
        const char *names[] = {"first", "second", "many"};
        for (int i = 0; i < 3; i++) {
            unsigned char *low =
                mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            struct probe probe = {low, names[i], i == 2 ? 100 : 1};
            run(measured, &probe, BYTES, low);
        }
        return 0;
    }
    void (*end)(int) = strcmp(argv[1], "exit") == 0    ? exit
                       : strcmp(argv[1], "_exit") == 0 ? _exit
                                                       : NULL;
    for (int i = 0; i < 10; i++)
        run(small, i == 9 ? (void *)end : NULL, PTHREAD_STACK_MIN, NULL);
    return 7;
}
