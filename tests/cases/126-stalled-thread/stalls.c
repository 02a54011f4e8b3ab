/* SPDX-License-Identifier: MIT */
/*
 * Does what it is told by lines on its standard input, and answers each with "done": `earlier N` and
 * `others N` keep N blocks, `works` starts a thread that allocates and frees all the time, `first` one that
 * keeps a single block, `crowd N` so many that keep a block each and stay until the end. `end` ends, and
 * prints how many pairs the first of these threads made.
 */
#include "../../cuda_case.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>

enum { THREADS = 2000 };
static CUcontext context;
static pthread_t threads[THREADS];
static unsigned thread_count;
static unsigned long pairs;
static int stopped; /* atomic */
static sem_t kept, ends;

static __attribute__((noinline)) void earlier(unsigned count) {
    CUdeviceptr p;
    while (count--)
        CHECK(cuMemAlloc_v2(&p, 4096));
}

static __attribute__((noinline)) void others(unsigned count) {
    CUdeviceptr p;
    while (count--)
        CHECK(cuMemAlloc_v2(&p, 8192));
}

static void *works(void *arg) {
    (void)arg;
    CHECK(cuCtxSetCurrent(context));
    for (; !__atomic_load_n(&stopped, __ATOMIC_RELAXED); pairs++) {
        CUdeviceptr p;
        CHECK(cuMemAlloc_v2(&p, 1024));
        CHECK(cuMemFree_v2(p));
    }
    return NULL;
}

static void *first(void *arg) {
    CUdeviceptr p;
    (void)arg;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc_v2(&p, 512));
    return NULL;
}

static void *one_of_many(void *arg) {
    first(arg);
    CHECK(sem_post(&kept));
    CHECK(sem_wait(&ends));
    return NULL;
}

static void start(void *(*work)(void *)) {
    pthread_attr_t small;
    CHECK(pthread_attr_init(&small));
    CHECK(pthread_attr_setstacksize(&small, 256 << 10));
    EXPECT(thread_count < THREADS);
    CHECK(pthread_create(&threads[thread_count++], &small, work, NULL));
}

int main(void) {
    char line[100], what[100];
    unsigned number;
    setvbuf(stdout, NULL, _IOLBF, 0);
    CHECK(sem_init(&kept, 0, 0));
    CHECK(sem_init(&ends, 0, 0));
    context = start_cuda();
    while (fgets(line, sizeof line, stdin) && sscanf(line, "%99s %u", what, &number) >= 1) {
        if (!strcmp(what, "earlier"))
            earlier(number);
        if (!strcmp(what, "others"))
            others(number);
        if (!strcmp(what, "works"))
            start(works);
        if (!strcmp(what, "first"))
            start(first);
        if (!strcmp(what, "crowd")) {
            for (unsigned i = 0; i < number; i++)
                start(one_of_many);
            for (unsigned i = 0; i < number; i++)
                CHECK(sem_wait(&kept));
        }
        if (!strcmp(what, "end"))
            break;
        puts("done");
    }
    __atomic_store_n(&stopped, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < thread_count; i++)
        CHECK(sem_post(&ends));
    for (unsigned i = 0; i < thread_count; i++)
        CHECK(pthread_join(threads[i], NULL));
    printf("%lu\n", pairs);
    return 0;
}
