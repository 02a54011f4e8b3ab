/* SPDX-License-Identifier: MIT */
/* Six epochs, marked, with steps in them: a list that each epoch makes longer; or clears at its end. */
#include "scene.h"

static CUdeviceptr *kept;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    int count = 0;
    kept = new_list(60);
    for (int epoch = 0; epoch < 6; epoch++) {
        vramtrace_push("epoch");
        for (int step = 0; step < 10; step++) {
            WORK();
            kept[count++] = ALLOC(MIB); /* LEAK */
        }
        while (count && !leaking)
            FREE(kept[--count]);
        vramtrace_pop();
    }
    return 0;
}
