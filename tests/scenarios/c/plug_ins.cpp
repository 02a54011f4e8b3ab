/* SPDX-License-Identifier: MIT */
/* Objects in C++ containers: each owns a buffer; a cache holds on to them. */
#define _Static_assert static_assert
extern "C" {
#include "scene.h"
}

#include <map>
#include <memory>
#include <vector>

struct Buffer {
    CUdeviceptr pointer;
    explicit Buffer(size_t bytes) : pointer(0) {
        CHECK(cuMemAlloc_v2(&pointer, bytes)); /* LEAK */
    }
    ~Buffer() {
        CHECK(cuMemFree_v2(pointer));
    }
    Buffer(const Buffer &) = delete;
};

int main(int argc, char **argv) {
    SCENE(argc, argv);
    static auto &cache = *new std::map<int, std::shared_ptr<Buffer>>;
    std::vector<std::shared_ptr<Buffer>> last;
    for (int i = 0; i < 200; i++) {
        auto buffer = std::make_shared<Buffer>(100 * KIB);
        last.push_back(buffer);
        if (last.size() > 4)
            last.erase(last.begin());
        if (leaking)
            cache[i] = buffer;
    }
    return 0;
}
