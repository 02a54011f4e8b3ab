/* SPDX-License-Identifier: MIT */
/* wait TESTS LAUNCHES: waits until a number on the device is 1, with so many further tests and launches in each step; prints the
 * steps, 5000 at most. */
#include "../../cuda_case.h"

#include <string.h>

int main(int argc, char **argv) {
    int tests = argc > 1 ? atoi(argv[1]) : 0, launches = argc > 2 ? atoi(argv[2]) : 0, steps = 0;
    CUdeviceptr flag;
    CUmodule module;
    CUfunction kernel;
    start_cuda();
    CHECK(cuModuleLoadData(&module, ".version 8.0\n.entry work()"));
    CHECK(cuModuleGetFunction(&kernel, module, "work"));
    CHECK(cuMemAlloc_v2(&flag, 64));
    CHECK(cuMemsetD8_v2(flag, 0, 64));
    for (char ended = 0, other; !ended && steps < 5000; steps++) {
        for (int i = 0; i <= tests; i++) {
            for (int k = 0; k < launches; k++)
                CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
            CHECK(cuMemcpyDtoH_v2(i == tests ? &ended : &other, flag + (unsigned)i, 1));
        }
    }
    printf("%d\n", steps);
    return 0;
}
