/* SPDX-License-Identifier: MIT */
/* keeps: for each letter that it reads, makes 50,000 pairs (p), or keeps 100 blocks of a mebibyte (k); then says so. */
#include "../../cuda_case.h"

int main(void) {
    CUdeviceptr p;
    int what;
    start_cuda();
    while ((what = getchar()) != EOF) {
        for (int i = 0; what == 'p' && i < 50000; i++) {
            CHECK(cuMemAlloc_v2(&p, 1024));
            CHECK(cuMemFree_v2(p));
        }
        for (int i = 0; what == 'k' && i < 100; i++)
            CHECK(cuMemAlloc_v2(&p, 1 << 20));
        putchar(what);
        fflush(stdout);
    }
    return 0;
}
