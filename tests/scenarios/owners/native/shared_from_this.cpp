/* SPDX-License-Identifier: MIT */
/* OWNER sessions in global: 3 x 64 KiB */
/* Objects that know their own shared_ptr. */
#include "scene.h"

#include <map>
#include <memory>
#include <string>
#include <unistd.h>

struct Session : std::enable_shared_from_this<Session> {
    CUdeviceptr state = 0;
};

static std::map<std::string, std::shared_ptr<Session>> sessions;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (const char *name : {"one", "two", "three"}) {
        sessions[name] = std::make_shared<Session>();
        sessions[name]->state = ALLOC(64 * KIB);
    }
    _exit(0);
}
