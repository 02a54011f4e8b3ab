/* SPDX-License-Identifier: MIT */
/* Calls that go wrong, and what they answer: result, what they left in the out-parameters, errno. Addresses are printed as
 * "something" or "nothing": they are the driver's affair. */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define SAY(call)                                                                                  \
    do {                                                                                           \
        errno = 1234;                                                                              \
        int result_ = (int)(call);                                                                 \
        printf("%-60s %d  %s %zu errno %d\n", #call, result_, p ? "something" : "nothing", pitch,  \
               errno);                                                                             \
        p = 0;                                                                                     \
        pitch = 0;                                                                                 \
    } while (0)

static CUdeviceptr twice;
static int freed;

static void *free_it(void *context) {
    CHECK(cuCtxSetCurrent(context));
    if (cuMemFree_v2(twice) == 0)
        __atomic_fetch_add(&freed, 1, __ATOMIC_RELAXED);
    return NULL;
}

int main(void) {
    CUdeviceptr p = 0, kept;
    CUdeviceptr_v1 p1 = 0;
    size_t pitch = 0, total = 0;
    unsigned pitch1 = 0;
    void *host = NULL;
    SAY(cuMemAlloc_v2(&p, 100)); /* before cuInit */
    SAY(cuMemFree_v2(0x1234));
    SAY(cuMemGetInfo_v2(&pitch, &total));
    CHECK(cuInit(0));
    SAY(cuMemAlloc_v2(&p, 100)); /* no context */
    SAY(cuCtxDestroy_v2(NULL));
    SAY(cuCtxDestroy_v2((CUcontext)(uintptr_t)0x5000));
    SAY(cuCtxPopCurrent_v2(NULL));
    SAY(cuCtxCreate_v2(NULL, 0, 0));
    SAY(cuCtxCreate_v2((CUcontext *)&p, 0, 99));
    SAY(cuDevicePrimaryCtxRetain(NULL, 0));
    SAY(cuDevicePrimaryCtxRetain((CUcontext *)&p, -1));
    SAY(cuDevicePrimaryCtxRelease_v2(0));
    SAY(cuDevicePrimaryCtxRelease_v2(-1));
    SAY(cuDevicePrimaryCtxReset_v2(77));
    CUcontext context;
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    SAY(cuMemAlloc_v2(&p, 0));
    SAY(cuMemAlloc_v2(NULL, 100));
    SAY(cuMemAlloc_v2(&p, ~0ull));
    SAY(cuMemAlloc_v2(&p, ~0ull - 4096));
    SAY(cuMemAlloc_v2(&p, 1ull << 48));
    SAY(cuMemAlloc_v2(&p, 1ull << 40));
    SAY(cuMemAlloc(NULL, 100));
    SAY(cuMemAlloc(&p1, 0));
    SAY(cuMemAlloc(&p1, ~0u));
    SAY(cuMemAllocPitch_v2(&p, &pitch, 0, 10, 4));
    SAY(cuMemAllocPitch_v2(&p, &pitch, 100, 0, 4));
    SAY(cuMemAllocPitch_v2(&p, NULL, 100, 10, 4));
    SAY(cuMemAllocPitch_v2(NULL, &pitch, 100, 10, 4));
    SAY(cuMemAllocPitch_v2(&p, &pitch, 100, 10, 3));
    SAY(cuMemAllocPitch_v2(&p, &pitch, ~0ull / 2, 10, 4));
    SAY(cuMemAllocPitch_v2(&p, &pitch, 1000, ~0ull / 100, 4));
    SAY(cuMemAllocPitch(&p1, &pitch1, 100, 10, 4));
    SAY(cuMemAllocManaged(&p, 100, 0));
    SAY(cuMemAllocManaged(NULL, 100, 1));
    SAY(cuMemAllocManaged(&p, 0, 1));
    SAY(cuMemAllocHost_v2(&host, 0));
    SAY(cuMemAllocHost_v2(NULL, 10));
    SAY(cuMemHostAlloc(&host, 10, ~0u));
    SAY(cuMemHostAlloc(NULL, 10, 0));
    SAY(cuMemFreeHost(NULL));
    SAY(cuMemFreeHost((void *)(uintptr_t)0x7777));
    SAY(cuMemAllocAsync(&p, 0, NULL));
    SAY(cuMemAllocAsync(NULL, 10, NULL));
    SAY(cuMemAllocAsync(&p, ~0ull, NULL));
    SAY(cuMemAllocFromPoolAsync(&p, 10, NULL, NULL));
    SAY(cuMemFreeAsync(0, NULL));
    SAY(cuMemFreeAsync(0x99, NULL));
    SAY(cuMemFree_v2(0));
    SAY(cuMemFree_v2(~0ull));
    SAY(cuMemFree_v2(1));
    SAY(cuMemFree(3));
    SAY(cuMemAlloc_v2(&kept, 4096));
    SAY(cuMemFree_v2(kept + 1)); /* inside, not at its start */
    SAY(cuMemFree_v2(kept + 512));
    SAY(cuMemFreeHost((void *)kept)); /* of the other space */
    SAY(cuMemFreeAsync(kept, NULL));
    SAY(cuMemFree_v2(kept)); /* twice */
    SAY(cuMemAllocAsync(&kept, 4096, NULL));
    SAY(cuMemFree_v2(kept));
    SAY(cuMemFreeAsync(kept, NULL)); /* twice */
    SAY(cuMemGetInfo_v2(NULL, &total));
    SAY(cuMemGetInfo_v2(NULL, NULL));
    SAY(cuDeviceGetName(NULL, 10, 0));
    SAY(cuDeviceGetName((char *)&p, 0, 0));
    SAY(cuDeviceTotalMem_v2(NULL, 0));
    SAY(cuDeviceTotalMem_v2(&total, 99));
    SAY(cuDeviceGetUuid(NULL, 0));
    SAY(cuCtxGetCurrent(NULL));
    SAY(cuCtxGetDevice(NULL));
    SAY(cuCtxSetCurrent((CUcontext)(uintptr_t)0x40));
    SAY(cuCtxPushCurrent_v2(NULL));
    for (int i = 0; i < 200; i++) { /* two threads free the same address: one is right */
        pthread_t one, two;
        CHECK(cuMemAlloc_v2(&twice, 64));
        CHECK(pthread_create(&one, NULL, free_it, context));
        CHECK(pthread_create(&two, NULL, free_it, context));
        pthread_join(one, NULL);
        pthread_join(two, NULL);
    }
    printf("freed %d\n", freed);
    CHECK(cuMemAlloc_v2(&kept, 4096)); /* owned by the context */
    SAY(cuCtxDestroy_v2(context));
    SAY(cuCtxDestroy_v2(context)); /* twice */
    SAY(cuMemFree_v2(kept));
    printf("%llu %llu %llu\n", (unsigned long long)vramtrace_sim_live_bytes(-1),
           (unsigned long long)vramtrace_sim_kind_bytes(-1, VRAMTRACE_SIM_HOST),
           (unsigned long long)vramtrace_sim_kind_bytes(-1, VRAMTRACE_SIM_MANAGED));
    return 0;
}
