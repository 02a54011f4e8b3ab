/* SPDX-License-Identifier: MIT */
/* OWNER window in global: 64 KiB, 32 KiB */
/* A pointer to an object's second base. */
#include "scene.h"

struct Widget {
    virtual ~Widget() = default;
    int width = 1;
};
struct Surface {
    virtual ~Surface() = default;
    CUdeviceptr pixels;
    Surface() : pixels(ALLOC(64 * KIB)) {}
};
struct Window : Widget, Surface {
    CUdeviceptr shadow;
    Window() : shadow(ALLOC(32 * KIB)) {}
};

static Surface *window;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    window = new Window;
    KEEP(window);
    return 0;
}
