/* SPDX-License-Identifier: MIT */
/* OWNER kept in global: 5 x 64 KiB */
/* SLOT kept: 5 x 64 KiB */
/* A static pointer of a function, to an array on the heap. */
#include "scene.h"

static void keep(CUdeviceptr pointer) {
    static CUdeviceptr *kept;
    static size_t used, room;
    if (used == room)
        kept = realloc(kept, (room = room * 2 + 2) * sizeof *kept);
    kept[used++] = pointer;
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 5; i++)
        keep(ALLOC(64 * KIB));
    return 0;
}
