/* SPDX-License-Identifier: MIT */
/* Threads that are cancelled and threads that throw while they allocate, 400 of them. With -DOWN_UNWIND the program walks its
 * own stacks with a libunwind that it links, and cancels nothing: that alone crashes, because libunwind then has the place
 * of libgcc_s in the C library's cancellation. Prints what was counted. */
#include <atomic>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>
#ifdef OWN_UNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#define LOOPS 100
#else
#define LOOPS 1000000000
#endif

extern "C" int cuInit(unsigned);
extern "C" int cuCtxCreate_v2(void **, unsigned, int);
extern "C" int cuCtxSetCurrent(void *);
extern "C" int cuMemAlloc_v2(unsigned long long *, std::size_t);
extern "C" int cuMemFree_v2(unsigned long long);
extern "C" unsigned long long vramtrace_sim_live_count(int);

static void *context;
static std::atomic<int> cleaned, caught;

struct Cleanup {
    ~Cleanup() {
        cleaned++;
    }
};

static void pair() {
    unsigned long long p;
    if (cuMemAlloc_v2(&p, 256) == 0)
        cuMemFree_v2(p);
#ifdef OWN_UNWIND
    void *frames[32];
    if (unw_backtrace(frames, 32) < 2)
        std::printf("the program's own libunwind finds nothing\n");
#endif
}

static void *cancelled(void *) {
    Cleanup cleanup;
    cuCtxSetCurrent(context);
    for (int i = 0; i < LOOPS; i++) {
        pair();
        pthread_testcancel();
    }
    return nullptr;
}

static void *throws(void *) {
    cuCtxSetCurrent(context);
    for (int i = 0; i < 50; i++)
        try {
            Cleanup cleanup;
            pair();
            throw std::runtime_error("x");
        } catch (const std::exception &) {
            caught++;
        }
    return nullptr;
}

int main() {
    if (cuInit(0) != 0 || cuCtxCreate_v2(&context, 0, 0) != 0)
        return 1;
    for (int i = 0; i < 100; i++) {
        pthread_t t[4];
        for (int k = 0; k < 4; k++)
            pthread_create(&t[k], nullptr, k % 2 ? throws : cancelled, nullptr);
        usleep(500); /* some of their work, or none */
#ifndef OWN_UNWIND
        for (int k = 0; k < 4; k += 2)
            pthread_cancel(t[k]);
#endif
        for (int k = 0; k < 4; k++)
            pthread_join(t[k], nullptr);
    }
    std::printf("%d %d %llu\n", cleaned.load() - caught.load(), caught.load(),
                vramtrace_sim_live_count(-1));
    return 0;
}
