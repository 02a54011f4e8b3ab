/* SPDX-License-Identifier: MIT */
/* OWNER app in global: 7 x 16 KiB, 64 KiB */
/* A tree whose nodes observe their parents, and one that is selected. */
#include "scene.h"

#include <memory>
#include <unistd.h>
#include <vector>

struct Node : std::enable_shared_from_this<Node> {
    CUdeviceptr mesh = 0;
    std::weak_ptr<Node> parent;
    std::vector<std::shared_ptr<Node>> children;
};
struct App {
    CUdeviceptr screen = 0;
    std::shared_ptr<Node> root;
    std::weak_ptr<Node> selected;
};

static App *app;

static std::shared_ptr<Node> grow(int depth) {
    auto node = std::make_shared<Node>();
    node->mesh = ALLOC(16 * KIB);
    for (int i = 0; depth > 1 && i < 2; i++) {
        node->children.push_back(grow(depth - 1));
        node->children.back()->parent = node;
    }
    return node;
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    app = new App;
    app->screen = ALLOC(64 * KIB);
    app->root = grow(3);
    app->selected = app->root;
    KEEP(app);
    _exit(0);
}
