/* SPDX-License-Identifier: MIT */
/* pairs: reads numbers, makes so many pairs for each, and says when they are made. Counts all at the end. */
#include "../../cuda_case.h"

int main(void) {
    CUdeviceptr p;
    long pairs, all = 0;
    start_cuda();
    while (scanf("%ld", &pairs) == 1) {
        for (all += pairs; pairs > 0; pairs--) {
            CHECK(cuMemAlloc_v2(&p, 1024));
            CHECK(cuMemFree_v2(p));
        }
        puts("made");
        fflush(stdout);
    }
    printf("%ld\n", all);
    return 0;
}
