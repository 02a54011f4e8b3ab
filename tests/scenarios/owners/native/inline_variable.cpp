/* SPDX-License-Identifier: MIT */
/* OWNER engine::registry in global: 3 x 64 KiB */
/* An inline variable of a namespace. */
#include "scene.h"

#include <set>
#include <unistd.h>

namespace engine {
inline std::set<CUdeviceptr> registry;
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 3; i++)
        engine::registry.insert(ALLOC(64 * KIB));
    _exit(0);
}
