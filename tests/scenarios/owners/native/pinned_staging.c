/* SPDX-License-Identifier: MIT */
/* OWNER device_side in global: 64 KiB */
/* Pinned memory beside memory of the device; it is not in the sums. */
#include "scene.h"

static void *staging;
static CUdeviceptr device_side;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    CHECK(cuMemAllocHost_v2(&staging, 64 * KIB));
    device_side = ALLOC(64 * KIB);
    KEEP(device_side);
    return 0;
}
