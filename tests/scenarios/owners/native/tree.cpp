/* SPDX-License-Identifier: MIT */
/* OWNER root in global: 160 x 64 KiB */
/* Nodes in vectors that grow: the driver's records get the vectors' former memory, in which words stay that point
 * to nodes. */
#include "scene.h"

#include <vector>

struct Mesh {
    long kind = 1;
    CUdeviceptr memory = 0;
};

struct Node {
    long more[6] = {};
    std::vector<Node *> children;
    Mesh *mesh = nullptr;
};

static Node *root;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    root = new Node;
    for (int i = 0; i < 20; i++)
        root->children.push_back(new Node);
    for (int i = 0; i < 160; i++) {
        Node *node = new Node;
        node->mesh = new Mesh;
        node->mesh->memory = ALLOC(64 * KIB);
        root->children[i % 20]->children.push_back(node);
    }
    return 0;
}
