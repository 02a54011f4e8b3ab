/* SPDX-License-Identifier: MIT */
/*
 * The other ways to device memory on the simulated driver: virtual memory management, pools, graphs
 * and capture, arrays, sharing between processes. In each, the driver's own count and cuMemGetInfo
 * rise and fall together.
 */
#include "sim_test.h"

/* clang-format off */
CUresult cuMemCreate(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
CUresult cuMemRelease(CUmemGenericAllocationHandle);
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *, void *);
CUresult cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
CUresult cuMemAddressFree(CUdeviceptr, size_t);
CUresult cuMemMap(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long);
CUresult cuMemUnmap(CUdeviceptr, size_t);
CUresult cuMemSetAccess(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
CUresult cuMemExportToShareableHandle(void *, CUmemGenericAllocationHandle, CUmemAllocationHandleType, unsigned long long);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *, void *, CUmemAllocationHandleType);
CUresult cuIpcGetMemHandle(CUipcMemHandle *, CUdeviceptr);
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *, CUipcMemHandle, unsigned int);
CUresult cuIpcCloseMemHandle(CUdeviceptr);
CUresult cuGraphCreate(CUgraph *, unsigned int);
CUresult cuGraphDestroy(CUgraph);
CUresult cuGraphAddMemAllocNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUDA_MEM_ALLOC_NODE_PARAMS *);
CUresult cuGraphAddMemFreeNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUdeviceptr);
CUresult cuGraphGetNodes(CUgraph, CUgraphNode *, size_t *);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long);
CUresult cuGraphLaunch(CUgraphExec, CUstream);
CUresult cuGraphExecDestroy(CUgraphExec);
CUresult cuDeviceGraphMemTrim(CUdevice);
CUresult cuDeviceGetGraphMemAttribute(CUdevice, CUgraphMem_attribute, void *);
CUresult cuArray3DCreate_v2(CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *);
CUresult cuArrayDestroy(CUarray);
CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *, CUarray, CUdevice);
CUresult cuMipmappedArrayCreate(CUmipmappedArray *, const CUDA_ARRAY3D_DESCRIPTOR *, unsigned int);
CUresult cuMipmappedArrayGetLevel(CUarray *, CUmipmappedArray, unsigned int);
CUresult cuMipmappedArrayDestroy(CUmipmappedArray);
/* clang-format on */

#define GRANULE (2 * MIB)

static const CUmemAllocationProp on_device = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                              .requestedHandleTypes =
                                                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                              .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
static const CUmemAccessDesc read_write = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                                           .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static size_t physical(void) {
    return (size_t)vramtrace_sim_kind_bytes(0, VRAMTRACE_SIM_PHYSICAL);
}

static void references_body(void) {
    CUmemGenericAllocationHandle handle, again;
    CUdeviceptr at;
    char in[100], out[100] = "";
    new_context(0);
    memset(in, 'v', sizeof in);
    OK(cuMemAddressReserve(&at, 64 * GIB, 0, 0, 0)); /* addresses are not memory */
    EXPECT(available() == 24 * GIB && physical() == 0 && at % GRANULE == 0);
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, GRANULE + 1, &on_device, 0));
    OK(cuMemCreate(&handle, 2 * GRANULE, &on_device, 0));
    EXPECT(available() == 24 * GIB - 2 * GRANULE && physical() == 2 * GRANULE);
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemMap(at + 1, GRANULE, 0, handle, 0));
    OK(cuMemMap(at, 2 * GRANULE, 0, handle, 0));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemMap(at, GRANULE, 0, handle, 0)); /* taken */
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(at, in, sizeof in));  /* no access yet */
    OK(cuMemSetAccess(at, 2 * GRANULE, &read_write, 1));
    OK(cuMemcpyHtoD_v2(at + GRANULE, in, sizeof in));
    /* The same memory at another address: counted once. */
    OK(cuMemMap(at + GIB, GRANULE, GRANULE, handle, 0));
    OK(cuMemSetAccess(at + GIB, GRANULE, &read_write, 1));
    OK(cuMemcpyDtoH_v2(out, at + GIB, sizeof out));
    EXPECT(memcmp(in, out, sizeof in) == 0 && physical() == 2 * GRANULE);
    /* NCCL's order: retain, release, unmap, release. */
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(at + 5)));
    EXPECT(again == handle);
    OK(cuMemRelease(handle));
    OK(cuMemUnmap(at, 2 * GRANULE));
    OK(cuMemRelease(handle));
    EXPECT(physical() == 2 * GRANULE); /* the second mapping holds it */
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemRelease(handle));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(at, 64 * GIB));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(at + GIB, GRANULE / 2));
    OK(cuMemUnmap(at + GIB, GRANULE));
    EXPECT(physical() == 0 && available() == 24 * GIB);
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(at, GIB));
    OK(cuMemAddressFree(at, 64 * GIB));
    /* llama.cpp's order: release at once, unmap later. */
    OK(cuMemAddressReserve(&at, GRANULE, 0, 0, 0));
    OK(cuMemCreate(&handle, GRANULE, &on_device, 0));
    OK(cuMemMap(at, GRANULE, 0, handle, 0));
    OK(cuMemRelease(handle));
    EXPECT(physical() == GRANULE);
    CUcontext context;
    OK(cuCtxGetCurrent(&context));
    OK(cuCtxDestroy_v2(context)); /* is none of its business */
    EXPECT(physical() == GRANULE);
    OK(cuMemUnmap(at, GRANULE));
    EXPECT(physical() == 0);
}

static void references(void **state) {
    (void)state;
    in_child(NULL, references_body);
}

static void many_handles_body(void) {
    static CUmemGenericAllocationHandle handles[3000]; /* more than there are file descriptors */
    CUdeviceptr at;
    new_context(0);
    OK(cuMemAddressReserve(&at, 3000 * GRANULE, 0, 0, 0));
    for (int i = 0; i < 3000; i++) {
        OK(cuMemCreate(&handles[i], GRANULE, &on_device, 0));
        OK(cuMemMap(at + (size_t)i * GRANULE, GRANULE, 0, handles[i], 0));
    }
    OK(cuMemSetAccess(at, 3000 * GRANULE, &read_write, 1));
    OK(cuMemsetD8_v2(at + GRANULE - 50, 1, 100)); /* across an edge */
    EXPECT(physical() == 3000 * GRANULE);
    OK(cuMemUnmap(at, 3000 * GRANULE));
    for (int i = 0; i < 3000; i++)
        OK(cuMemRelease(handles[i]));
    EXPECT(physical() == 0 && vramtrace_sim_live_count(0) == 0);
}

static void many_handles(void **state) {
    (void)state;
    in_child(NULL, many_handles_body);
}

/* ---- between processes ---- */

static void sharing_body(void) {
    int to_child[2], to_parent[2];
    CUmemGenericAllocationHandle handle;
    CUipcMemHandle ipc;
    CUdeviceptr at, linear;
    char byte = 0;
    EXPECT(pipe(to_child) == 0 && pipe(to_parent) == 0);
    int file = -1;
    /* The child must not inherit CUDA, so it is made first; the file reaches it through /proc. */
    pid_t child = fork();
    if (child == 0) {
        char path[64];
        struct {
            int file;
            CUipcMemHandle ipc;
        } told;
        EXPECT(read(to_child[0], &told, sizeof told) == (ssize_t)sizeof told);
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getppid(), told.file);
        FILE *opened = fopen(path, "r+");
        EXPECT(opened != NULL);
        new_context(0);
        OK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fileno(opened),
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
        OK(cuMemAddressReserve(&at, GRANULE, 0, 0, 0));
        OK(cuMemMap(at, GRANULE, 0, handle, 0));
        OK(cuMemSetAccess(at, GRANULE, &read_write, 1));
        OK(cuMemcpyDtoH_v2(&byte, at + 77, 1));
        EXPECT(byte == 'p');
        OK(cuMemsetD8_v2(at + 78, 'c', 1));
        CUdeviceptr opened_at, again;
        OK(cuIpcOpenMemHandle_v2(&opened_at, told.ipc, 0));
        OK(cuIpcOpenMemHandle_v2(&again, told.ipc, 0));
        EXPECT(opened_at == again);
        ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(opened_at));
        EXPECT(vramtrace_sim_live_bytes(-1) == 0 && available() == 24 * GIB);
        EXPECT(vramtrace_sim_kind_bytes(0, VRAMTRACE_SIM_IMPORTED) == GRANULE + 12345);
        OK(cuIpcCloseMemHandle(opened_at));
        OK(cuIpcCloseMemHandle(opened_at));
        ANSWERS(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(opened_at));
        OK(cuMemUnmap(at, GRANULE));
        OK(cuMemRelease(handle));
        EXPECT(vramtrace_sim_kind_bytes(0, VRAMTRACE_SIM_IMPORTED) == 0);
        EXPECT(write(to_parent[1], &byte, 1) == 1);
        _exit(0);
    }
    new_context(0);
    OK(cuMemCreate(&handle, GRANULE, &on_device, 0));
    OK(cuMemAddressReserve(&at, GRANULE, 0, 0, 0));
    OK(cuMemMap(at, GRANULE, 0, handle, 0));
    OK(cuMemSetAccess(at, GRANULE, &read_write, 1));
    OK(cuMemsetD8_v2(at + 77, 'p', 1));
    OK(cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    OK(cuMemAlloc_v2(&linear, 12345));
    OK(cuIpcGetMemHandle(&ipc, linear));
    ANSWERS(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle_v2(&at, ipc, 0)); /* our own */
    struct {
        int file;
        CUipcMemHandle ipc;
    } tell = {file, ipc};
    EXPECT(write(to_child[1], &tell, sizeof tell) == (ssize_t)sizeof tell);
    close(to_parent[1]);
    EXPECT(read(to_parent[0], &byte, 1) == 1);
    int status;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    OK(cuMemcpyDtoH_v2(&byte, at + 78, 1));
    EXPECT(byte == 'c' && physical() == GRANULE);
    /* Imported again by ourselves it is the same memory, and one more reference. */
    CUmemGenericAllocationHandle again;
    OK(cuMemImportFromShareableHandle(&again, (void *)(intptr_t)file,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    OK(cuMemRelease(handle));
    OK(cuMemUnmap(at, GRANULE));
    EXPECT(physical() == GRANULE);
    OK(cuMemRelease(again));
    EXPECT(physical() == 0);
}

static void sharing(void **state) {
    (void)state;
    in_child(NULL, sharing_body);
}

/* ---- pools ---- */

static cuuint64_t attribute(CUmemoryPool pool, CUmemPool_attribute which) {
    cuuint64_t value;
    OK(cuMemPoolGetAttribute(pool, which, &value));
    return value;
}

static void pools_body(void) {
    CUmemoryPool pool, standard;
    CUdeviceptr a, b;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    cuuint64_t keep = GIB;
    new_context(0);
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemAllocFromPoolAsync(&a, 1000, pool, NULL));
    OK(cuMemAllocFromPoolAsync(&b, 3 * MIB, pool, NULL));
    EXPECT(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 3 * MIB + 1000);
    EXPECT(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 2 * GRANULE);
    EXPECT(vramtrace_sim_live_bytes(0) == 3 * MIB + 1000); /* allocations from the pool */
    EXPECT(available() == 24 * GIB - 2 * GRANULE);         /* the pool's reserve */
    OK(cuMemFreeAsync(b, NULL));
    EXPECT(available() == 24 * GIB - 2 * GRANULE);
    OK(cuStreamSynchronize(NULL));
    EXPECT(available() == 24 * GIB - GRANULE);
    OK(cuMemPoolDestroy(pool)); /* with something live in it */
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&b, 1, pool, NULL));
    EXPECT(vramtrace_sim_live_bytes(0) == 1000);
    OK(cuMemFree_v2(a)); /* the plain free also accepts it */
    EXPECT(available() == 24 * GIB && vramtrace_sim_live_bytes(0) == 0);

    OK(cuDeviceGetDefaultMemPool(&standard, 0));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(standard));
    OK(cuMemPoolSetAttribute(standard, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    OK(cuMemAllocAsync(&a, 100 * MIB, NULL));
    OK(cuMemFreeAsync(a, NULL));
    OK(cuCtxSynchronize());
    EXPECT(available() == 24 * GIB - 100 * MIB); /* below the threshold: kept */
    OK(cuMemPoolTrimTo(standard, 10 * MIB));
    EXPECT(available() == 24 * GIB - 10 * MIB);
    OK(cuMemAlloc_v2(&a, 24 * GIB)); /* needs the idle reserve */
    ANSWERS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocAsync(&b, 1, NULL));
    EXPECT(available() == 0);
}

static void pools(void **state) {
    (void)state;
    in_child(NULL, pools_body);
}

/* ---- graphs ---- */

static size_t graph_bytes(void) {
    return (size_t)vramtrace_sim_kind_bytes(0, VRAMTRACE_SIM_GRAPH);
}

static void graphs_body(void) {
    CUgraph graph;
    CUgraphNode alloc, freed;
    CUgraphExec exec, automatic;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = 3 * MIB};
    cuuint64_t reserved;
    new_context(0);
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
    EXPECT(params.dptr != 0 && graph_bytes() == 0); /* an address, no memory */
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(params.dptr, 0, 1));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    EXPECT(graph_bytes() == 3 * MIB && vramtrace_sim_live_bytes(0) == 3 * MIB);
    OK(cuMemsetD8_v2(params.dptr, 0, 3 * MIB));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, NULL)); /* not freed yet */
    OK(cuMemFreeAsync(params.dptr, NULL));
    EXPECT(graph_bytes() == 0 && available() == 24 * GIB - 2 * GRANULE);
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved));
    EXPECT(reserved == 2 * GRANULE);
    OK(cuDeviceGraphMemTrim(0));
    EXPECT(available() == 24 * GIB);

    OK(cuGraphInstantiateWithFlags(&automatic, graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    for (int i = 0; i < 5; i++)
        OK(cuGraphLaunch(automatic, NULL));
    EXPECT(graph_bytes() == 3 * MIB); /* each launch frees the last one's */
    OK(cuGraphExecDestroy(automatic));
    OK(cuGraphDestroy(graph));
    EXPECT(graph_bytes() == 3 * MIB); /* allocations outlive both */
    OK(cuMemFree_v2(params.dptr));
    EXPECT(graph_bytes() == 0);
    OK(cuGraphExecDestroy(exec));

    OK(cuGraphCreate(&graph, 0)); /* alloc and free in one graph: nothing stays */
    OK(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
    OK(cuGraphAddMemFreeNode(&freed, graph, &alloc, 1, params.dptr));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        OK(cuGraphLaunch(exec, NULL));
    EXPECT(graph_bytes() == 0);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void graphs(void **state) {
    (void)state;
    in_child(NULL, graphs_body);
}

static void capture_body(void) {
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr a, target;
    size_t nodes = 0;
    unsigned char out[4] = {0};
    new_context(0);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc_v2(&target, 4));
    OK(cuMemsetD8_v2(target, 1, 4));
    ANSWERS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemAllocAsync(&a, MIB, stream));
    EXPECT(vramtrace_sim_live_bytes(0) == 4); /* a node, no memory */
    OK(cuMemcpyHtoDAsync_v2(target, "abc", 4, stream));
    OK(cuMemcpyDtoH_v2(out, target, 4));
    EXPECT(out[0] == 1); /* not done yet */
    OK(cuMemFreeAsync(a, stream));
    ANSWERS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, NULL, &nodes));
    EXPECT(nodes == 3);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuMemcpyDtoH_v2(out, target, 4));
    EXPECT(memcmp(out, "abc", 4) == 0 && vramtrace_sim_live_bytes(0) == 4);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy_v2(stream));
}

static void capture(void **state) {
    (void)state;
    in_child(NULL, capture_body);
}

/* ---- arrays ---- */

static void arrays_body(void) {
    CUDA_ARRAY3D_DESCRIPTOR flat = {
        .Width = 100, .Height = 50, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 4};
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
    CUarray array, level;
    CUmipmappedArray chain;
    static float in[50][400], out[50][400];
    new_context(0);
    for (int i = 0; i < 50 * 400; i++)
        in[i / 400][i % 400] = (float)i;
    OK(cuArray3DCreate_v2(&array, &flat));
    EXPECT(vramtrace_sim_kind_bytes(0, VRAMTRACE_SIM_ARRAY) == 100 * 50 * 16);
    EXPECT(24 * GIB - available() >= 100 * 50 * 16); /* and padding */
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuArrayGetMemoryRequirements(&needs, array, 0));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = in,
                          .srcPitch = sizeof in[0],
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = sizeof in[0],
                          .Height = 50};
    OK(cuMemcpy2D_v2(&copy));
    OK(cuMemcpy2D_v2(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                      .srcArray = array,
                                      .dstMemoryType = CU_MEMORYTYPE_HOST,
                                      .dstHost = out,
                                      .dstPitch = sizeof out[0],
                                      .WidthInBytes = sizeof out[0],
                                      .Height = 50}));
    EXPECT(memcmp(in, out, sizeof in) == 0);
    copy.Height = 51;
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&copy));
    OK(cuArrayDestroy(array));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
    EXPECT(available() == 24 * GIB);

    flat.Flags = CUDA_ARRAY3D_DEFERRED_MAPPING;
    OK(cuArray3DCreate_v2(&array, &flat));
    EXPECT(available() == 24 * GIB && vramtrace_sim_live_count(0) == 0);
    OK(cuArrayGetMemoryRequirements(&needs, array, 0));
    EXPECT(needs.size >= 100 * 50 * 16 && needs.size % needs.alignment == 0);
    OK(cuArrayDestroy(array));

    CUDA_ARRAY3D_DESCRIPTOR pyramid = {
        .Width = 64, .Height = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    OK(cuMipmappedArrayCreate(&chain, &pyramid, 99)); /* as many levels as there are: 7 */
    EXPECT(vramtrace_sim_kind_bytes(0, VRAMTRACE_SIM_ARRAY) == 4096 + 1024 + 256 + 64 + 16 + 4 + 1);
    EXPECT(vramtrace_sim_kind_count(0, VRAMTRACE_SIM_ARRAY) == 1);
    OK(cuMipmappedArrayGetLevel(&level, chain, 6));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&level, chain, 7));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(level)); /* goes with its chain */
    OK(cuMipmappedArrayDestroy(chain));
    EXPECT(available() == 24 * GIB && vramtrace_sim_live_bytes(0) == 0);
}

static void arrays(void **state) {
    (void)state;
    in_child(NULL, arrays_body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references), cmocka_unit_test(many_handles), cmocka_unit_test(sharing),
        cmocka_unit_test(pools),      cmocka_unit_test(graphs),       cmocka_unit_test(capture),
        cmocka_unit_test(arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
