/* SPDX-License-Identifier: MIT */
/* OWNER cache in global: 2 x 64 KiB */
/* OWNER nobody: 3 x 64 KiB */
/* Entries of a map that were erased, and not what they stood for. */
#include "scene.h"

#include <map>
#include <unistd.h>

static std::map<int, CUdeviceptr> cache;

static void __attribute__((noinline)) fill() {
    for (int i = 0; i < 5; i++)
        cache[i] = ALLOC(64 * KIB);
    for (int i = 1; i < 4; i++)
        cache.erase(i);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    _exit(over[100]);
}
