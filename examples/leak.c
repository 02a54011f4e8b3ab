/* SPDX-License-Identifier: MIT */
/*
 * A program with a leak of GPU memory, through the CUDA runtime: something to try vramtrace on.
 *
 *     cc -g examples/leak.c -o leak -I/usr/local/cuda/include -L/usr/local/cuda/lib64 -lcudart
 *     vramtrace run ./leak && vramtrace report
 *
 * Without a GPU, on the simulated one:
 *
 *     cc -g examples/leak.c -o leak -L build/sim -l:libcudart.so.13
 *     vramtrace run --sim ./leak && vramtrace report
 *
 * It scales video frames. One of its paths forgets a buffer: can the report tell you which?
 */
#include <stdio.h>
#include <stdlib.h>

#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#else /* no CUDA toolkit on this machine: the five functions that we need */
typedef int cudaError_t;
enum { cudaSuccess, cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
cudaError_t cudaMemset(void *pointer, int value, size_t bytes);
const char *cudaGetErrorString(cudaError_t error);
#endif

#define FRAME_BYTES (1920 * 1080 * 3 / 2)
#define TABLE_BYTES 65536

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void *new_buffer(size_t bytes) {
    void *buffer;
    CHECK(cudaMalloc(&buffer, bytes));
    return buffer;
}

/* A table for the whole run, freed at its end: this part is clean. */
static void *make_table(void) {
    unsigned char gamma[256];
    void *table = new_buffer(TABLE_BYTES);
    for (int i = 0; i < 256; i++)
        gamma[i] = (unsigned char)(i * i / 255);
    CHECK(cudaMemset(table, 0, TABLE_BYTES));
    CHECK(cudaMemcpy(table, gamma, sizeof gamma, cudaMemcpyHostToDevice));
    return table;
}

static int is_scene_cut(int frame) {
    return frame % 10 == 9;
}

/* Every frame gets a scratch buffer. At a scene cut there is nothing to blend with, and the early
 * return forgets to free it. */
static void scale_frame(const unsigned char *in, unsigned char *out, int frame) {
    void *scratch = new_buffer(FRAME_BYTES);
    CHECK(cudaMemcpy(scratch, in, FRAME_BYTES, cudaMemcpyHostToDevice));
    if (is_scene_cut(frame))
        return; /* the leak: scratch is still allocated */
    CHECK(cudaMemcpy(out, scratch, FRAME_BYTES, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(scratch));
}

int main(int argc, char **argv) {
    int frames = argc > 1 ? atoi(argv[1]) : 100;
    unsigned char *in = calloc(1, FRAME_BYTES), *out = malloc(FRAME_BYTES);
    if (in == NULL || out == NULL)
        return 1;
    void *table = make_table();
    for (int frame = 0; frame < frames; frame++)
        scale_frame(in, out, frame);
    CHECK(cudaFree(table));
    printf("%d frames\n", frames);
    free(in);
    free(out);
    return 0;
}
