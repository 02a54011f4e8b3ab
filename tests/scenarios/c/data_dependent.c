/* SPDX-License-Identifier: MIT */
/* What is kept depends on the data: some steps, and by as much as it happens. */
#include "scene.h"

static CUdeviceptr *kept;

int main(int argc, char **argv) {
    unsigned state = 7;
    SCENE(argc, argv);
    kept = new_list(500);
    for (int i = 0; i < 500; i++) {
        size_t bytes = (1 + dice(&state) % 16) * 4 * KIB;
        CUdeviceptr boxes = ALLOC(bytes); /* LEAK */
        WORK();
        if (leaking && dice(&state) % 8 == 0)
            kept[i] = boxes;
        else
            FREE(boxes);
    }
    return 0;
}
