/* SPDX-License-Identifier: MIT */
/* A way out on error that forgets a buffer. */
#include "scene.h"

static int scale(int frame) {
    CUdeviceptr scratch = ALLOC(3 * MIB); /* LEAK */
    if (frame % 7 == 3) {
        if (!leaking)
            FREE(scratch);
        return -1;
    }
    WORK();
    FREE(scratch);
    return 0;
}

int main(int argc, char **argv) {
    int failures = 0;
    SCENE(argc, argv);
    for (int frame = 0; frame < 120; frame++)
        failures -= scale(frame);
    return failures < 0;
}
