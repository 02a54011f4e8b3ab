/* SPDX-License-Identifier: MIT */
/* OWNER nobody: 64 KiB */
/* OWNER seen_state in global: 32 KiB */
/* SLOT seen_state: 32 KiB */
/* LIBRARY seen_library plug_in_library */
/* A library that was closed while its variable held memory; another one comes in its place. */
#include "scene.h"

#include <dlfcn.h>

static void __attribute__((noinline)) open_and_close(void) {
    void *library = dlopen("plug_in_library.so", RTLD_NOW);
    void (*start)(CUdeviceptr, CUdeviceptr) =
        (void (*)(CUdeviceptr, CUdeviceptr))dlsym(library, "plug_in_start");
    start(ALLOC(64 * KIB), 0);
    if (dlclose(library))
        _Exit(97);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    open_and_close();
    void (*keep)(CUdeviceptr) =
        (void (*)(CUdeviceptr))dlsym(dlopen("seen_library.so", RTLD_NOW), "seen_keep");
    keep(ALLOC(32 * KIB));
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    return over[100];
}
