/* SPDX-License-Identifier: MIT */
/* families NAME: one family of memory; after each step our live bytes are the driver's, on both devices. */
#define _GNU_SOURCE
#include "families.h"

#include <sys/mman.h>
#include <unistd.h>

static CUcontext contexts[2];

static void start(void) {
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&contexts[0], 0));
    CHECK(cuDevicePrimaryCtxRetain(&contexts[1], 1));
    CHECK(cuCtxSetCurrent(contexts[0]));
}

static void vmm(void) {
    CUmemAllocationProp prop = PINNED;
    CUmemGenericAllocationHandle h, again;
    CUdeviceptr va;
    STEP(0, cuMemAddressReserve(&va, 64 * GRANULE, 0, 0, 0)); /* addresses are no memory */
    STEP(4 * GRANULE, cuMemCreate(&h, 4 * GRANULE, &prop, 0));
    STEP(0, cuMemMap(va, 4 * GRANULE, 0, h, 0));
    STEP(0, cuMemMap(va + 8 * GRANULE, 2 * GRANULE, 2 * GRANULE, h, 0)); /* again, counted once */
    STEP(0, cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(va + GRANULE)));
    EXPECT(again == h);
    STEP(0, cuMemRelease(h));
    STEP(0, cuMemUnmap(va, 4 * GRANULE));
    STEP(0, cuMemRelease(again));
    STEP(-4 * (long long)GRANULE,
         cuMemUnmap(va + 8 * GRANULE, 2 * GRANULE)); /* the last reference */
    /* Made on one device while the other is current: it is where it was asked for. */
    prop.location.id = 1;
    STEP(0, cuMemCreate(&h, GRANULE, &prop, 0));
    EXPECT(vramtrace_sim_live_bytes(1) == GRANULE);
    STEP(0, cuMemRelease(h));
    EXPECT(vramtrace_sim_live_bytes(1) == 0);
    /* With no context current at all. */
    prop.location.id = 0;
    CHECK(cuCtxSetCurrent(NULL));
    STEP(GRANULE, cuMemCreate(&h, GRANULE, &prop, 0));
    STEP(-(long long)GRANULE, cuMemRelease(h));
    CHECK(cuCtxSetCurrent(contexts[0]));
    STEP(0, cuMemAddressFree(va, 64 * GRANULE));
}

/* Created, mapped, released at once: it lives until it is unmapped. One unmap ends many mappings. */
static void vmm_ggml(void) {
    CUmemAllocationProp prop = PINNED;
    CUmemGenericAllocationHandle h;
    CUdeviceptr va;
    CHECK(cuMemAddressReserve(&va, 64 * GRANULE, 0, 0, 0));
    for (size_t i = 0; i < 10; i++) {
        STEP((i + 1) * GRANULE, cuMemCreate(&h, (i + 1) * GRANULE, &prop, 0));
        STEP(0, cuMemMap(va + i * (i + 1) / 2 * GRANULE, (i + 1) * GRANULE, 0, h, 0));
        STEP(0, cuMemRelease(h));
    }
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(va, 2 * GRANULE)); /* cuts a mapping */
    STEP(-6 * (long long)GRANULE, cuMemUnmap(va, 6 * GRANULE));     /* the first three */
    STEP(-49 * (long long)GRANULE, cuMemUnmap(va + 6 * GRANULE, 49 * GRANULE));
}

/* NCCL's way of freeing: retain, release, unmap, release. */
static void vmm_nccl(void) {
    CUmemAllocationProp prop = PINNED;
    CUmemGenericAllocationHandle h, again;
    CUdeviceptr va;
    CHECK(cuMemAddressReserve(&va, 4 * GRANULE, 0, 0, 0));
    for (int i = 0; i < 20; i++) {
        STEP(2 * GRANULE, cuMemCreate(&h, 2 * GRANULE, &prop, 0));
        STEP(0, cuMemMap(va, 2 * GRANULE, 0, h, 0));
        STEP(0, cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)va));
        STEP(0, cuMemRelease(again));
        STEP(0, cuMemUnmap(va, 2 * GRANULE));
        STEP(-2 * (long long)GRANULE, cuMemRelease(h));
        REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemRelease(h)); /* once too often */
    }
}

/* On the host: pinned host memory's books, no device's. */
static void vmm_host(void) {
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_HOST}};
    CUmemGenericAllocationHandle h, kept;
    STEP(0, cuMemCreate(&h, 3 * GRANULE, &prop, 0));
    STEP(0, cuMemCreate(&kept, GRANULE, &prop, 0));
    STEP(0, cuMemRelease(h));
}

static void vmm_share(void) {
    CUmemAllocationProp prop = PINNED;
    CUmemGenericAllocationHandle h, imported;
    int file;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    STEP(GRANULE, cuMemCreate(&h, GRANULE, &prop, 0));
    STEP(0, cuMemExportToShareableHandle(&file, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    /* imported by the process that has it: one more reference to the same */
    STEP(0, cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)file,
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    STEP(0, cuMemRelease(h));
    STEP(-(long long)GRANULE, cuMemRelease(imported));
    /* a file that no memory of ours is: another process's */
    int other = memfd_create("another", 0);
    EXPECT(other >= 0 && ftruncate(other, 5 * (off_t)GRANULE) == 0);
    STEP(0, cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)other,
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    CUdeviceptr va;
    CHECK(cuMemAddressReserve(&va, 8 * GRANULE, 0, 0, 0));
    STEP(0, cuMemMap(va, 5 * GRANULE, 0, imported, 0));
    STEP(0, cuMemRelease(imported));
    STEP(0, cuMemUnmap(va, 5 * GRANULE));
}

static void multicast(void) {
    CUmulticastObjectProp prop = {.numDevices = 2, .size = 4 * GRANULE};
    CUmemAllocationProp memory = PINNED;
    CUmemGenericAllocationHandle object, h;
    CUdeviceptr va;
    CHECK(cuMemAddressReserve(&va, 8 * GRANULE, 0, 0, 0));
    STEP(0, cuMulticastCreate(&object, &prop));
    STEP(0, cuMulticastAddDevice(object, 0));
    STEP(4 * GRANULE, cuMemCreate(&h, 4 * GRANULE, &memory, 0));
    STEP(0, cuMulticastBindMem(object, 0, h, 0, 4 * GRANULE, 0));
    STEP(0, cuMemMap(va, 4 * GRANULE, 0, object, 0));
    STEP(0, cuMemUnmap(va, 4 * GRANULE));
    STEP(0, cuMulticastUnbind(object, 0, 0, 4 * GRANULE));
    STEP(0, cuMemRelease(object));
    STEP(-4 * (long long)GRANULE, cuMemRelease(h));
}

/* ---- arrays ---- */

static void array(void) {
    CUarray a, kept;
    CUDA_ARRAY_DESCRIPTOR_v1 v1 = {100, 50, CU_AD_FORMAT_UNSIGNED_INT8, 4};
    CUDA_ARRAY_DESCRIPTOR line = {.Width = 1000, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 2};
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 64, .Height = 32, .Depth = 16, .Format = CU_AD_FORMAT_HALF, .NumChannels = 4};
    CUDA_ARRAY3D_DESCRIPTOR_v1 d_v1 = {64, 32, 16, CU_AD_FORMAT_SIGNED_INT16, 1, 0};
    STEP(100 * 50 * 4, cuArrayCreate(&a, &v1));
    STEP(-100 * 50 * 4, cuArrayDestroy(a));
    STEP(1000 * 4 * 2, cuArrayCreate_v2(&kept, &line));
    STEP(64 * 32 * 16 * 2, cuArray3DCreate(&a, &d_v1));
    STEP(-64 * 32 * 16 * 2, cuArrayDestroy(a));
    STEP(64 * 32 * 16 * 2 * 4, cuArray3DCreate_v2(&a, &d));
    STEP(-64 * 32 * 16 * 2 * 4, cuArrayDestroy(a));
    d.Flags = CUDA_ARRAY3D_LAYERED;
    d.Height = 0; /* a row of 16 lines */
    STEP(64 * 16 * 2 * 4, cuArray3DCreate_v2(&a, &d));
    REFUSED(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(NULL));
    d.Flags = CUDA_ARRAY3D_SPARSE;
    STEP(0, cuArray3DCreate_v2(&a, &d)); /* no memory until tiles are mapped */
    STEP(0, cuArrayDestroy(a));
    d.Flags = CUDA_ARRAY3D_DEFERRED_MAPPING;
    STEP(0, cuArray3DCreate_v2(&a, &d));
    d = (CUDA_ARRAY3D_DESCRIPTOR){.Width = 1920,
                                  .Height = 1080,
                                  .Format = CU_AD_FORMAT_NV12,
                                  .NumChannels = 3}; /* a video frame */
    STEP(1920 * 1080 * 3 / 2, cuArray3DCreate_v2(&a, &d));
    d.NumChannels = 4;
    d.Format = 0x77;
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate_v2(&a, &d));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate_v2(&a, NULL));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuArrayCreate_v2(NULL, &line));
    /* the end of their context frees them */
    CUcontext own;
    CHECK(cuCtxCreate_v2(&own, 0, 0));
    STEP(8000, cuArrayCreate_v2(&a, &line));
    STEP(-8000, cuCtxDestroy_v2(own));
}

static void mipmap(void) {
    CUmipmappedArray m;
    CUarray level;
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 256, .Height = 128, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    long long flat = 0, deep = 0;
    for (int i = 0; i < 4; i++)
        flat += (256 >> i) * (128 >> i);
    STEP(flat, cuMipmappedArrayCreate(&m, &d, 4));
    STEP(0, cuMipmappedArrayGetLevel(&level, m, 1));
    REFUSED(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(level)); /* a view */
    STEP(-flat, cuMipmappedArrayDestroy(m));
    d = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = 32, .Height = 32, .Depth = 64, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    for (int i = 0; i < 7; i++)
        deep += 4LL * ((32 >> i) ? 32 >> i : 1) * ((32 >> i) ? 32 >> i : 1) * (64 >> i);
    STEP(deep, cuMipmappedArrayCreate(&m, &d, 100)); /* cut at the last level there is */
    d.Flags = CUDA_ARRAY3D_CUBEMAP;
    d.Depth = 6;
    STEP(6 * 4 * (32 * 32 + 16 * 16), cuMipmappedArrayCreate(&m, &d, 2));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayCreate(&m, &d, 0));
}

/* ---- pools ---- */

static void pool(void) {
    CUmemoryPool p, def;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUdeviceptr a, b, c;
    CUstream s, other;
    cuuint64_t figure = 0;
    CHECK(cuStreamCreate(&s, 0));
    CHECK(cuCtxSetCurrent(contexts[1]));
    CHECK(cuStreamCreateWithPriority(&other, 0, 0));
    CHECK(cuCtxSetCurrent(contexts[0]));
    CHECK(cuMemPoolCreate(&p, &props));
    STEP(1000, cuMemAllocFromPoolAsync(&a, 1000, p, s));
    CHECK(cuMemPoolGetAttribute(p, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &figure));
    CHECK(cuMemPoolGetAttribute(p, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &figure));
    EXPECT(figure == 1000);
    CHECK(cuMemPoolGetAttribute(p, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &figure));
    STEP(0, cuMemPoolTrimTo(p, 0));
    STEP(2000, cuMemAllocAsync(&b, 2000, s));
    STEP(0, cuMemAllocAsync(&c, 500, other)); /* a stream of the other device */
    EXPECT(vramtrace_sim_live_bytes(1) == 500);
    STEP(0, cuMemFreeAsync(c, other));
    STEP(-2000, cuMemFree_v2(b)); /* pool memory, freed the plain way */
    CHECK(cuDeviceSetMemPool(0, p));
    CHECK(cuDeviceGetMemPool(&def, 0));
    EXPECT(def == p);
    STEP(3000, cuMemAllocAsync_ptsz(&b, 3000, NULL));
    STEP(0, cuMemPoolDestroy(p)); /* with two allocations live: they stay */
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&c, 10, p, s));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(p));
    STEP(-1000, cuMemFreeAsync(a, s));
    STEP(-3000, cuMemFreeAsync_ptsz(b, NULL));
    /* a context's end frees nothing of a pool */
    CUcontext own;
    CHECK(cuCtxCreate_v2(&own, 0, 0));
    STEP(700, cuMemAllocAsync(&a, 700, NULL));
    STEP(0, cuCtxDestroy_v2(own));
    CHECK(cuCtxSetCurrent(contexts[0]));
    STEP(-700, cuMemFreeAsync(a, NULL));
    STEP(0, cuStreamDestroy_v2(other));
}

/* CUDA 13's pools: managed memory and host memory behind the same calls. Neither is a device's. */
static void pool_kinds(void) {
    CUmemoryPool device, managed, host, found;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1}};
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                  there = {.type = CU_MEM_LOCATION_TYPE_HOST};
    CUdeviceptr a, b, c, d, e;
    CHECK(cuMemPoolCreate(&device, &props)); /* on the other device */
    STEP(0, cuMemAllocFromPoolAsync(&a, 4096, device, NULL));
    EXPECT(vramtrace_sim_live_bytes(1) == 4096);
    CHECK(cuMemGetDefaultMemPool(&managed, &here, CU_MEM_ALLOCATION_TYPE_MANAGED));
    CHECK(cuMemGetDefaultMemPool(&host, &there, CU_MEM_ALLOCATION_TYPE_PINNED));
    CHECK(cuMemGetMemPool(&found, &there, CU_MEM_ALLOCATION_TYPE_PINNED));
    EXPECT(found == host);
    STEP(0, cuMemAllocFromPoolAsync(&b, 5000, managed, NULL));
    STEP(0, cuMemAllocFromPoolAsync(&c, 6000, host, NULL));
    STEP(0, cuMemAllocFromPoolAsync_ptsz(&d, 70, host, NULL));
    STEP(0, cuMemAllocManaged(&e, 800, 1));
    STEP(0, cuMemFreeAsync(c, NULL));
    STEP(0, cuMemFree_v2(a));
}

/* ---- graphs ---- */

static CUDA_MEM_ALLOC_NODE_PARAMS node_params(size_t bytes) {
    return (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = bytes};
}

static void graph(void) {
    CUgraph g, freeing;
    CUgraphNode n1, n2, n3;
    CUgraphExec exec, exec2;
    CUDA_MEM_ALLOC_NODE_PARAMS kept = node_params(10000), gone = node_params(500);
    CHECK(cuGraphCreate(&g, 0));
    STEP(0, cuGraphAddMemAllocNode(&n1, g, NULL, 0, &kept)); /* an address, no memory */
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    memcpy(&any.alloc, &gone, sizeof gone);
    STEP(0, cuGraphAddNode_v2(&n2, g, &n1, NULL, 1, &any));
    STEP(0, cuGraphAddMemFreeNode(&n3, g, &n2, 1, any.alloc.dptr)); /* freed in the same launch */
    STEP(0, cuGraphAddNode_v3(&n2, g, &n3, NULL, 1, &any));
    STEP(0, cuGraphAddMemFreeNode(&n3, g, &n2, 1, any.alloc.dptr));
    STEP(0, cuGraphInstantiateWithFlags(&exec, g, 0));
    STEP(10000, cuGraphLaunch(exec, NULL));
    STEP(-10000, cuMemFreeAsync(kept.dptr, NULL));
    STEP(10000, cuGraphLaunch_ptsz(exec, NULL));
    STEP(0, cuDeviceGraphMemTrim(0));
    CHECK(cuGraphCreate(&freeing, 0)); /* freed by another graph */
    CUgraphNodeParams frees = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free.dptr = kept.dptr};
    STEP(0, cuGraphAddNode(&n1, freeing, NULL, 0, &frees));
    STEP(0, cuGraphInstantiate_v2(&exec2, freeing, NULL, NULL, 0));
    STEP(-10000, cuGraphLaunch(exec2, NULL));
    STEP(10000, cuGraphLaunch(exec, NULL));
    STEP(-10000, cuGraphLaunch(exec2, NULL));
    STEP(10000, cuGraphLaunch(exec, NULL));
    /* the ends of the executable and of the graph free nothing */
    STEP(0, cuGraphExecDestroy(exec));
    STEP(0, cuGraphDestroy(g));
    STEP(-10000, cuMemFree_v2(kept.dptr));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(kept.dptr));
    STEP(0, cuGraphExecDestroy(exec2));
    STEP(0, cuGraphDestroy(freeing));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(NULL));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemAllocNode(&n1, NULL, NULL, 0, &kept));
}

static void graph_autofree(void) {
    CUgraph g;
    CUgraphNode n;
    CUgraphExec exec;
    CUDA_MEM_ALLOC_NODE_PARAMS p = node_params(12345);
    CUDA_GRAPH_INSTANTIATE_PARAMS how = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH};
    CHECK(cuGraphCreate(&g, 0));
    CHECK(cuGraphAddMemAllocNode(&n, g, NULL, 0, &p));
    CHECK(cuGraphInstantiateWithParams(&exec, g, &how));
    STEP(12345, cuGraphLaunch(exec, NULL));
    for (int i = 0; i < 5; i++)
        STEP(0, cuGraphLaunch(exec, NULL)); /* each frees what the one before left */
    STEP(-12345, cuMemFree_v2(p.dptr));
    STEP(12345, cuGraphLaunch(exec, NULL));
    STEP(0, cuGraphDestroy(g));
    STEP(0, cuGraphExecDestroy(exec));
}

/* Graphs that never had memory nodes, and are many. */
static void graph_empty(void) {
    for (int i = 0; i < 50; i++) {
        CUgraph g, copy;
        CUgraphExec exec;
        CHECK(cuGraphCreate(&g, 0));
        CHECK(cuGraphClone(&copy, g));
        CHECK(cuGraphInstantiateWithFlags(&exec, copy, 0));
        STEP(0, cuGraphLaunch(exec, NULL));
        CHECK(cuGraphExecDestroy(exec));
        CHECK(cuGraphDestroy(copy));
        CHECK(cuGraphDestroy(g));
    }
}

static void capture(void) {
    CUstream s;
    CUgraph g;
    CUgraphExec exec;
    CUdeviceptr kept, inside, outside;
    CHECK(cuStreamCreate(&s, 1));
    CHECK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    STEP(0, cuMemAllocAsync(&kept, 7000, s)); /* nodes, not memory */
    STEP(0, cuMemAllocAsync(&inside, 300, s));
    STEP(0, cuMemFreeAsync(inside, s));
    STEP(4000, cuMemAllocAsync(&outside, 4000, NULL)); /* another stream's is memory as ever */
    STEP(0, cuStreamEndCapture(s, &g));
    STEP(0, cuGraphInstantiateWithFlags(&exec, g, 0));
    STEP(7000, cuGraphLaunch(exec, s));
    STEP(-7000, cuMemFreeAsync(kept, s));
    STEP(7000, cuGraphLaunch(exec, s));
    STEP(100, cuMemAllocAsync(&inside, 100, s)); /* the capture is over */
    STEP(0, cuGraphDestroy(g));
    STEP(0, cuGraphExecDestroy(exec));
    STEP(-7000, cuMemFree_v2(kept));
    /* onto a graph of the program's own, freed on a stream that is captured */
    CHECK(cuGraphCreate(&g, 0));
    CHECK(cuStreamBeginCaptureToGraph(s, g, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    STEP(0, cuMemAllocAsync(&kept, 640, s));
    CHECK(cuStreamEndCapture(s, &g));
    CHECK(cuGraphInstantiate(&exec, g, NULL, NULL, 0));
    STEP(640, cuGraphLaunch(exec, s));
    CUgraph freeing;
    CUgraphExec exec2;
    CHECK(cuStreamBeginCapture(s));
    STEP(0, cuMemFreeAsync(kept, s));
    CHECK(cuStreamEndCapture(s, &freeing));
    CHECK(cuGraphInstantiateWithFlags(&exec2, freeing, 0));
    STEP(-640, cuGraphLaunch(exec2, s));
    /* the thread's own default stream */
    CHECK(cuStreamBeginCapture_v2_ptsz(NULL, CU_STREAM_CAPTURE_MODE_RELAXED));
    STEP(0, cuMemAllocAsync_ptsz(&kept, 55, NULL));
    STEP(66, cuMemAllocAsync(&inside, 66, NULL)); /* the legacy stream is not captured */
    CHECK(cuStreamEndCapture_ptsz(NULL, &g));
    CHECK(cuGraphInstantiateWithFlags(&exec, g, 0));
    STEP(55, cuGraphLaunch(exec, s));
    REFUSED(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(s, &g));
}

/* A second stream joins through an event; it leaves with the end of the capture. */
static void capture_joined(void) {
    CUstream s, joined, aside;
    CUevent e, back;
    CUgraph g;
    CUgraphExec exec;
    CUdeviceptr a, b, c;
    CHECK(cuStreamCreate(&s, 1));
    CHECK(cuStreamCreate(&joined, 1));
    CHECK(cuStreamCreate(&aside, 1));
    CHECK(cuEventCreate(&e, 2));
    CHECK(cuEventCreate(&back, 2));
    CHECK(cuEventRecord(e, s)); /* before the capture: joins nothing */
    CHECK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuStreamWaitEvent(aside, e, 0));
    STEP(90, cuMemAllocAsync(&c, 90, aside));
    CHECK(cuEventRecord(e, s));
    CHECK(cuStreamWaitEvent(joined, e, 0));
    STEP(0, cuMemAllocAsync(&a, 2500, joined));
    CHECK(cuEventRecordWithFlags(back, joined, 0));
    CHECK(cuStreamWaitEvent(s, back, 0));
    STEP(0, cuMemAllocAsync(&b, 30, s));
    CHECK(cuStreamEndCapture(s, &g));
    STEP(1, cuMemAllocAsync(&c, 1, joined));
    CHECK(cuGraphInstantiateWithFlags(&exec, g, 0));
    STEP(2530, cuGraphLaunch(exec, s));
    STEP(-2500, cuMemFreeAsync(a, aside));
    /* a captured stream that is destroyed takes its capture with it */
    CHECK(cuStreamBeginCapture_v2(aside, CU_STREAM_CAPTURE_MODE_RELAXED));
    STEP(0, cuMemAllocAsync(&a, 10, aside));
    STEP(0, cuStreamDestroy_v2(aside));
    STEP(20, cuMemAllocAsync(&a, 20, s));
}

/* ---- host, sharing, objects ---- */

static void host(void) {
    static char own[1 << 16];
    void *p;
    STEP(0, cuMemHostRegister_v2(own, sizeof own, 0));
    REFUSED(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(own, 100, 0));
    STEP(0, cuMemHostUnregister(own));
    REFUSED(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own));
    STEP(0, cuMemHostRegister(own, 4096, 0));
    STEP(0, cuMemHostAlloc(&p, 9000, 0));
    STEP(0, cuMemAllocHost_v2(&p, 100));
    STEP(0, cuMemFreeHost(p));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister_v2(NULL, 10, 0));
}

static void external(void) {
    CUexternalMemory memory;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                          .size = 1 << 20};
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC b = {.size = 1 << 20};
    CUdeviceptr p;
    d.handle.fd = memfd_create("external", 0);
    EXPECT(d.handle.fd >= 0 && ftruncate(d.handle.fd, 1 << 20) == 0);
    STEP(0, cuImportExternalMemory(&memory, &d));
    STEP(0, cuExternalMemoryGetMappedBuffer(&p, memory, &b));
    STEP(0, cuMemFree_v2(p)); /* frees the mapping, nothing of ours */
    STEP(0, cuExternalMemoryGetMappedBuffer(&p, memory, &b));
    STEP(0, cuMemFree_v2(p));
    STEP(0, cuDestroyExternalMemory(memory));
    REFUSED(CUDA_ERROR_INVALID_HANDLE, cuDestroyExternalMemory(NULL));
}

static void graphics(void) {
    CUgraphicsResource r;
    STEP(0, cuGraphicsGLRegisterBuffer(&r, 7, 0));
    STEP(0, cuGraphicsMapResources(1, &r, NULL));
    STEP(0, cuGraphicsUnmapResources(1, &r, NULL));
    STEP(0, cuGraphicsUnregisterResource(r));
    STEP(0, cuGraphicsGLRegisterImage(&r, 7, 0x0de1, 0));
}

static void module(void) {
    static const char image[] = ".version 8.0\n.target sm_50\n.address_size 64\n";
    CUmodule m;
    CUlibrary l;
    STEP(0, cuModuleLoadData(&m, image));
    STEP(0, cuModuleUnload(m));
    STEP(0, cuModuleLoadDataEx(&m, image, 0, NULL, NULL));
    STEP(0, cuLibraryLoadData(&l, image, NULL, NULL, 0, NULL, NULL, 0));
    STEP(0, cuLibraryUnload(l));
    STEP(0, cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20));
}

static void green(void) {
    CUdevResource r;
    CUdevResourceDesc desc;
    CUgreenCtx g;
    CUcontext c;
    CUstream s;
    CUdeviceptr p, q;
    CHECK(cuDeviceGetDevResource(1, &r, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(cuDevResourceGenerateDesc(&desc, &r, 1));
    CHECK(cuGreenCtxCreate(&g, desc, 1, 1));
    CHECK(cuCtxFromGreenCtx(&c, g));
    CHECK(cuGreenCtxStreamCreate(&s, g, 1, 0));
    STEP(0, cuMemAllocAsync(&p, 300, s)); /* the other device's stream */
    EXPECT(vramtrace_sim_live_bytes(1) == 300);
    CHECK(cuCtxSetCurrent(c));
    STEP(0, cuMemAlloc_v2(&q, 5000));
    EXPECT(vramtrace_sim_live_bytes(1) == 5300);
    CHECK(cuCtxSetCurrent(contexts[0]));
    STEP(0, cuGreenCtxDestroy(g));
}

/* ---- bad input: the program sees what the driver answers, and the books stay right ---- */

static void bad(void) {
    CUdeviceptr p, q = 0x1234;
    size_t pitch;
    void *h;
    CUmemAllocationProp prop = PINNED;
    CUmemGenericAllocationHandle handle;
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2(NULL, 100));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2(&p, 0));
    REFUSED(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&p, SIZE_MAX));
    REFUSED(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&p, SIZE_MAX - 511));
    REFUSED(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&p, (size_t)1 << 48));
    EXPECT(q == 0x1234);
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch_v2(&p, NULL, 100, 100, 4));
    EXPECT(cuMemAllocPitch_v2(&p, &pitch, SIZE_MAX / 2, 4, 4) != CUDA_SUCCESS);
    SAME();
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&p, 0, 1));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemAllocAsync(NULL, 100, NULL));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemAllocAsync(&p, 0, NULL));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc(NULL, 100, 0));
    EXPECT(cuMemHostAlloc(&h, SIZE_MAX - 100, 0) != CUDA_SUCCESS);
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemCreate(NULL, GRANULE, &prop, 0));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, GRANULE, NULL, 0));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, 0, &prop, 0));
    prop.location.id = 99;
    REFUSED(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&handle, GRANULE, &prop, 0));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemRelease(0));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemRelease(~0ull));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(0, 0));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(~0ull - 10, 100));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemRetainAllocationHandle(&handle, &p));
    /* frees of what was never allocated, is freed already, is another call's to free */
    STEP(0, cuMemFree_v2(0));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(1));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(~0ull));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2((CUdeviceptr)(uintptr_t)&p));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(0x7fff, NULL));
    STEP(5000, cuMemAlloc_v2(&p, 5000));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(p + 512));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(p | 1ull << 63)); /* not that address */
    EXPECT(cuMemFreeHost((void *)(uintptr_t)p) != CUDA_SUCCESS);
    SAME();
    STEP(-5000, cuMemFree_v2(p));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(p));
    CHECK(cuMemHostAlloc(&h, 100, 0));
    EXPECT(cuMemFree_v2((CUdeviceptr)(uintptr_t)h) != CUDA_SUCCESS);
    SAME();
    CHECK(cuMemFreeHost(h));
    EXPECT(cuMemFreeHost(h) != CUDA_SUCCESS);
    EXPECT(cuMemFreeHost(NULL) != 12345);
    EXPECT(cuArrayDestroy((CUarray)(void *)&p) != CUDA_SUCCESS);
    EXPECT(cuGraphLaunch((CUgraphExec)(void *)&p, NULL) != CUDA_SUCCESS);
    EXPECT(cuStreamDestroy_v2((CUstream)(void *)&p) != CUDA_SUCCESS);
    EXPECT(cuMemPoolDestroy((CUmemoryPool)(void *)&p) != CUDA_SUCCESS);
    EXPECT(cuIpcCloseMemHandle(77) != CUDA_SUCCESS);
    EXPECT(cuCtxDestroy_v2(NULL) != CUDA_SUCCESS);
    SAME();
    STEP(1, cuMemAlloc_v2(&p, 1));
}

static const struct {
    const char *name;
    void (*run)(void);
} families[] = {
    {"vmm", vmm},
    {"vmm-ggml", vmm_ggml},
    {"vmm-nccl", vmm_nccl},
    {"vmm-host", vmm_host},
    {"vmm-share", vmm_share},
    {"multicast", multicast},
    {"array", array},
    {"mipmap", mipmap},
    {"pool", pool},
    {"pool-kinds", pool_kinds},
    {"graph", graph},
    {"graph-autofree", graph_autofree},
    {"graph-empty", graph_empty},
    {"capture", capture},
    {"capture-joined", capture_joined},
    {"host", host},
    {"external", external},
    {"graphics", graphics},
    {"module", module},
    {"green", green},
    {"bad", bad},
};

int main(int argc, char **argv) {
    for (size_t i = 0; argc == 1 && i < sizeof families / sizeof *families; i++)
        puts(families[i].name);
    for (size_t i = 0; argc == 2 && i < sizeof families / sizeof *families; i++) {
        if (strcmp(argv[1], families[i].name) != 0)
            continue;
        start();
        families[i].run();
        for (int device = 0; device < 2; device++)
            for (int kind = 0; kind < VRAMTRACE_SIM_KINDS; kind++)
                printf("%d %d %ju %ju\n", device, kind,
                       (uintmax_t)vramtrace_sim_kind_bytes(device, kind),
                       (uintmax_t)vramtrace_sim_kind_count(device, kind));
        return 0;
    }
    return argc != 1;
}
