/* SPDX-License-Identifier: MIT */
/* OWNER nobody: 2 x 64 KiB */
/* Two objects that hold each other and nobody else does; a registry observes one of them. */
#include "scene.h"

#include <memory>
#include <unistd.h>
#include <vector>

struct Node {
    CUdeviceptr mesh = 0;
    std::shared_ptr<Node> other;
};

static std::vector<std::weak_ptr<Node>> registry;

static void __attribute__((noinline)) fill() {
    auto one = std::make_shared<Node>(), other = std::make_shared<Node>();
    one->mesh = ALLOC(64 * KIB);
    other->mesh = ALLOC(64 * KIB);
    one->other = other;
    other->other = one;
    registry.push_back(one);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    _exit(over[100]);
}
