/* SPDX-License-Identifier: MIT */
/* OWNER table in global: 5 x 64 KiB */
/* OWNER trace in global: 5 x 16 KiB */
/* SLOT table: 5 x 64 KiB */
/* SLOT trace: 5 x 16 KiB */
/* A hash table whose entries say which of them was removed, and a trace that remembers addresses, which holds none. */
#include "scene.h"

static struct {
    int key;
    enum { EMPTY, USED, REMOVED } state;
    CUdeviceptr value;
} table[16];

static struct {
    const char *what;
    CUdeviceptr address;
    size_t bytes;
} trace[16];
static unsigned traced;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 5; i++) {
        table[3 * i].key = i;
        table[3 * i].state = USED;
        table[3 * i].value = ALLOC(64 * KIB);
        trace[traced % 16].what = "allocate";
        trace[traced % 16].bytes = 16 * KIB;
        trace[traced++ % 16].address = ALLOC(16 * KIB);
    }
    table[3].state = REMOVED;
    KEEP(table);
    KEEP(trace);
    KEEP(traced);
    return 0;
}
