/* SPDX-License-Identifier: MIT */
/* One allocation, kept; with an argument, so many. */
#include "../../cuda_case.h"

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1;
    start_cuda();
    for (int i = 0; i < n; i++) {
        CUdeviceptr p;
        CHECK(cuMemAlloc_v2(&p, 64));
        if (i)
            CHECK(cuMemFree_v2(p));
    }
    puts("done");
    return 0;
}
