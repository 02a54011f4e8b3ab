/* SPDX-License-Identifier: MIT */
/* Stream-ordered memory; its pool keeps what is freed, and that is no leak. */
#include "scene.h"

static CUdeviceptr *kept;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    kept = new_list(180);
    for (int i = 0; i < 180; i++) {
        CUdeviceptr temporary, result;
        CHECK(cuMemAllocAsync(&temporary, MIB, NULL));
        CHECK(cuMemAllocAsync(&result, 128 * KIB, NULL)); /* LEAK */
        CHECK(cuMemFreeAsync(temporary, NULL));
        if (leaking && i % 3)
            kept[i] = result;
        else
            CHECK(cuMemFreeAsync(result, NULL));
    }
    return 0;
}
