/* SPDX-License-Identifier: MIT */
/* OWNER cache in global same_name.c | cache in global same_name_c: 64 KiB */
/* OWNER cache in global same_name_library.c | cache in global same_name_library.so: 32 KiB */
/* SLOT cache: 32 KiB */
/* LINKED same_name_library */
/* Two files have a variable of one name. */
#include "scene.h"

static CUdeviceptr cache[2];
void library_keep(CUdeviceptr memory);

int main(int argc, char **argv) {
    SCENE(argc, argv);
    cache[0] = ALLOC(64 * KIB);
    library_keep(ALLOC(32 * KIB));
    KEEP(cache);
    return 0;
}
