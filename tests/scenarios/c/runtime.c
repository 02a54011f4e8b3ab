/* SPDX-License-Identifier: MIT */
/* The CUDA runtime: plain, stream-ordered and pinned memory, kept or not. */
#include "scene.h"
#include "vramtrace/cuda_abi_runtime.h"

int cudaMalloc(void **pointer, size_t size);
int cudaFree(void *pointer);

static void **kept;

static void step(int i) {
    void *input, *output;
    CHECK(cudaMalloc(&input, MIB));
    CHECK(cudaMalloc(&output, 256 * KIB)); /* LEAK */
    CHECK(cudaFree(input));
    if (leaking)
        kept[i] = output;
    else
        CHECK(cudaFree(output));
}

int main(int argc, char **argv) {
    leaking = argc > 1 && !strcmp(argv[1], "leak");
    kept = calloc(100, sizeof *kept);
    for (int i = 0; i < 100; i++)
        step(i);
    return 0;
}
