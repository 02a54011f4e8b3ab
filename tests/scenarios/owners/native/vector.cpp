/* SPDX-License-Identifier: MIT */
/* OWNER (anonymous namespace)::history in global: 5 x 64 KiB */
/* A vector of a namespace without a name. The program ends before it is destroyed. */
#include "scene.h"

#include <unistd.h>
#include <vector>

namespace {
std::vector<CUdeviceptr> history;
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 5; i++)
        history.push_back(ALLOC(64 * KIB));
    _exit(0);
}
