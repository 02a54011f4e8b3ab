/* SPDX-License-Identifier: MIT */
/* OWNER Pool::instance()::pool in global: 7 x 32 KiB */
/* A list in a singleton. */
#include "scene.h"

#include <list>

struct Pool {
    static Pool &instance() {
        static Pool &pool = *new Pool;
        return pool;
    }
    std::list<CUdeviceptr> blocks;
};

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 7; i++)
        Pool::instance().blocks.push_back(ALLOC(32 * KIB));
    return 0;
}
