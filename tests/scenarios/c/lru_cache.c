/* SPDX-License-Identifier: MIT */
/* A cache of 32 entries that fills and then evicts; or never evicts. */
#include "scene.h"

static CUdeviceptr *entries;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    entries = new_list(300);
    for (int i = 0; i < 300; i++) {
        int slot = leaking ? i : i % 32;
        WORK();
        if (entries[slot])
            FREE(entries[slot]);
        entries[slot] = ALLOC(128 * KIB); /* LEAK */
    }
    for (int i = 0; i < 300 && !leaking; i++)
        if (entries[i])
            FREE(entries[i]);
    return 0;
}
