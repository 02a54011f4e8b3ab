/* SPDX-License-Identifier: MIT */
/* OWNER sessions in global: 64 KiB */
/* PATH sessions > Session > Pixels */
/* Classes that only this file knows. */
#include "scene.h"

#include <memory>
#include <unistd.h>
#include <vector>

namespace {

struct Pixels {
    virtual ~Pixels() = default;
    CUdeviceptr address;
};

struct Session {
    virtual ~Session() = default;
    std::unique_ptr<Pixels> pixels;
};

} // namespace

static std::vector<Session *> sessions;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    sessions.push_back(new Session);
    sessions[0]->pixels = std::make_unique<Pixels>();
    sessions[0]->pixels->address = ALLOC(64 * KIB);
    KEEP(sessions);
    _exit(0);
}
