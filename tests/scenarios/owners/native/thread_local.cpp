/* SPDX-License-Identifier: MIT */
/* OWNER scratch in thread_local: 3 x 64 KiB */
/* A thread_local object with a destructor. */
#include "scene.h"

#include <unistd.h>
#include <vector>

static thread_local std::vector<CUdeviceptr> scratch;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 3; i++)
        scratch.push_back(ALLOC(64 * KIB));
    _exit(0);
}
