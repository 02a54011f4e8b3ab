/* SPDX-License-Identifier: MIT */
/* OWNER images in global: 3 x 64 KiB */
/* OWNER nobody: 2 x 64 KiB */
/* Items erased in the middle of a vector, and not freed. */
#include "scene.h"

#include <unistd.h>
#include <vector>

static std::vector<CUdeviceptr> images;

static void __attribute__((noinline)) fill() {
    for (int i = 0; i < 5; i++)
        images.push_back(ALLOC(64 * KIB));
    images.erase(images.begin() + 1, images.begin() + 3);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    KEEP(images);
    _exit(over[100]);
}
