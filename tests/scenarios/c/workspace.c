/* SPDX-License-Identifier: MIT */
/* A workspace: made at the first step and kept; or made at each. */
#include "scene.h"

static CUdeviceptr workspace;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 200; i++) {
        if (leaking || !workspace)
            workspace = ALLOC(MIB); /* LEAK */
        WORK();
    }
    if (!leaking)
        FREE(workspace);
    return 0;
}
