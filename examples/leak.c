/* SPDX-License-Identifier: MIT */
/*
 * A leak in C, through the CUDA runtime: an error path that returns without freeing.
 *
 *   cc -g leak.c -o leak -lcudart
 *   vramtrace run ./leak && vramtrace report
 *
 * Without an NVIDIA driver: link with -L build/sim -l:libcudart.so.13, and run with
 * `vramtrace run --sim`.
 */
#include <stdio.h>
#include <stdlib.h>

#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#else /* what this program needs of it */
typedef int cudaError_t;
#define cudaSuccess 0
cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaMallocHost(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaFreeHost(void *memory);
#endif

enum { REQUESTS = 60, INPUT_BYTES = 2 * 1024 * 1024, OUTPUT_BYTES = 512 * 1024 };

static void *allocate(size_t bytes) {
    void *memory = NULL;

    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
        fprintf(stderr, "no GPU memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memory;
}

/* Every fifth request is malformed. */
static int parse(int request) {
    return request % 5 == 4 ? -1 : 0;
}

static int serve(int request) {
    void *input = allocate(INPUT_BYTES);
    void *output = allocate(OUTPUT_BYTES);

    if (parse(request) != 0) {
        cudaFree(input);
        return -1; /* the bug: output is not freed */
    }
    cudaFree(output);
    cudaFree(input);
    return 0;
}

int main(void) {
    void *staging = NULL;
    int refused = 0;

    if (cudaMallocHost(&staging, INPUT_BYTES) != cudaSuccess) {
        fprintf(stderr, "no pinned memory\n");
        return 1;
    }
    for (int request = 0; request < REQUESTS; request++)
        refused += serve(request) != 0;
    cudaFreeHost(staging);
    printf("%d requests, %d refused\n", REQUESTS, refused);
    return 0;
}
