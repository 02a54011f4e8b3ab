/* SPDX-License-Identifier: MIT */
/* Asks for nothing, in every way in which the runtime answers that with success and NULL, often;
 * frees it or not. Nothing here leaks. */
#include "../tests/sim/cuda_abi_sim.h"

#include <stdio.h>
#include <stdlib.h>

#define VT_RUNTIME(id, symbol, since, until, role, prototype) cudaError_t symbol prototype;
#include "vramtrace/hooks.def"

static void check(cudaError_t result, const void *pointer, const char *what) {
    if (result != cudaSuccess || pointer != NULL) {
        fprintf(stderr, "%s: answered %d and %p\n", what, (int)result, pointer);
        exit(99);
    }
}
#define NOTHING(call, pointer)                                                                     \
    do { /* the pointer is read after the call */                                                  \
        cudaError_t result = call;                                                                 \
        check(result, pointer, #call);                                                             \
    } while (0)

int main(void) {
    void *p;
    size_t pitch;
    struct cudaPitchedPtr pitched;
    for (int i = 0; i < 200; i++) {
        NOTHING(cudaMalloc(&p, 0), p);
        NOTHING(cudaFree(p), p);
        NOTHING(cudaMallocPitch(&p, &pitch, 0, 16), p);
        NOTHING(cudaMallocPitch(&p, &pitch, 16, 0), p);
        NOTHING(cudaMalloc3D(&pitched, (struct cudaExtent){0, 4, 4}), pitched.ptr);
        NOTHING(cudaHostAlloc(&p, 0, 0), p);
        NOTHING(cudaFreeHost(p), p);
        NOTHING(cudaMallocHost(&p, 0), p);
        NOTHING(cudaMallocAsync(&p, 0, NULL), p);
    }
    if (cudaMalloc(&p, 1 << 20) != cudaSuccess)
        return 98;
    return cudaFree(p) == cudaSuccess ? 0 : 97;
}
