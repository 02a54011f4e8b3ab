/* SPDX-License-Identifier: MIT */
/* OWNER nobody: 5 x 64 KiB */
/* OWNER current in global: 64 KiB */
/* A global that is overwritten; nothing else remembers what it was. */
#include "scene.h"

static CUdeviceptr current;

static void __attribute__((noinline)) renew(void) {
    current = ALLOC(64 * KIB);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 6; i++)
        renew();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    KEEP(current);
    return over[100];
}
