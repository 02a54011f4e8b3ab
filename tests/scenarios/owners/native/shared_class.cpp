/* SPDX-License-Identifier: MIT */
/* OWNER scene in global: 64 KiB */
/* PATH scene > Node > Mesh */
/* The same behind a shared_ptr, whose object lies behind its counts. */
#include "scene.h"

#include <memory>
#include <unistd.h>

struct Mesh {
    virtual ~Mesh() = default;
    CUdeviceptr vertices;
};

struct Node {
    virtual ~Node() = default;
    std::shared_ptr<Mesh> mesh;
};

static std::shared_ptr<Node> scene;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    scene = std::make_shared<Node>();
    scene->mesh = std::make_shared<Mesh>();
    scene->mesh->vertices = ALLOC(64 * KIB);
    KEEP(scene);
    _exit(0);
}
