/* SPDX-License-Identifier: MIT */
/* Managed memory for each step. */
#include "scene.h"

static CUdeviceptr *kept;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    kept = new_list(100);
    for (int i = 0; i < 100; i++) {
        CHECK(cuMemAllocManaged(&kept[i], 64 * KIB, CU_MEM_ATTACH_GLOBAL)); /* LEAK */
        WORK();
        if (!leaking)
            FREE(kept[i]);
    }
    return 0;
}
