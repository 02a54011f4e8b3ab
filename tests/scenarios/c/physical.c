/* SPDX-License-Identifier: MIT */
/* Physical memory by handle, for a growing arena that is trimmed; or never is. */
#include "scene.h"

int main(int argc, char **argv) {
    static CUmemGenericAllocationHandle handles[120];
    SCENE(argc, argv);
    CUmemAllocationProp shape = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
    shape.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    int count = 0;
    for (int i = 0; i < 120; i++) {
        CHECK(cuMemCreate(&handles[count++], 2 * MIB, &shape, 0)); /* LEAK */
        WORK();
        while (!leaking && count == 8)
            while (count)
                CHECK(cuMemRelease(handles[--count]));
    }
    return 0;
}
