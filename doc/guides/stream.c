/* SPDX-License-Identifier: MIT */
/*
 * The program of the guide video-filter.md: a filter between a camera's stream and a display. The
 * stream breaks now and then, and the filter connects again. `stream --fixed` has no leak.
 *
 *     cc -g doc/guides/stream.c -o stream -I/usr/local/cuda/include -L/usr/local/cuda/lib64 -lcudart
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#else /* no CUDA toolkit on this machine: the functions that we need */
typedef int cudaError_t;
cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaFree(void *pointer);
const char *cudaGetErrorString(cudaError_t error);
#endif

enum { SURFACES = 4, FRAMES = 50 };

static int fixed;

struct filter {
    void *surfaces[SURFACES]; /* decoded frames, NV12 */
    void *overlay;            /* the picture with text on it, RGBA */
    int width, height;
};

static void *new_buffer(size_t bytes) {
    void *buffer;
    cudaError_t error = cudaMalloc(&buffer, bytes);
    if (error) {
        fprintf(stderr, "cudaMalloc: %s\n", cudaGetErrorString(error));
        exit(1);
    }
    return buffer;
}

/* The size is known when the first frame arrives, and may change while the stream runs. */
static void filter_set_size(struct filter *filter, int width, int height) {
    if (fixed)
        cudaFree(filter->overlay);
    filter->overlay = new_buffer((size_t)width * height * 4);
    filter->width = width;
    filter->height = height;
}

static void filter_connect(struct filter *filter, int width, int height) {
    for (int i = 0; i < SURFACES; i++)
        filter->surfaces[i] = new_buffer((size_t)width * height * 3 / 2);
    filter_set_size(filter, width, height);
}

static void filter_disconnect(struct filter *filter) {
    for (int i = 0; i < SURFACES; i++)
        cudaFree(filter->surfaces[i]);
}

static void filter_frame(struct filter *filter) {
    void *scratch = new_buffer((size_t)filter->width * filter->height);
    /* here a kernel would draw the text */
    cudaFree(scratch);
}

int main(int argc, char **argv) {
    int connections = 40;
    struct filter filter = {0};
    fixed = argc > 1 && !strcmp(argv[1], "--fixed");
    for (int i = 0; i < connections; i++) {
        filter_connect(&filter, 1920, 1080);
        for (int frame = 0; frame < FRAMES; frame++)
            filter_frame(&filter);
        filter_disconnect(&filter);
    }
    cudaFree(filter.overlay);
    printf("%d connections, %d frames\n", connections, connections * FRAMES);
    return 0;
}
