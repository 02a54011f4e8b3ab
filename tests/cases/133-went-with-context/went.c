/* SPDX-License-Identifier: MIT */
/* went HOW: three blocks that no call frees; then their context ends in one of several ways. */
#include "../../cuda_case.h"

#include <string.h>

#define VT_RUNTIME(id, symbol, since, until, role, prototype) cudaError_t symbol prototype;
#include "vramtrace/hooks.def"

enum { MIB = 1 << 20 };
static void *kept[3];

static void by_driver(void) {
    for (int i = 0; i < 3; i++) {
        CUdeviceptr p;
        CHECK(cuMemAlloc_v2(&p, MIB)); /* driver line */
        kept[i] = (void *)(uintptr_t)p;
    }
}

static void by_runtime(void) {
    for (int i = 0; i < 3; i++)
        CHECK(cudaMalloc(&kept[i], MIB)); /* runtime line */
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    CUcontext context;
    CHECK(cuInit(0));
    if (!strcmp(how, "cudaDeviceReset")) {
        by_runtime();
        CHECK(cudaDeviceReset());
    } else if (!strcmp(how, "cuCtxDestroy")) {
        CHECK(cuCtxCreate_v2(&context, 0, 0));
        by_driver();
        CHECK(cuCtxDestroy_v2(context));
    } else {
        CHECK(cuDevicePrimaryCtxRetain(&context, 0));
        CHECK(cuCtxSetCurrent(context));
        by_driver();
        if (!strcmp(how, "freed"))
            for (int i = 0; i < 3; i++)
                CHECK(cuMemFree_v2((CUdeviceptr)(uintptr_t)kept[i]));
        if (!strcmp(how, "part"))
            CHECK(cuMemFree_v2((CUdeviceptr)(uintptr_t)kept[1]));
        if (!strcmp(how, "cuDevicePrimaryCtxReset"))
            CHECK(cuDevicePrimaryCtxReset_v2(0));
        else
            CHECK(cuDevicePrimaryCtxRelease_v2(0));
    }
    return 0;
}
