// SPDX-License-Identifier: MIT
// Leaks through inlined functions, into variables of which the types say what their words are: a vector, an array with its
// count, a std::optional that was reset, a thread-local one.
#include "cuda_case.h"

#include <optional>
#include <vector>

namespace stock {
struct Shelf {
    unsigned count = 0;
    CUdeviceptr held[8] = {};
};
static Shelf shelf;
std::vector<CUdeviceptr> history;
static std::optional<CUdeviceptr> last;
static thread_local CUdeviceptr mine;
} // namespace stock

static inline __attribute__((always_inline)) CUdeviceptr take(size_t bytes) {
    CUdeviceptr found;
    CHECK(cuMemAlloc_v2(&found, bytes)); // a line of kept.cpp
    return found;
}

template <typename T> static __attribute__((noinline)) void keep(std::vector<T> &in) {
    in.push_back(take(sizeof(T) << 17));
}

int main() {
    start_cuda();
    for (int i = 0; i < 40; i++)
        keep(stock::history);
    while (stock::shelf.count < 6)
        stock::shelf.held[stock::shelf.count++] = take(3 << 20);
    stock::shelf.count -= 2;
    stock::last = take(5 << 20);
    stock::last.reset();
    stock::mine = take(7 << 20);
    CUdeviceptr none;
    cuMemAlloc_v2(&none, size_t(1) << 40);
    __asm__ volatile("" : : "r"(&stock::shelf), "r"(&stock::last), "r"(&stock::mine) : "memory");
    return 0;
}
