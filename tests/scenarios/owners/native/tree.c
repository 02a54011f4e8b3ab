/* SPDX-License-Identifier: MIT */
/* OWNER root in global: 31 x 8 KiB */
/* A binary tree. */
#include "scene.h"

struct node {
    struct node *left, *right;
    CUdeviceptr data;
};

static struct node *root;

static struct node *grow(int depth) {
    if (!depth)
        return NULL;
    struct node *node = malloc(sizeof *node);
    node->data = ALLOC(8 * KIB);
    node->left = grow(depth - 1);
    node->right = grow(depth - 1);
    return node;
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    root = grow(5);
    KEEP(root);
    return 0;
}
