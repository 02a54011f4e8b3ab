/* SPDX-License-Identifier: MIT */
/* Every tenth iteration keeps something. */
#include "scene.h"

static CUdeviceptr *kept;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    kept = new_list(400);
    for (int i = 0; i < 400; i++) {
        CUdeviceptr frame = ALLOC(64 * KIB); /* LEAK */
        WORK();
        if (leaking && i % 10 == 9)
            kept[i] = frame;
        else
            FREE(frame);
    }
    return 0;
}
