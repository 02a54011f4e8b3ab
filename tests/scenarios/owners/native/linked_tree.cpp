/* SPDX-License-Identifier: MIT */
/* OWNER root in global: 160 x 64 KiB */
/* The same with parents, and with the context at the root: each node leads to it. */
#include "scene.h"

#include <vector>

struct Mesh {
    long kind = 1;
    CUdeviceptr memory = 0;
};

struct Node {
    long more[4] = {};
    CUcontext context = nullptr;
    Node *parent = nullptr;
    std::vector<Node *> children;
    Mesh *mesh = nullptr;
};

static Node *root;

static Node *add(Node *parent) {
    Node *node = new Node;
    node->parent = parent;
    parent->children.push_back(node);
    return node;
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    root = new Node;
    CHECK(cuCtxGetCurrent(&root->context));
    for (int i = 0; i < 20; i++)
        add(root);
    for (int i = 0; i < 160; i++) {
        Node *node = add(root->children[i % 20]);
        node->mesh = new Mesh;
        node->mesh->memory = ALLOC(64 * KIB);
    }
    return 0;
}
