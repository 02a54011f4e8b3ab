/* SPDX-License-Identifier: MIT */
/* OWNER nobody: 4 x 64 KiB */
/* A vector that was emptied and gave its memory back, and not what was in it. */
#include "scene.h"

#include <unistd.h>
#include <vector>

static std::vector<CUdeviceptr> history;

static void __attribute__((noinline)) fill() {
    history.reserve(64);
    for (int i = 0; i < 4; i++)
        history.push_back(ALLOC(64 * KIB));
    history = std::vector<CUdeviceptr>();
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    _exit(over[100]);
}
