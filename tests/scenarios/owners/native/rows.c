/* SPDX-License-Identifier: MIT */
/* OWNER image in global: 12 x 16 KiB */
/* SLOT image: 12 x 16 KiB */
/* Pointers to pointers. */
#include "scene.h"

CUdeviceptr **image;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    image = calloc(3, sizeof *image);
    for (int row = 0; row < 3; row++) {
        image[row] = new_list(4);
        for (int column = 0; column < 4; column++)
            image[row][column] = ALLOC(16 * KIB);
    }
    return 0;
}
