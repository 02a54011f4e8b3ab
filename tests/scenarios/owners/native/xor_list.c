/* SPDX-License-Identifier: MIT */
/* MAYBE head in global: 4 x 64 KiB */
/* A list whose links are the neighbours' addresses in one word. */
#include "scene.h"

struct node {
    uintptr_t link;
    CUdeviceptr data;
};

static uintptr_t head = 0x5a5a5a5a5a5a5a5a;

static void __attribute__((noinline)) add(void) {
    struct node *node = malloc(sizeof *node);
    node->data = ALLOC(64 * KIB);
    node->link = head;
    head = (uintptr_t)node ^ 0x5a5a5a5a5a5a5a5a;
    KEEP(head);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 4; i++)
        add();
    return 0;
}
