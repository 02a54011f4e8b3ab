/* SPDX-License-Identifier: MIT */
/* What the program and its libraries share. */
#ifndef VT_TEST_HOLDER_H
#define VT_TEST_HOLDER_H

#include "cuda_case.h"

#include <cstddef>
#include <cstdio>

/* Device memory. Inlined, so that each call has a line of its own. */
static inline __attribute__((always_inline)) CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr made;
    CHECK(cuMemAlloc_v2(&made, bytes));
    return made;
}

/* Says when it is destroyed, in which order. */
struct Sign {
    const char *name;
    ~Sign() {
        std::printf("%s\n", name);
    }
};

/* Frees what it has. */
struct Owned {
    CUdeviceptr memory;
    explicit Owned(std::size_t bytes) : memory(allocate(bytes)) {}
    ~Owned() {
        CHECK(cuMemFree_v2(memory));
    }
};

#endif
