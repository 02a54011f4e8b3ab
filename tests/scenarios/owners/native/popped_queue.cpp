/* SPDX-License-Identifier: MIT */
/* OWNER pending in global: 90 x 8 KiB */
/* OWNER nobody: 110 x 8 KiB */
/* A queue whose first elements were popped, but not freed. */
#include "scene.h"

#include <queue>
#include <unistd.h>

static std::queue<CUdeviceptr> pending;

static void __attribute__((noinline)) fill() {
    for (int i = 0; i < 200; i++)
        pending.push(ALLOC(8 * KIB));
    for (int i = 0; i < 110; i++)
        pending.pop();
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    _exit(over[100]);
}
