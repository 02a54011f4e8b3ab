/* SPDX-License-Identifier: MIT */
/* OWNER main in native_stack: 6 x 64 KiB */
/* A vector of main, when the program is ended further down. */
#include "scene.h"

#include <vector>

static void __attribute__((noinline)) leave(const std::vector<CUdeviceptr> &batches) {
    if (batches.size())
        exit(0);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    std::vector<CUdeviceptr> batches;
    for (int i = 0; i < 6; i++)
        batches.push_back(ALLOC(64 * KIB));
    leave(batches);
    return 0;
}
