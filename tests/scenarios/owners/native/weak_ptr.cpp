/* SPDX-License-Identifier: MIT */
/* OWNER owner in global: 64 KiB */
/* A weak_ptr comes first; who holds the object is behind it. */
#include "scene.h"

#include <memory>
#include <unistd.h>

struct Buffer {
    CUdeviceptr address;
};

static std::weak_ptr<Buffer> an_observer;
static std::shared_ptr<Buffer> *owner;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    owner = new std::shared_ptr<Buffer>(new Buffer{ALLOC(64 * KIB)});
    an_observer = *owner;
    KEEP(owner);
    _exit(0);
}
