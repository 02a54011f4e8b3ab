/* SPDX-License-Identifier: MIT */
/* A texture's array for each frame. */
#include "scene.h"

static CUarray *textures;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 256, .Height = 256, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    textures = calloc(100, sizeof *textures);
    for (int i = 0; i < 100; i++) {
        CHECK(cuArrayCreate_v2(&textures[i], &shape)); /* LEAK */
        WORK();
        if (!leaking)
            CHECK(cuArrayDestroy(textures[i]));
    }
    return 0;
}
