/* SPDX-License-Identifier: MIT */
/* OWNER ring in global | done in global: 5 x 64 KiB */
/* SLOT ring: 5 x 64 KiB */
/* What was taken out of a ring stands in it still; a list holds it now. No type tells which words of an array of C are in
 * use, so both are right. */
#include "scene.h"

static struct {
    unsigned head, tail;
    CUdeviceptr slots[8];
} ring;
static struct done {
    struct done *next;
    CUdeviceptr memory;
} * done;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 5; i++)
        ring.slots[ring.tail++ % 8] = ALLOC(64 * KIB);
    for (int i = 0; i < 3; i++) {
        struct done *d = malloc(sizeof *d);
        *d = (struct done){done, ring.slots[ring.head++ % 8]};
        done = d;
    }
    KEEP(ring);
    KEEP(done);
    return 0;
}
