/* SPDX-License-Identifier: MIT */
/* OWNER plug_in_state in global: 64 KiB, 32 KiB */
/* LIBRARY plug_in_library */
/* A global of a library that was opened by the program. */
#include "scene.h"

#include <dlfcn.h>

int main(int argc, char **argv) {
    SCENE(argc, argv);
    void *library = dlopen("plug_in_library.so", RTLD_NOW | RTLD_LOCAL);
    void (*start)(CUdeviceptr, CUdeviceptr) =
        (void (*)(CUdeviceptr, CUdeviceptr))dlsym(library, "plug_in_start");
    start(ALLOC(64 * KIB), ALLOC(32 * KIB));
    return 0;
}
