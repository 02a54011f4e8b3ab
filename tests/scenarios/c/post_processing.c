/* SPDX-License-Identifier: MIT */
/* Post-processing: results are kept for one pass over them at the end. */
#include "scene.h"

static CUdeviceptr *results;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    results = new_list(200);
    for (int step = 0; step < 100; step++)
        WORK();
    for (int i = 0; i < 200; i++) {
        WORK();
        results[i] = ALLOC(40 * KIB); /* LEAK */
        if (!leaking)
            FREE(results[i]);
    }
    return 0;
}
