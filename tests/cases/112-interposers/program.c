/* SPDX-License-Identifier: MIT */
/* Five pairs by direct link; with an argument also through a library opened by that name, which has its own idea of two of
 * the driver's functions. */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <dlfcn.h>

int main(int argc, char **argv) {
    CUdeviceptr p;
    if (argc > 1) {
        void *other = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        EXPECT(other);
        CUresult (*allocate)(CUdeviceptr *, size_t) =
            (CUresult(*)(CUdeviceptr *, size_t))dlsym(other, "cuMemAlloc_v2");
        printf("before there is a context: %d\n", (int)allocate(&p, 1));
    }
    start_cuda();
    for (int i = 0; i < 5; i++) {
        CHECK(cuMemAlloc_v2(&p, 1000));
        CHECK(cuMemFree_v2(p));
    }
    CHECK(cuMemAlloc_v2(&p, 77));
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(((CUresult(*)(CUdeviceptr))dlsym(driver, "cuMemFree_v2"))(p));
    printf("%llu left\n", (unsigned long long)vramtrace_sim_live_count(-1));
    return 0;
}
