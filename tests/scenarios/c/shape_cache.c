/* SPDX-License-Identifier: MIT */
/* A plan for each shape that is met: there are 24 shapes, met by chance; or the key is wrong, and
 * every call makes a plan. */
#include "scene.h"

static CUdeviceptr *plans;

int main(int argc, char **argv) {
    unsigned state = 3;
    SCENE(argc, argv);
    plans = new_list(400);
    for (int i = 0; i < 400; i++) {
        int key = leaking ? i : (int)(dice(&state) % 24);
        if (!plans[key])
            plans[key] = ALLOC(512 * KIB); /* LEAK */
        WORK();
    }
    for (int i = 0; i < 400 && !leaking; i++)
        if (plans[i])
            FREE(plans[i]);
    return 0;
}
