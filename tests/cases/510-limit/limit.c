/* SPDX-License-Identifier: MIT */
/*
 * Under VRAMTRACE_LIMIT=64M on a device of 24 GiB. Eight threads take pieces of 64 KiB until they
 * are refused; a fault of one byte shows: exactly 1024 pieces fit. Then what the program is told of
 * the device, and that what was freed, alone or with its context, can be had again.
 */
#include "../../cuda_case.h"

#include <pthread.h>

#define THREADS 8
#define LIMIT   (64u << 20)
#define PIECE   (64u << 10)

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev);

static CUcontext context;
static CUdeviceptr pieces[THREADS][LIMIT / PIECE];
static unsigned held[THREADS];
static uint64_t most;
static pthread_barrier_t barrier;

static void watch(void) {
    uint64_t now = vramtrace_sim_live_bytes(-1), seen = __atomic_load_n(&most, __ATOMIC_RELAXED);
    while (now > seen &&
           !__atomic_compare_exchange_n(&most, &seen, now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static void *worker(void *argument) {
    unsigned me = (unsigned)(uintptr_t)argument;
    CHECK(cuCtxSetCurrent(context));
    for (int round = 0; round < 4; round++) {
        pthread_barrier_wait(&barrier);
        for (;;) {
            CUresult result = cuMemAlloc_v2(&pieces[me][held[me]], PIECE);
            watch();
            if (result == CUDA_ERROR_OUT_OF_MEMORY)
                break;
            CHECK(result);
            held[me]++;
            /* A request that never fits must not push out one that does. */
            CUdeviceptr large;
            EXPECT(cuMemAlloc_v2(&large, LIMIT + 1) == CUDA_ERROR_OUT_OF_MEMORY);
        }
        pthread_barrier_wait(&barrier);
        if (me == 0) {
            unsigned all = 0;
            for (unsigned t = 0; t < THREADS; t++)
                all += held[t];
            EXPECT(all == LIMIT / PIECE);
            EXPECT(vramtrace_sim_live_bytes(-1) == LIMIT);
            size_t free = 1, total = 1;
            CHECK(cuMemGetInfo_v2(&free, &total));
            EXPECT(free == 0 && total == LIMIT);
        }
        pthread_barrier_wait(&barrier);
        while (held[me])
            CHECK(cuMemFree_v2(pieces[me][--held[me]]));
    }
    return NULL;
}

static size_t left(void) {
    size_t free = 1, total = 0;
    CHECK(cuMemGetInfo_v2(&free, &total));
    EXPECT(total == LIMIT);
    return free;
}

/* Physical memory counts from its creation to its last handle; arrays count as computed. */
static void other_kinds(void) {
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemGenericAllocationHandle handles[32], more;
    for (int i = 0; i < 32; i++)
        CHECK(cuMemCreate(&handles[i], LIMIT / 32, &prop, 0));
    EXPECT(left() == 0);
    EXPECT(cuMemCreate(&more, LIMIT / 32, &prop, 0) == CUDA_ERROR_OUT_OF_MEMORY);
    for (int i = 0; i < 32; i++)
        CHECK(cuMemRelease(handles[i]));
    EXPECT(left() == LIMIT);

    CUarray array, second;
    CUDA_ARRAY_DESCRIPTOR image = {
        .Width = 2560, .Height = 2048, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 2};
    CHECK(cuArrayCreate_v2(&array, &image));
    EXPECT(left() <= LIMIT - 2560 * 2048 * 8);
    EXPECT(left() == LIMIT - vramtrace_sim_live_bytes(0));
    EXPECT(cuArrayCreate_v2(&second, &image) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(cuArrayDestroy(array));
}

int main(void) {
    pthread_t threads[THREADS];
    context = start_cuda();
    size_t total = 0, free = 0;
    CHECK(cuDeviceTotalMem_v2(&total, 0));
    EXPECT(total == LIMIT);
    CHECK(cuMemGetInfo_v2(&free, &total));
    EXPECT(free == LIMIT && total == LIMIT);
    other_kinds();
    EXPECT(left() == LIMIT);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (uintptr_t t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, worker, (void *)t);
    for (unsigned t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    EXPECT(most == LIMIT);

    /* A pitched allocation is held for what the driver made of it; a pool's and a plain one alike;
     * managed and host memory are no device memory. */
    CUdeviceptr p, q;
    void *host;
    size_t pitch = 0;
    CHECK(cuMemAllocPitch_v2(&p, &pitch, 1000, 1000, 4));
    CHECK(cuMemGetInfo_v2(&free, &total));
    EXPECT(pitch > 1000 && free == LIMIT - pitch * 1000);
    CHECK(cuMemAllocAsync(&q, 1 << 20, NULL));
    CHECK(cuMemGetInfo_v2(&free, &total));
    EXPECT(free == LIMIT - pitch * 1000 - (1 << 20));
    CHECK(cuMemAllocManaged(&q, 2 * LIMIT, 1));
    CHECK(cuMemHostAlloc(&host, 2 * LIMIT, 0));
    EXPECT(cuMemAlloc_v2(&q, LIMIT) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(cuMemAlloc_v2(&q, LIMIT - pitch * 1000 - (1 << 20)));
    CHECK(cuMemGetInfo_v2(&free, &total));
    EXPECT(free == 0);

    /* A context's end gives back all that ended with it: not the pool's memory. */
    CHECK(cuCtxDestroy_v2(context));
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    CHECK(cuMemGetInfo_v2(&free, &total));
    EXPECT(free == LIMIT - (1 << 20));
    CHECK(cuMemAlloc_v2(&q, LIMIT - (1 << 20)));
    EXPECT(cuMemAlloc_v2(&q, 1) == CUDA_ERROR_OUT_OF_MEMORY);
    /* Another device has a limit of its own. */
    CHECK(cuCtxCreate_v2(&context, 0, 1));
    CHECK(cuMemAlloc_v2(&q, LIMIT));
    EXPECT(cuMemAlloc_v2(&q, 1) == CUDA_ERROR_OUT_OF_MEMORY);
    return 0;
}
