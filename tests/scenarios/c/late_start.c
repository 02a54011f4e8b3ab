/* SPDX-License-Identifier: MIT */
/* All is well for half of the run. */
#include "scene.h"

static CUdeviceptr *kept;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    kept = new_list(400);
    for (int i = 0; i < 400; i++) {
        CUdeviceptr crop = ALLOC(80 * KIB); /* LEAK */
        WORK();
        if (leaking && i >= 200)
            kept[i] = crop;
        else
            FREE(crop);
    }
    return 0;
}
