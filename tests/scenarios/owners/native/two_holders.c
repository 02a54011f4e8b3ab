/* SPDX-License-Identifier: MIT */
/* OWNER front in global: 2 x 64 KiB */
/* SLOT front: 2 x 64 KiB */
/* Two globals have the same; the one that is nearer gives its name. */
#include "scene.h"

struct node {
    struct node *next;
    CUdeviceptr data;
};

CUdeviceptr front[2];
struct node *by_age;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 2; i++) {
        struct node *node = malloc(sizeof *node);
        front[i] = node->data = ALLOC(64 * KIB);
        node->next = by_age;
        by_age = node;
    }
    KEEP(front);
    return 0;
}
