/* SPDX-License-Identifier: MIT */
/* A list that every epoch clears, in a run that ends in the middle of one; or clears all but a
 * few. */
#include "scene.h"

static CUdeviceptr *list;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    int count = 0, low = 0;
    list = new_list(600);
    for (int i = 0; i < 375; i++) {
        WORK();
        list[count++] = ALLOC(64 * KIB); /* LEAK */
        if (i % 50 == 49) {
            low = leaking ? low + 15 : 0;
            while (count > low)
                FREE(list[--count]);
        }
    }
    while (count && !leaking)
        FREE(list[--count]);
    return 0;
}
