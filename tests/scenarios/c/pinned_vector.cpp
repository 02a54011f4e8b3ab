/* SPDX-License-Identifier: MIT */
/* A vector in pinned memory that each step adds to; or one of a fixed room. */
#define _Static_assert static_assert
extern "C" {
#include "scene.h"
}

#include <vector>

template <class T> struct Pinned {
    using value_type = T;
    Pinned() = default;
    template <class U> Pinned(const Pinned<U> &) {}

    __attribute__((noinline)) T *allocate(size_t count) {
        void *memory;
        CHECK(cuMemAllocHost_v2(&memory, count * sizeof(T))); /* LEAK */
        return static_cast<T *>(memory);
    }
    void deallocate(T *memory, size_t) {
        CHECK(cuMemFreeHost(memory));
    }
    template <class U> bool operator==(const Pinned<U> &) const {
        return true;
    }
    template <class U> bool operator!=(const Pinned<U> &) const {
        return false;
    }
};

struct Sample {
    char bytes[512];
};

static std::vector<Sample, Pinned<Sample>> *seen;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    seen = new std::vector<Sample, Pinned<Sample>>;
    for (int step = 0; step < 6000; step++) {
        WORK();
        if (!leaking && seen->size() == 64)
            seen->clear();
        seen->push_back(Sample{});
    }
    if (!leaking)
        delete seen;
    return 0;
}
