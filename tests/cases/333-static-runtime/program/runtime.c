/* SPDX-License-Identifier: MIT */
/*
 * Stands for NVIDIA's static runtime: its functions' names, all but the API's, are libcudart_static_ and 40 digits, and
 * `run` compiles it without debug information. The real one needs a real driver.
 */
#include "vramtrace/cuda_abi_driver.h"

#define NAMED(digits) __asm__("libcudart_static_" digits) __attribute__((noinline, used))

int ask_driver(void **p, size_t bytes) NAMED("5382377d5c772c9d197c0cda9fd9742ee6ad893c");
int take(void **p, size_t bytes) NAMED("f74e2f2bcf2cf0123456789abcdef0123456789a");
int cudaMalloc(void **p, size_t bytes);
int cudaFree(void *p);

static volatile int
    result; /* stored after each call, so that none becomes a jump: each function has its frame */

static int start(void) {
    CUcontext context;
    result = (int)cuInit(0);
    if (!result)
        result = (int)cuDevicePrimaryCtxRetain(&context, 0);
    return result ? result : (int)cuCtxSetCurrent(context);
}

int ask_driver(void **p, size_t bytes) {
    CUdeviceptr address = 0;
    result = (int)cuMemAlloc_v2(&address, bytes);
    *p = (void *)address;
    return result;
}

int take(void **p, size_t bytes) {
    static int started;
    if (!started++)
        start();
    result = ask_driver(p, bytes);
    return result;
}

int cudaMalloc(void **p, size_t bytes) {
    result = take(p, bytes);
    return result;
}

int cudaFree(void *p) {
    result = (int)cuMemFree_v2((CUdeviceptr)p);
    return result;
}
