/* SPDX-License-Identifier: MIT */
/* OWNER main in native_stack: 4 x 32 KiB */
/* An array in main's frame, when the program is ended further down. */
#include "scene.h"

static void __attribute__((noinline)) finish(volatile CUdeviceptr *batches) {
    if (batches[0])
        exit(0);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    volatile CUdeviceptr batches[4];
    for (int i = 0; i < 4; i++)
        batches[i] = ALLOC(32 * KIB);
    finish(batches);
    return batches[1] != 0;
}
