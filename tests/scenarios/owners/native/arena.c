/* SPDX-License-Identifier: MIT */
/* OWNER arena in global: 6 x 32 KiB */
/* Objects in an arena of the program's own. */
#include "scene.h"

struct image {
    int width, height;
    CUdeviceptr pixels;
};

static _Alignas(16) char arena[1 << 16];
static size_t used;

static void *take(size_t bytes) {
    void *at = arena + used;
    used += (bytes + 15) / 16 * 16;
    return at;
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 6; i++) {
        struct image *image = take(sizeof *image);
        image->pixels = ALLOC(32 * KIB);
    }
    KEEP(arena);
    return 0;
}
