/* SPDX-License-Identifier: MIT */
/*
 * A leak in C, through the CUDA driver: a small cache of tiles that forgets to free the tile it
 * throws out.
 *
 *   cc -g leak_driver.c -o leak_driver -lcuda
 *   vramtrace run ./leak_driver && vramtrace report
 *
 * Without an NVIDIA driver: link with -L build/sim -l:libcuda.so.1, and run with
 * `vramtrace run --sim`.
 */
#include <stdio.h>
#include <stdlib.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#else /* what this program needs of it */
typedef int CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef unsigned long long CUdeviceptr;
#define CUDA_SUCCESS 0
#define cuMemAlloc   cuMemAlloc_v2
#define cuMemFree    cuMemFree_v2
CUresult cuInit(unsigned int flags);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes);
CUresult cuMemFree(CUdeviceptr address);
#endif

enum { TILES = 100, SLOTS = 8, TILE_BYTES = 1024 * 1024 };

static struct {
    int tile; /* -1: the slot is empty */
    CUdeviceptr memory;
} cache[SLOTS];

static void check(CUresult result, const char *what) {
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "%s: CUDA error %d\n", what, (int)result);
        exit(1);
    }
}

static CUdeviceptr load_tile(void) {
    CUdeviceptr memory;

    check(cuMemAlloc(&memory, TILE_BYTES), "cuMemAlloc");
    return memory;
}

static CUdeviceptr get_tile(int tile) {
    int slot = tile % SLOTS;

    if (cache[slot].tile != tile) {
        cache[slot].tile = tile;
        cache[slot].memory = load_tile(); /* the bug: what was in the slot is not freed */
    }
    return cache[slot].memory;
}

int main(void) {
    CUdevice device;
    CUcontext context;

    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");

    for (int slot = 0; slot < SLOTS; slot++)
        cache[slot].tile = -1;
    for (int tile = 0; tile < TILES; tile++)
        get_tile(tile);
    for (int slot = 0; slot < SLOTS; slot++)
        check(cuMemFree(cache[slot].memory), "cuMemFree");
    printf("%d tiles shown\n", TILES);
    return 0;
}
