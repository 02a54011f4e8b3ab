/* SPDX-License-Identifier: MIT */
/* A queue whose length wanders; or of which one in five is never taken. */
#include "scene.h"

static CUdeviceptr *queue;

int main(int argc, char **argv) {
    unsigned state = 11;
    SCENE(argc, argv);
    queue = new_list(500);
    int count = 0, low = 0;
    for (int i = 0; i < 500; i++) {
        queue[count++] = ALLOC(96 * KIB); /* LEAK */
        WORK();
        if (leaking && i % 5 == 0)
            low++;
        while (count > low + 12 || (count > low && dice(&state) % 2))
            FREE(queue[--count]);
    }
    while (count && !leaking)
        FREE(queue[--count]);
    return 0;
}
