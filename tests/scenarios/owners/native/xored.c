/* SPDX-License-Identifier: MIT */
/* OWNER nobody: 3 x 64 KiB */
/* Addresses that are stored with a key, so that no word of memory is one. */
#include "scene.h"

static CUdeviceptr secrets[3];

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 3; i++)
        secrets[i] = ALLOC(64 * KIB) ^ 0x5a5a5a5a5a5a5a5a;
    return 0;
}
