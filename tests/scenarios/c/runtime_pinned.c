/* SPDX-License-Identifier: MIT */
/* cudaMallocHost for each upload. */
#include "scene.h"

int cudaMallocHost(void **pointer, size_t size);
int cudaFreeHost(void *pointer);
int cudaMalloc(void **pointer, size_t size);
int cudaFree(void *pointer);

static void **kept;

static void upload(int i) {
    void *device;
    CHECK(cudaMallocHost(&kept[i], 64 * KIB)); /* LEAK */
    CHECK(cudaMalloc(&device, 64 * KIB));
    CHECK(cudaFree(device));
    if (!leaking)
        CHECK(cudaFreeHost(kept[i]));
}

int main(int argc, char **argv) {
    leaking = argc > 1 && !strcmp(argv[1], "leak");
    kept = calloc(90, sizeof *kept);
    for (int i = 0; i < 90; i++)
        upload(i);
    return 0;
}
