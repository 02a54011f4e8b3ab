/* SPDX-License-Identifier: MIT */
/* OWNER history in global: 2 x 64 KiB */
/* OWNER nobody: 3 x 64 KiB */
/* A vector's last elements, popped but not freed: their words are still behind its end. */
#include "scene.h"

#include <unistd.h>
#include <vector>

static std::vector<CUdeviceptr> history;

static void __attribute__((noinline)) fill() {
    for (int i = 0; i < 5; i++)
        history.push_back(ALLOC(64 * KIB));
    for (int i = 0; i < 3; i++)
        history.pop_back();
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    _exit(over[100]);
}
