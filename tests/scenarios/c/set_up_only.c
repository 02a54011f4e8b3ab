/* SPDX-License-Identifier: MIT */
/* Thirty tables are made, used and freed, and nothing else is ever allocated; or some are
 * forgotten. */
#include "scene.h"

static CUdeviceptr *tables;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    tables = new_list(30);
    for (int i = 0; i < 30; i++)
        tables[i] = ALLOC(256 * KIB); /* LEAK */
    for (int i = 0; i < (leaking ? 20 : 30); i++)
        FREE(tables[i]);
    return 0;
}
