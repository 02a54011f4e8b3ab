/* SPDX-License-Identifier: MIT */
/* A loader's pinned buffers: reused, or made for each batch. */
#include "scene.h"

static void **buffers;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    buffers = calloc(160, sizeof *buffers);
    for (int batch = 0; batch < 160; batch++) {
        int slot = leaking ? batch : batch % 2;
        if (!buffers[slot])
            CHECK(cuMemHostAlloc(&buffers[slot], 64 * KIB, 0)); /* LEAK */
        WORK();
    }
    for (int i = 0; i < 160; i++)
        if (buffers[i] && !leaking)
            CHECK(cuMemFreeHost(buffers[i]));
    return 0;
}
