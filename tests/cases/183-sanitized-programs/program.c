/* SPDX-License-Identifier: MIT */
/*
 * A program for sanitizers to be built into, as C and as C++: threads, the C library's functions that they intercept, and
 * (with USE_CUDA) allocations on every thread, one of which is never freed. Prints the same each time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef USE_CUDA
#include "../../cuda_case.h"
static CUcontext context;
#endif
#ifdef __has_feature
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
/* The driver is not instrumented: what it writes is unknown to the sanitizer, traced or not. */
#define WRITTEN(p) __msan_unpoison(&(p), sizeof(p))
#endif
#endif
#ifndef WRITTEN
#define WRITTEN(p) (void)&(p)
#endif

#define THREADS 4
#define ROUNDS  300

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;

/* Leaves words behind on the stack that no sanitizer has seen written. */
static __attribute__((noinline)) void leave_words(void) {
    char unwritten[8192];
    __asm__ volatile("" : : "r"(unwritten) : "memory");
}

static void *work(void *arg) {
    unsigned long sum = 0;
#ifdef USE_CUDA
    CHECK(cuCtxSetCurrent(context));
#endif
    for (int i = 0; i < ROUNDS; i++) {
        char *text = strdup((const char *)arg);
        leave_words();
#ifdef USE_CUDA
        CUdeviceptr p;
        CHECK(cuMemAlloc_v2(&p, 4096));
        WRITTEN(p);
        CHECK(cuMemFree_v2(p));
#endif
        sum += strlen(text);
        free(text);
    }
    pthread_mutex_lock(&lock);
    total += sum;
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* `leak`: loses a heap block as well. */
int main(int argc, char **argv) {
    char word[] = "word";
    (void)argv;
    pthread_t threads[THREADS];
#ifdef USE_CUDA
    CHECK(cuInit(0));
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    WRITTEN(context);
#endif
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, word))
            return 90;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
#ifdef USE_CUDA
    CUdeviceptr kept;
    CHECK(cuMemAlloc_v2(&kept, 1 << 20));
#endif
    static void *volatile lost;
    lost = argc > 1 ? malloc(77) : NULL;
    lost = NULL;
    printf("%lu %d\n", total, getenv("HOME") != NULL);
    return 7;
}
