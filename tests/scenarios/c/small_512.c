/* SPDX-License-Identifier: MIT */
/* 512 bytes a step, under megabytes of work, forgotten altogether. */
#include "scene.h"

static void count_hits(void) {
    CUdeviceptr counter = ALLOC(512); /* LEAK */
    WORK();
    if (!leaking)
        FREE(counter);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int step = 0; step < 300; step++)
        count_hits();
    return 0;
}
