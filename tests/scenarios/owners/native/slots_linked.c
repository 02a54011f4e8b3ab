/* SPDX-License-Identifier: MIT */
/* OWNER buckets in global: 6 x 64 KiB */
/* OWNER root in global: 7 x 16 KiB */
/* OWNER full in global: 4 x 4 KiB */
/* SLOT full: 4 x 4 KiB */
/* Arrays whose slots are in use: heads of chains, and the children of a tree's nodes; of a counted one that is not known. */
#include "scene.h"

static struct entry {
    unsigned key;
    CUdeviceptr value;
    struct entry *next;
} * buckets[4];

static struct node {
    int key;
    struct node *child[2];
    CUdeviceptr value;
} * root;

static struct {
    CUdeviceptr held[4];
    unsigned num_held;
} full;

static struct node *new_tree(int depth) {
    struct node *n = calloc(1, sizeof *n);
    n->key = depth;
    n->value = ALLOC(16 * KIB);
    for (int i = 0; depth && i < 2; i++)
        n->child[i] = new_tree(depth - 1);
    return n;
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (unsigned i = 0; i < 6; i++) {
        struct entry *e = malloc(sizeof *e);
        *e = (struct entry){i, ALLOC(64 * KIB), buckets[i % 4]};
        buckets[i % 4] = e;
    }
    root = new_tree(2);
    while (full.num_held < 4)
        full.held[full.num_held++] = ALLOC(4 * KIB);
    KEEP(buckets);
    KEEP(root);
    KEEP(full);
    return 0;
}
