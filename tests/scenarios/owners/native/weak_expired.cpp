/* SPDX-License-Identifier: MIT */
/* OWNER nobody: 2 x 64 KiB */
/* Objects that are no more, but did not free what they had. Those who observe them keep their memory. */
#include "scene.h"

#include <memory>
#include <unistd.h>
#include <vector>

struct Texture {
    CUdeviceptr pixels;
};

static std::vector<std::weak_ptr<Texture>> cache;

static void __attribute__((noinline)) fill() {
    for (int i = 0; i < 2; i++) {
        auto texture = std::make_shared<Texture>();
        texture->pixels = ALLOC(64 * KIB);
        cache.push_back(texture);
    }
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    _exit(over[100]);
}
