/* SPDX-License-Identifier: MIT */
/* OWNER pool in global: 6 x 32 KiB */
/* An arena on the heap, whose objects know each other. */
#include "scene.h"

struct image {
    struct image *next;
    CUdeviceptr pixels;
};

static struct {
    char *memory;
    size_t used;
    struct image *images;
} pool;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    pool.memory = malloc(1 << 20);
    for (int i = 0; i < 6; i++) {
        struct image *image = (struct image *)(pool.memory + pool.used);
        pool.used += 64;
        image->pixels = ALLOC(32 * KIB);
        image->next = pool.images;
        pool.images = image;
    }
    return 0;
}
