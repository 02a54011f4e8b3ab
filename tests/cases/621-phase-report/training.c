/* SPDX-License-Identifier: MIT */
/* Phases as a training script has them: data, model, epochs of steps, evaluation; steps keep a MiB
 * each. */
#include "../../cuda_case.h"
#include "vramtrace.h"

#define MIB ((size_t)1 << 20)

static CUdeviceptr *kept;

static CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr p;
    CHECK(cuMemAlloc_v2(&p, bytes));
    return p;
}

static void work(size_t bytes) {
    CHECK(cuMemFree_v2(allocate(bytes)));
}

int main(void) {
    int count = 0;
    size_t free_bytes, total_bytes;
    start_cuda();
    CHECK(cuMemGetInfo_v2(&free_bytes, &total_bytes));
    kept = calloc(100, sizeof *kept);
    vramtrace_push("data");
    kept[99] = allocate(8 * MIB);
    vramtrace_pop();
    vramtrace_push("model");
    kept[98] = allocate(16 * MIB);
    work(4 * MIB);
    vramtrace_pop();
    for (int epoch = 0; epoch < 3; epoch++) {
        vramtrace_push("epoch");
        for (int step = 0; step < 10; step++) {
            vramtrace_push("step");
            work(2 * MIB);
            kept[count++] = allocate(MIB);
            vramtrace_pop();
        }
        vramtrace_push("evaluate");
        work(32 * MIB);
        vramtrace_pop();
        vramtrace_pop();
    }
    return 0;
}
