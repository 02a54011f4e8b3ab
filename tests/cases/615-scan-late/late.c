/* SPDX-License-Identifier: MIT */
/*
 * late [unmap|map|release|retain|launch]: the last pointer to an allocation is dropped by a handler
 * of exit, after the call that is named. Pinned memory is live, so a scan that any call from within
 * exit sets off would run before that.
 */
#include "../../cuda_case.h"

#include <string.h>

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags);
CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags);

#define BYTES ((size_t)2 << 20)

static const char *what;
static CUdeviceptr space, kept;
static void *pinned;
static CUmemGenericAllocationHandle memory;
static CUgraphExec exec;

static void handler(void) {
    CUmemGenericAllocationHandle again;
    if (strcmp(what, "unmap") == 0)
        CHECK(cuMemUnmap(space, BYTES));
    if (strcmp(what, "map") == 0)
        CHECK(cuMemMap(space + BYTES, BYTES, 0, memory, 0));
    if (strcmp(what, "release") == 0)
        CHECK(cuMemRelease(memory));
    if (strcmp(what, "retain") == 0)
        CHECK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)space));
    if (strcmp(what, "launch") == 0)
        CHECK(cuGraphLaunch(exec, NULL));
    kept = 0;
}

int main(int argc, char **argv) {
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUDA_MEM_ALLOC_NODE_PARAMS node = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = 512};
    CUgraph graph;
    CUgraphNode added;
    what = argc > 1 ? argv[1] : "";
    start_cuda();
    CHECK(cuMemAlloc_v2(&kept, 1 << 20));
    CHECK(cuMemHostAlloc(&pinned, 4096, 0));
    CHECK(cuMemCreate(&memory, BYTES, &prop, 0));
    CHECK(cuMemAddressReserve(&space, 2 * BYTES, 0, 0, 0));
    CHECK(cuMemMap(space, BYTES, 0, memory, 0));
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemAllocNode(&added, graph, NULL, 0, &node));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return atexit(handler);
}
