/* SPDX-License-Identifier: MIT */
/* Front and back are exchanged each frame; when the size changes new ones are made, and the old
 * front is forgotten. */
#include "scene.h"

int main(int argc, char **argv) {
    SCENE(argc, argv);
    CUdeviceptr front = ALLOC(MIB), back = ALLOC(MIB);
    for (int frame = 0; frame < 200; frame++) {
        CUdeviceptr old = front;
        WORK();
        front = back;
        back = ALLOC(MIB + (size_t)(frame % 5) * 4 * KIB); /* LEAK */
        if (!leaking || frame % 4)
            FREE(old);
    }
    FREE(front);
    FREE(back);
    return 0;
}
