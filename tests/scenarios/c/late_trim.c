/* SPDX-License-Identifier: MIT */
/* A pool that is trimmed when it holds 40 blocks, and last far from full; or trims only half. */
#include "scene.h"

static CUdeviceptr *pool;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    int count = 0, low = 0;
    pool = new_list(600);
    for (int i = 0; i < 590; i++) {
        WORK();
        pool[count++] = ALLOC(128 * KIB); /* LEAK */
        if (count - low == 40) {
            low = leaking ? low + 20 : 0;
            while (count > low)
                FREE(pool[--count]);
        }
    }
    while (count && !leaking)
        FREE(pool[--count]);
    return 0;
}
