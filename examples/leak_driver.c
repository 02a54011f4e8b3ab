/* SPDX-License-Identifier: MIT */
/*
 * A program with a leak of GPU memory, through the CUDA driver: something to try vramtrace on.
 *
 *     cc -g examples/leak_driver.c -o leak_driver -I/usr/local/cuda/include -lcuda
 *     vramtrace run ./leak_driver && vramtrace report
 *
 * Without a GPU, on the simulated one:
 *
 *     cc -g examples/leak_driver.c -o leak_driver -L build/sim -lcuda
 *     vramtrace run --sim ./leak_driver && vramtrace report
 *
 * It answers requests from a cache of limited size, and one kind of request bypasses the cache.
 */
#include <stdio.h>
#include <stdlib.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#else /* no CUDA toolkit on this machine: what we need, under the driver's present names */
typedef int CUresult, CUdevice;
typedef struct CUctx_st *CUcontext;
typedef unsigned long long CUdeviceptr;
enum { CUDA_SUCCESS };
#define cuMemAlloc cuMemAlloc_v2
#define cuMemFree  cuMemFree_v2
CUresult cuInit(unsigned int flags);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes);
CUresult cuMemFree(CUdeviceptr address);
CUresult cuGetErrorName(CUresult error, const char **name);
#endif

#define ENTRY_BYTES   ((size_t)2 << 20)
#define CACHE_ENTRIES 8

static void check(CUresult error, const char *what) {
    const char *name = "?";
    if (error == CUDA_SUCCESS)
        return;
    cuGetErrorName(error, &name);
    fprintf(stderr, "%s: %s\n", what, name);
    exit(1);
}

static CUdeviceptr cache[CACHE_ENTRIES];

static CUdeviceptr load_entry(void) {
    CUdeviceptr entry;
    check(cuMemAlloc(&entry, ENTRY_BYTES), "cuMemAlloc");
    return entry;
}

/* A new entry replaces the one in its slot: the cache never grows. */
static void answer_cached(int key) {
    CUdeviceptr *place = &cache[key % CACHE_ENTRIES];
    if (*place != 0)
        check(cuMemFree(*place), "cuMemFree");
    *place = load_entry();
}

/* The caller is supposed to free entries that must not be cached. */
static CUdeviceptr answer_uncached(void) {
    return load_entry();
}

static void serve(int request) {
    if (request % 5 == 0)
        answer_uncached(); /* the leak: nobody keeps the result */
    else
        answer_cached(request);
}

int main(int argc, char **argv) {
    int requests = argc > 1 ? atoi(argv[1]) : 100;
    CUdevice device;
    CUcontext context;
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    for (int request = 0; request < requests; request++)
        serve(request);
    for (int i = 0; i < CACHE_ENTRIES; i++) {
        if (cache[i] != 0)
            check(cuMemFree(cache[i]), "cuMemFree");
    }
    printf("%d requests\n", requests);
    return 0;
}
