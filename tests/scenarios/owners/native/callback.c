/* SPDX-License-Identifier: MIT */
/* OWNER callbacks in global: 2 x 64 KiB */
/* SLOT callbacks: 2 x 64 KiB */
/* LIBRARY plug_in_library */
/* What a library is to hand back to the program. */
#include "scene.h"

#include <dlfcn.h>

struct window {
    int width;
    CUdeviceptr canvas;
};

static void draw(void *data) {
    (void)data;
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    void *library = dlopen("plug_in_library.so", RTLD_NOW | RTLD_LOCAL);
    void (*call_back)(void (*)(void *), void *) =
        (void (*)(void (*)(void *), void *))dlsym(library, "plug_in_call_back");
    for (int i = 0; i < 2; i++) {
        struct window *window = calloc(1, sizeof *window);
        window->canvas = ALLOC(64 * KIB);
        call_back(draw, window);
    }
    return 0;
}
