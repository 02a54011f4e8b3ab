/* SPDX-License-Identifier: MIT */
/* It grows for the first part of the run, and then has what it needs; or never has. */
#include "scene.h"

static CUdeviceptr *held;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    held = new_list(300);
    for (int i = 0; i < 300; i++) {
        WORK();
        if (leaking || i < 90)
            held[i] = ALLOC(128 * KIB); /* LEAK */
    }
    for (int i = 0; i < 300 && !leaking; i++)
        if (held[i])
            FREE(held[i]);
    return 0;
}
