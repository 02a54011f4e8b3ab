/* SPDX-License-Identifier: MIT */
/* OWNER Registry::instance()::self in global: 4 x 64 KiB */
/* A map that is a member of a singleton, which is never destroyed. */
#include "scene.h"

#include <map>
#include <string>

class Registry {
  public:
    static Registry &instance() {
        static Registry *self = new Registry;
        return *self;
    }
    void add(const std::string &name, CUdeviceptr buffer) {
        buffers_[name] = buffer;
    }

  private:
    std::map<std::string, CUdeviceptr> buffers_;
};

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (const char *name :
         {"weights", "a name that is too long for the string itself", "bias", "mean"})
        Registry::instance().add(name, ALLOC(64 * KIB));
    return 0;
}
