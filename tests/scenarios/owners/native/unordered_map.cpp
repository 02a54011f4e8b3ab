/* SPDX-License-Identifier: MIT */
/* OWNER Cache::instance()::cache in global: 50 x 8 KiB */
/* An unordered_map in a singleton that is an object. */
#include "scene.h"

#include <unistd.h>
#include <unordered_map>

struct Cache {
    static Cache &instance() {
        static Cache cache;
        return cache;
    }
    std::unordered_map<int, CUdeviceptr> entries;
};

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 50; i++)
        Cache::instance().entries[i * 37] = ALLOC(8 * KIB);
    _exit(0);
}
