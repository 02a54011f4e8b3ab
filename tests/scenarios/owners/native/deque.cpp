/* SPDX-License-Identifier: MIT */
/* OWNER pending in global: 100 x 8 KiB */
/* A deque of several blocks. */
#include "scene.h"

#include <deque>

static std::deque<CUdeviceptr> *pending;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    pending = new std::deque<CUdeviceptr>;
    for (int i = 0; i < 100; i++)
        pending->push_back(ALLOC(8 * KIB));
    KEEP(pending);
    return 0;
}
