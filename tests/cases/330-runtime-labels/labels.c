/* SPDX-License-Identifier: MIT */
/* labels RUNTIME...: the runtime's functions of every family, of each runtime named (12, 13), found
 * by dlsym in a library opened RTLD_LOCAL: several runtimes live in this process at once. */
#include "vramtrace.h"
#include "../tests/sim/cuda_abi_sim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *runtime;
static unsigned major;

static void *find(const char *name) {
    void *found = dlsym(runtime, name);
    if (!found) {
        fprintf(stderr, "no %s in runtime %u\n", name, major);
        exit(90);
    }
    return found;
}

static void check(int result, const char *what) {
    if (result != 0) {
        fprintf(stderr, "runtime %u: %s: answered %d\n", major, what, result);
        exit(91);
    }
}
#define CALL(name, types, ...) check(((int(*) types)find(#name))(__VA_ARGS__), #name)

static void arrays(void) {
    cudaArray_t a;
    cudaMipmappedArray_t m;
    struct cudaChannelFormatDesc f = {.x = 32, .f = cudaChannelFormatKindFloat};
    struct cudaExtent e = {16, 8, 4};
    CALL(cudaMallocArray, (cudaArray_t *, void *, size_t, size_t, unsigned), &a, &f, 100, 10, 0);
    CALL(cudaFreeArray, (cudaArray_t), a);
    CALL(cudaMalloc3DArray, (cudaArray_t *, void *, struct cudaExtent, unsigned), &a, &f, e, 0);
    CALL(cudaMallocMipmappedArray,
         (cudaMipmappedArray_t *, void *, struct cudaExtent, unsigned, unsigned), &m, &f, e, 2, 0);
    CALL(cudaFreeMipmappedArray, (cudaMipmappedArray_t), m);
}

static void host(void) {
    static char own[2][8192];
    CALL(cudaHostRegister, (void *, size_t, unsigned), own[major & 1], sizeof own[0], 0);
    CALL(cudaHostUnregister, (void *), own[major & 1]);
}

static void graphs(void) {
    cudaGraph_t g;
    cudaGraphNode_t n;
    cudaGraphExec_t exec;
    struct cudaMemAllocNodeParams p = {
        .poolProps = {.allocType = cudaMemAllocationTypePinned,
                      .location = {.type = cudaMemLocationTypeDevice}},
        .bytesize = 3000};
    struct cudaGraphNodeParams any = {.type = cudaGraphNodeTypeMemAlloc};
    CALL(cudaGraphCreate, (cudaGraph_t *, unsigned), &g, 0);
    CALL(cudaGraphAddMemAllocNode, (cudaGraphNode_t *, cudaGraph_t, void *, size_t, void *), &n, g,
         NULL, 0, &p);
    memcpy(&any.alloc, &p, sizeof p);
    any.alloc.bytesize = 500;
    /* One name, two prototypes: CUDA 13's takes edge data. */
    if (major == 12)
        CALL(cudaGraphAddNode, (cudaGraphNode_t *, cudaGraph_t, void *, size_t, void *), &n, g,
             NULL, 0, &any);
    else
        CALL(cudaGraphAddNode, (cudaGraphNode_t *, cudaGraph_t, void *, void *, size_t, void *), &n,
             g, NULL, NULL, 0, &any);
    CALL(cudaGraphInstantiate, (cudaGraphExec_t *, cudaGraph_t, unsigned long long), &exec, g, 0);
    CALL(cudaGraphLaunch, (cudaGraphExec_t, cudaStream_t), exec, NULL);
    CALL(cudaFreeAsync, (void *, cudaStream_t), any.alloc.dptr, NULL);
    CALL(cudaGraphExecDestroy, (cudaGraphExec_t), exec);
    CALL(cudaGraphDestroy, (cudaGraph_t), g); /* 3000 bytes stay */
}

static void capture(void) {
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    void *p, *q;
    CALL(cudaStreamCreateWithFlags, (cudaStream_t *, unsigned), &s, 1);
    CALL(cudaStreamBeginCapture, (cudaStream_t, int), s, 2);
    CALL(cudaMallocAsync, (void **, size_t, cudaStream_t), &p, 777, s);
    CALL(cudaMallocAsync, (void **, size_t, cudaStream_t), &q, 88, s);
    CALL(cudaFreeAsync, (void *, cudaStream_t), q, s);
    CALL(cudaStreamEndCapture, (cudaStream_t, cudaGraph_t *), s, &g);
    CALL(cudaGraphInstantiateWithFlags, (cudaGraphExec_t *, cudaGraph_t, unsigned long long), &exec,
         g, 0);
    CALL(cudaGraphLaunch, (cudaGraphExec_t, cudaStream_t), exec, s);
}

static void pools(void) {
    cudaMemPool_t pool;
    void *p;
    struct cudaMemPoolProps props = {.allocType = cudaMemAllocationTypePinned,
                                     .location = {.type = cudaMemLocationTypeDevice}};
    CALL(cudaMemPoolCreate, (cudaMemPool_t *, void *), &pool, &props);
    CALL(cudaMallocFromPoolAsync, (void **, size_t, cudaMemPool_t, cudaStream_t), &p, 4321, pool,
         NULL);
    CALL(cudaMemPoolDestroy, (cudaMemPool_t), pool);
}

static void objects(void) {
    cudaLibrary_t l;
    CALL(cudaLibraryLoadData,
         (cudaLibrary_t *, const void *, void *, void **, unsigned, void *, void **, unsigned), &l,
         ".version 8.0\n.target sm_50\n.address_size 64\n", NULL, NULL, 0, NULL, NULL, 0);
    CALL(cudaDeviceSetLimit, (int, size_t), cudaLimitMallocHeapSize, 32 << 20);
    CALL(cudaLibraryUnload, (cudaLibrary_t), l);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        char name[32];
        major = (unsigned)atoi(argv[i]);
        snprintf(name, sizeof name, "libcudart.so.%u", major);
        runtime = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (!runtime) {
            fprintf(stderr, "%s\n", dlerror());
            return 92;
        }
        arrays();
        host();
        graphs();
        capture();
        pools();
        objects();
        printf("%u: %lld\n", major, (long long)vramtrace_live_bytes(0));
    }
    return 0;
}
