/* SPDX-License-Identifier: MIT */
/* Exceptions through frames that allocated, before and after the unwinder was used, and out of a thread. */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

extern "C" int cuInit(unsigned);
extern "C" int cuCtxCreate_v2(void **, unsigned, int);
extern "C" int cuCtxSetCurrent(void *);
extern "C" int cuMemAlloc_v2(unsigned long long *, std::size_t);
extern "C" int cuMemFree_v2(unsigned long long);

static void *context;

struct Buffer {
    unsigned long long at = 0;
    explicit Buffer(std::size_t n) {
        if (cuMemAlloc_v2(&at, n) != 0)
            throw std::bad_alloc();
    }
    ~Buffer() {
        cuMemFree_v2(at);
    }
};

static void deep(int n) {
    Buffer buffer(1000);
    if (n == 0)
        throw std::runtime_error("from the depth");
    deep(n - 1);
}

static int tries() {
    int caught = 0;
    for (int i = 0; i < 5; i++)
        try {
            deep(9);
        } catch (const std::runtime_error &) {
            caught++;
        }
    try {
        Buffer too_big(1ull << 50);
    } catch (const std::bad_alloc &) {
        caught++;
    }
    return caught;
}

int main() {
    try {
        throw 1;
    } catch (int) {
    }
    if (cuInit(0) != 0 || cuCtxCreate_v2(&context, 0, 0) != 0)
        return 1;
    std::printf("%d\n", tries());
    std::thread([] {
        cuCtxSetCurrent(context);
        std::printf("%d\n", tries());
    }).join();
    unsigned long long kept;
    return cuMemAlloc_v2(&kept, 10);
}
