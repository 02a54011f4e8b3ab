/* SPDX-License-Identifier: MIT */
/* Checkpointing: every 25 steps a snapshot is made on the device, and kept. */
#include "scene.h"

static CUdeviceptr *snapshots;

static void save(int number) {
    snapshots[number] = ALLOC(4 * MIB); /* LEAK */
    if (!leaking)
        FREE(snapshots[number]);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    snapshots = new_list(20);
    for (int step = 0; step < 500; step++) {
        WORK();
        if (step % 25 == 24)
            save(step / 25);
    }
    return 0;
}
