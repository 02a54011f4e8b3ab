/* SPDX-License-Identifier: MIT */
/* two: memory shared with another process, which is this program again (two HANDLE); and a forked
 * child, which has none of its parent's memory and whose frees fail. */
#define _GNU_SOURCE
#include "../300-families/families.h"

#include <sys/wait.h>
#include <unistd.h>

static char *to_text(const void *bytes, size_t size, char *text) {
    for (size_t i = 0; i < size; i++)
        sprintf(text + 2 * i, "%02x", ((const unsigned char *)bytes)[i]);
    return text;
}

static void from_text(const char *text, void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned byte = 0;
        sscanf(text + 2 * i, "%2x", &byte);
        ((unsigned char *)bytes)[i] = (unsigned char)byte;
    }
}

/* The other process: what it opens is not its own. */
static int importer(const char *handle, const char *file) {
    CUipcMemHandle ipc;
    CUmemGenericAllocationHandle h;
    CUdeviceptr p, again, va;
    start_cuda();
    from_text(handle, &ipc, sizeof ipc);
    STEP(0, cuIpcOpenMemHandle_v2(&p, ipc, 1));
    STEP(0, cuIpcCloseMemHandle(p));
    STEP(0, cuIpcOpenMemHandle(&p, ipc, 1));
    STEP(0, cuMemImportFromShareableHandle(&h, (void *)(intptr_t)atoi(file),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    CHECK(cuMemAddressReserve(&va, 4 * GRANULE, 0, 0, 0));
    STEP(0, cuMemMap(va, GRANULE, 0, h, 0));
    STEP(0, cuMemRelease(h));
    STEP(0, cuMemUnmap(va, GRANULE));
    STEP(400, cuMemAlloc_v2(&again, 400)); /* its own */
    return 0;
}

/* Every free of what the parent has answers an error, and changes nothing. */
static void child(CUdeviceptr p, CUmemGenericAllocationHandle h, CUarray a, CUdeviceptr va,
                  CUgraphExec exec, void *host) {
    int refused = 0;
    refused += cuMemFree_v2(p) != CUDA_SUCCESS;
    refused += cuMemFreeAsync(p, NULL) != CUDA_SUCCESS;
    refused += cuMemRelease(h) != CUDA_SUCCESS;
    refused += cuMemUnmap(va, GRANULE) != CUDA_SUCCESS;
    refused += cuArrayDestroy(a) != CUDA_SUCCESS;
    refused += cuGraphLaunch(exec, NULL) != CUDA_SUCCESS;
    refused += cuGraphExecDestroy(exec) != CUDA_SUCCESS;
    refused += cuMemFreeHost(host) != CUDA_SUCCESS;
    refused += cuMemAlloc_v2(&p, 1000) != CUDA_SUCCESS;
    refused += cuDevicePrimaryCtxReset_v2(0) != CUDA_SUCCESS;
    _exit(refused == 10 && vramtrace_live_bytes(-1) == 0 ? 0 : 1);
}

int main(int argc, char **argv) {
    if (argc == 3)
        return importer(argv[1], argv[2]);
    CUmemAllocationProp prop = PINNED;
    CUmemGenericAllocationHandle h;
    CUdeviceptr p, va;
    CUarray a;
    CUgraph g;
    CUgraphNode n;
    CUgraphExec exec;
    CUipcMemHandle ipc;
    void *host;
    int file, status;
    char text[2 * sizeof ipc + 1], number[16];
    CUDA_MEM_ALLOC_NODE_PARAMS node = {.poolProps = PINNED_POOL, .bytesize = 600};
    CUDA_ARRAY_DESCRIPTOR d = {.Width = 100, .Format = CU_AD_FORMAT_HALF, .NumChannels = 1};
    start_cuda();
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CHECK(cuMemAlloc_v2(&p, 5 << 20));
    CHECK(cuMemCreate(&h, GRANULE, &prop, 0));
    CHECK(cuMemAddressReserve(&va, GRANULE, 0, 0, 0));
    CHECK(cuMemMap(va, GRANULE, 0, h, 0));
    CHECK(cuArrayCreate_v2(&a, &d));
    CHECK(cuMemHostAlloc(&host, 100, 0));
    CHECK(cuGraphCreate(&g, 0));
    CHECK(cuGraphAddMemAllocNode(&n, g, NULL, 0, &node));
    CHECK(cuGraphInstantiateWithFlags(&exec, g, 0));
    CHECK(cuIpcGetMemHandle(&ipc, p));
    CHECK(cuMemExportToShareableHandle(&file, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    SAME();
    pid_t forked = fork();
    if (forked == 0)
        child(p, h, a, va, exec, host);
    EXPECT(waitpid(forked, &status, 0) == forked && status == 0);
    STEP(600, cuGraphLaunch(exec, NULL));
    STEP(-600, cuMemFree_v2(node.dptr));
    STEP(-200, cuArrayDestroy(a));
    int passed = dup(file); /* without close-on-exec */
    snprintf(number, sizeof number, "%d", passed);
    pid_t other = fork();
    if (other == 0) {
        execl("/proc/self/exe", argv[0], to_text(&ipc, sizeof ipc, text), number, (char *)NULL);
        _exit(2);
    }
    EXPECT(waitpid(other, &status, 0) == other && status == 0);
    STEP(0, cuMemRelease(h));
    STEP(-(long long)GRANULE, cuMemUnmap(va, GRANULE));
    printf("%llu\n", (unsigned long long)vramtrace_sim_live_bytes(0));
    return 0;
}
