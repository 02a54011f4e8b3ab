/* SPDX-License-Identifier: MIT */
/* waits FILE: allocates, says so, waits until the file can be read, and ends. */
#include "../../cuda_case.h"

int main(int argc, char **argv) {
    static CUdeviceptr kept;
    (void)argc;
    start_cuda();
    CHECK(cuMemAlloc_v2(&kept, 1 << 20));
    puts("allocated");
    fflush(stdout);
    FILE *go = fopen(argv[1], "r");
    EXPECT(go && fgetc(go) == 'o');
    puts("done");
    return 0;
}
