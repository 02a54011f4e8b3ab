/* SPDX-License-Identifier: MIT */
/* Steps that the program marks, and one allocation in each; nothing else. */
#include "scene.h"

static CUdeviceptr *kept;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    kept = new_list(60);
    for (int i = 0; i < 60; i++) {
        vramtrace_push("step");
        if (leaking || i < 3)
            kept[i] = ALLOC(MIB); /* LEAK */
        vramtrace_pop();
    }
    for (int i = 0; i < 60 && !leaking; i++)
        if (kept[i])
            FREE(kept[i]);
    return 0;
}
