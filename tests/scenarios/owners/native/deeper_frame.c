/* SPDX-License-Identifier: MIT */
/* OWNER serve in native_stack: 64 KiB */
/* OWNER main in native_stack: 128 KiB */
/* Two frames, each with its own. */
#include "scene.h"

static void __attribute__((noinline)) leave(void) {
    exit(0);
}

static void __attribute__((noinline)) serve(void) {
    volatile CUdeviceptr request[2] = {ALLOC(64 * KIB), 0};
    leave();
    FREE(request[0]);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    volatile CUdeviceptr table[2] = {ALLOC(128 * KIB), 0};
    serve();
    FREE(table[0]);
    return 0;
}
