/* SPDX-License-Identifier: MIT */
/*
 * Ends while its threads map and unmap, allocate and free, start and end other threads: nothing that
 * a scan reads stays where it was.
 */
#include "../tests/cuda_case.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static CUcontext context;
CUdeviceptr kept[64];
CUdeviceptr **deep;

static unsigned next(unsigned *seed) {
    return *seed = *seed * 1664525u + 1013904223u;
}

static void *maps(void *data) {
    unsigned seed = (unsigned)(size_t)data;
    char *held[16] = {0};
    size_t sizes[16] = {0};
    for (;;) {
        unsigned i = next(&seed) >> 28;
        if (held[i]) { /* a part goes before the rest */
            size_t part = sizes[i] / 2 & ~(size_t)4095;
            if (part)
                munmap(held[i], part);
            munmap(held[i] + part, sizes[i] - part);
        }
        sizes[i] = ((next(&seed) >> 20) + 1) * 4096;
        held[i] = mmap(NULL, sizes[i], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (held[i] == MAP_FAILED)
            held[i] = NULL;
        else
            memcpy(held[i], &kept[i], 8);
        if (held[i] && (next(&seed) >> 30) == 0)
            mprotect(held[i], 4096, PROT_NONE);
    }
    return NULL;
}

/* Mappings that split and merge, so that some are twice in a list that is read piece by piece. Each
 * page points to many others. */
static void *splits(void *data) {
    enum { PAGES = 512 };
    unsigned seed = (unsigned)(size_t)data;
    char *all =
        mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < PAGES * 16; i++)
        *(char **)(all + i * 256ul) = all + (next(&seed) >> 23) * 4096ul;
    for (;;) {
        size_t from = next(&seed) >> 23, pages = (next(&seed) >> 28) + 1;
        if (from + pages <= PAGES)
            mprotect(all + from * 4096, pages * 4096,
                     next(&seed) >> 31 ? PROT_NONE : PROT_READ | PROT_WRITE);
    }
    return NULL;
}

static void *heaps(void *data) {
    unsigned seed = (unsigned)(size_t)data;
    CUdeviceptr *held[256] = {0};
    for (;;) {
        unsigned i = next(&seed) >> 24;
        free(held[i]);
        size_t words = (next(&seed) >> 18) % ((next(&seed) >> 29) ? 64 : 40000) + 1;
        held[i] = malloc(words * sizeof *held[i]);
        held[i][0] = (CUdeviceptr)held[next(&seed) >> 24];
        held[i][words - 1] = kept[i % 64];
    }
    return NULL;
}

static void *brief(void *data) {
    volatile CUdeviceptr mine[100];
    for (unsigned i = 0; i < 100; i++)
        mine[i] = kept[i % 64];
    free(malloc(1000));
    return (char *)data + (mine[5] & 0);
}

static void *threads(void *data) {
    for (;;) {
        pthread_t thread;
        void *result;
        if (pthread_create(&thread, NULL, brief, data) == 0)
            pthread_join(thread, &result);
    }
    return NULL;
}

static void *allocates(void *data) {
    CHECK(cuCtxSetCurrent(context));
    for (;;) {
        CUdeviceptr p;
        if (cuMemAlloc_v2(&p, 4096) == CUDA_SUCCESS)
            cuMemFree_v2(p);
    }
    return data;
}

int main(int argc, char **argv) {
    context = start_cuda();
    for (unsigned i = 0; i < 64; i++)
        CHECK(cuMemAlloc_v2(&kept[i], 4096));
    deep = malloc(sizeof *deep);
    *deep = malloc(sizeof **deep);
    CHECK(cuMemAlloc_v2(*deep, 4096));
    static void *(*const all[])(void *) = {maps, heaps, threads, heaps, maps, allocates, splits};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, all[i], (void *)(size_t)(i + 1)));
    }
    usleep(argc > 1 ? (unsigned)atoi(argv[1]) : 1000); /* their work: any moment of it will do */
    _exit(7); /* no handler, no destructor: the others run to the last */
}
