/* SPDX-License-Identifier: MIT */
/* The only pointers stand in managed memory. */
#include "scene.h"

static CUdeviceptr index_of_all;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    CHECK(cuMemAllocManaged(&index_of_all, 4096, CU_MEM_ATTACH_GLOBAL));
    CUdeviceptr *list = (CUdeviceptr *)index_of_all;
    for (int i = 0; i < 12; i++)
        list[i] = ALLOC(MIB); /* LEAK */
    for (int i = 0; i < 12 && !leaking; i++)
        FREE(list[i]);
    if (!leaking)
        FREE(index_of_all);
    else
        index_of_all |= 0; /* both stay */
    return 0;
}
