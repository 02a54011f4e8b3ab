/* SPDX-License-Identifier: MIT */
/* OWNER cache in global: 4 x 64 KiB */
/* SLOT cache: 4 x 64 KiB */
/* A program that ends by _exit. */
#include "scene.h"

#include <unistd.h>

static CUdeviceptr cache[4];

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 4; i++)
        cache[i] = ALLOC(64 * KIB);
    KEEP(cache);
    _exit(0);
}
