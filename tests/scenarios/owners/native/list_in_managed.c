/* SPDX-License-Identifier: MIT */
/* OWNER head in global: 3 x 32 KiB */
/* A list whose nodes lie in managed memory, which is on no device for certain and is not in the sums. */
#include "scene.h"

struct node {
    struct node *next;
    CUdeviceptr data;
};

static struct node *head;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 3; i++) {
        CUdeviceptr made;
        CHECK(cuMemAllocManaged(&made, 64 * KIB, 1));
        struct node *node = (struct node *)made;
        node->data = ALLOC(32 * KIB);
        node->next = head;
        head = node;
    }
    return 0;
}
