/* SPDX-License-Identifier: MIT */
/* OWNER scratch in thread_local: 256 KiB */
/* OWNER list in thread_local: 3 x 16 KiB */
/* Thread-locals of the main thread. */
#include "scene.h"

static __thread CUdeviceptr scratch;
static __thread CUdeviceptr *list;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    scratch = ALLOC(256 * KIB);
    list = new_list(3);
    for (int i = 0; i < 3; i++)
        list[i] = ALLOC(16 * KIB);
    KEEP(scratch);
    KEEP(list);
    return 0;
}
