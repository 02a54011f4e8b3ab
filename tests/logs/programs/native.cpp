/* SPDX-License-Identifier: MIT */
/* Owners in native memory: variables, a thread's, what lies behind them in the heap, what was reset; what a destructor
 * dropped; what nothing points to. */
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <vector>

typedef unsigned long long CUdeviceptr;
extern "C" {
int cuInit(unsigned);
int cuCtxCreate_v2(void **, unsigned, int);
int cuMemAlloc_v2(CUdeviceptr *, size_t);
}
static void CHECK(int result) {
    if (result)
        abort();
}

struct buffer {
    CUdeviceptr at = 0;
    explicit buffer(size_t bytes) {
        CHECK(cuMemAlloc_v2(&at, bytes));
    }
};

struct dropper {
    std::vector<buffer> held;
    ~dropper() {
        held.assign(held.size(), held.back());
    }
};

static std::optional<buffer> kept, reset;
static thread_local std::optional<buffer> own;
static std::vector<std::optional<buffer>> list;
static std::map<int, std::unique_ptr<buffer>> tree;
static dropper dropped;

static __attribute__((noinline)) void fill() {
    kept.emplace(65536);
    reset.emplace(32768);
    reset.reset();
    own.emplace(16384);
    for (int i = 0; i < 4; i++)
        list.emplace_back(buffer(8192));
    list[2].reset();
    for (int i = 0; i < 3; i++)
        tree.emplace(i, std::make_unique<buffer>(4096));
    for (int i = 0; i < 2; i++)
        dropped.held.emplace_back(2048);
    buffer lost(1024);
    lost.at = 0;
    __asm__ volatile("" : : "r"(&lost) : "memory");
}

int main() {
    void *context;
    CHECK(cuInit(0));
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    fill();
    return 0;
}
