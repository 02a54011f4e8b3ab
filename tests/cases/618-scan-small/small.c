/* SPDX-License-Identifier: MIT */
/* Keeps four bytes of pinned memory, as PyTorch does for a flag, and loses a device allocation. */
#include "../../cuda_case.h"

static void *volatile flag;

__attribute__((noinline)) static void lose(void) {
    CUdeviceptr lost;
    CHECK(cuMemAlloc_v2(&lost, 1 << 20));
}

int main(void) {
    void *pinned;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemHostAlloc(&pinned, 4, 0));
    flag = pinned;
    lose();
    return 0;
}
