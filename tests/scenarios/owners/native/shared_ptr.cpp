/* SPDX-License-Identifier: MIT */
/* OWNER engine in global: 64 KiB, 128 KiB */
/* Shared pointers to shared pointers. */
#include "scene.h"

#include <memory>
#include <unistd.h>

struct Buffer {
    CUdeviceptr address;
    explicit Buffer(size_t bytes) : address(ALLOC(bytes)) {}
    ~Buffer() {
        FREE(address);
    }
};
struct Engine {
    std::shared_ptr<Buffer> weights, activations;
};

static std::shared_ptr<Engine> engine;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    engine = std::make_shared<Engine>();
    engine->weights = std::make_shared<Buffer>(64 * KIB);
    engine->activations = std::shared_ptr<Buffer>(new Buffer(128 * KIB));
    _exit(0);
}
