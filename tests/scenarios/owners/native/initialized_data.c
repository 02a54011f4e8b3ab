/* SPDX-License-Identifier: MIT */
/* OWNER stages in global: 3 x 64 KiB */
/* SLOT stages: 3 x 64 KiB */
/* A table that is initialized, so that it lies beside the constants. */
#include "scene.h"

static struct {
    const char *name;
    CUdeviceptr buffer;
} stages[] = {{"read", 0}, {"blur", 0}, {"write", 0}};

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 3; i++)
        stages[i].buffer = ALLOC(64 * KIB);
    KEEP(stages);
    return 0;
}
