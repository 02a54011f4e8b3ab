/* SPDX-License-Identifier: MIT */
/* Allocates through an inlined function, in a recursion, and in phases. */
#include <stddef.h>
#include <vramtrace.h>

extern int cuInit(unsigned);
extern int cuCtxCreate_v2(void **, unsigned, int);
extern int cuMemAlloc_v2(void **, size_t);

void *kept[16];
int count;

static inline __attribute__((always_inline)) int inlined(size_t size) {
    return cuMemAlloc_v2(&kept[count++], size);
}

__attribute__((noinline)) int outer(size_t size) {
    return inlined(size) + 0 * count;
}

__attribute__((noinline)) int again(int times) {
    return (times ? again(times - 1) : outer(3 << 20)) + 0 * count;
}

__attribute__((noinline)) int step(void) {
    return outer(1 << 20) + 0 * count;
}

int main(void) {
    void *context;
    int failed = cuInit(0) || cuCtxCreate_v2(&context, 0, 0);
    vramtrace_push("run");
    vramtrace_push("setup");
    failed += again(3);
    vramtrace_pop();
    for (int i = 0; i < 3; i++) {
        vramtrace_push("step");
        failed += step();
        vramtrace_pop();
    }
    vramtrace_pop();
    return failed;
}
