/* SPDX-License-Identifier: MIT */
/* Pointers are kept xor-ed, as some containers do: nothing that looks can find them. */
#include "scene.h"

enum { COUNT = 10, SECRET = 0x5a5a5a5a };
static CUdeviceptr *hidden;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    hidden = new_list(COUNT);
    for (int i = 0; i < COUNT; i++)
        hidden[i] = ALLOC(MIB) ^ ((CUdeviceptr)SECRET << 16); /* LEAK */
    for (int i = 0; i < COUNT && !leaking; i++)
        FREE(hidden[i] ^ ((CUdeviceptr)SECRET << 16));
    return 0;
}
