/* SPDX-License-Identifier: MIT */
/* Each record of the driver's layer, and NVML's samples beside it; then a loop's short records. */
#include "../../cuda_case.h"
#include "vramtrace.h"

CUresult cuMemAddressReserve(CUdeviceptr *at, size_t bytes, size_t alignment, CUdeviceptr wish,
                             unsigned long long flags);
CUresult cuGraphCreate(CUgraph *graph, unsigned flags);

static __attribute__((noinline)) void every_kind(void) {
    CUdeviceptr p;
    CUarray array;
    size_t pitch;
    void *host;
    CUDA_ARRAY_DESCRIPTOR as = {
        .Width = 100, .Height = 50, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 4};
    CHECK(cuMemAlloc_v2(&p, 1000001));
    CHECK(cuMemAllocPitch_v2(&p, &pitch, 1000, 7, 16));
    CHECK(cuMemAllocManaged(&p, 300000, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuMemAllocHost_v2(&host, 200000));
    CHECK(cuMemFreeHost(host));
    CHECK(cuMemHostAlloc(&host, 100000, 0));
    CHECK(cuArrayCreate_v2(&array, &as));
    CHECK(cuMemAllocAsync(&p, 400000, NULL));
}

static __attribute__((noinline)) void mapped(void) {
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    CHECK(cuMemAddressReserve(&at, 8 << 20, 0, 0, 0));
    CHECK(cuMemCreate(&handle, 4 << 20, &prop, 0));
    CHECK(cuMemMap(at, 4 << 20, 0, handle, 0));
    CHECK(cuMemRelease(handle));
    CHECK(cuMemCreate(&handle, 2 << 20, &prop, 0));
    CHECK(cuMemMap(at + (4 << 20), 2 << 20, 0, handle, 0));
    CHECK(cuMemUnmap(at + (4 << 20), 2 << 20));
    CHECK(cuMemRelease(handle));
}

static __attribute__((noinline)) void told(void) {
    CUmemoryPool pool;
    CUgraph graph;
    CUgraphExec launched;
    CUdeviceptr p;
    uint64_t bytes;
    CHECK(cuDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &bytes));
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphInstantiateWithFlags(&launched, graph, 0));
    for (int i = 0; i < 3; i++) {
        CHECK(cuGraphLaunch(launched, NULL));
        CHECK(cuMemAlloc_v2(&p, 1 << 16));
    }
}

static __attribute__((noinline)) void refused(void) {
    CUdeviceptr p;
    EXPECT(cuMemAlloc_v2(&p, (size_t)1 << 40) != CUDA_SUCCESS);
    EXPECT(cuMemFree_v2(12345) != CUDA_SUCCESS);
}

static __attribute__((noinline)) void loop(void) {
    CUdeviceptr p;
    for (int i = 0; i < 40; i++) {
        CHECK(cuMemAlloc_v2(&p, 4096 + 512 * (size_t)(i % 3)));
        if (i % 8)
            CHECK(cuMemFree_v2(p));
    }
}

int main(void) {
    CUcontext second;
    CUdeviceptr p;
    start_cuda();
    vramtrace_push("setup");
    every_kind();
    mapped();
    vramtrace_pop();
    told();
    vramtrace_mark("refused");
    refused();
    for (int i = 0; i < 4; i++) {
        vramtrace_push("step");
        loop();
        vramtrace_pop();
    }
    CHECK(cuCtxCreate_v2(&second, 0, 0));
    CHECK(cuMemAlloc_v2(&p, 700000));
    CHECK(cuCtxDestroy_v2(second)); /* takes it along */
    return 0;
}
