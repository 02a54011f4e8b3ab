/* SPDX-License-Identifier: MIT */
/* MAYBE blur in global: 64 KiB */
/* Code made at run time, with a device address in it, which is not aligned. */
#include "scene.h"

#include <sys/mman.h>

static CUdeviceptr (*blur)(void);

int main(int argc, char **argv) {
    SCENE(argc, argv);
    CUdeviceptr table = ALLOC(64 * KIB);
    unsigned char *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    memcpy(code, "\x48\xb8", 2); /* mov rax, table; ret */
    memcpy(code + 2, &table, 8);
    code[10] = 0xc3;
    blur = (CUdeviceptr(*)(void))code;
    return blur() == table ? 0 : 1;
}
