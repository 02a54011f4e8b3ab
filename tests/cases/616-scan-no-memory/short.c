/* SPDX-License-Identifier: MIT */
/* short KIB: loses an allocation, and ends with so much address space left for the exit scan. */
#include "../../cuda_case.h"

#include <sys/resource.h>

int main(int argc, char **argv) {
    CUdeviceptr lost;
    unsigned long long pages = 0;
    start_cuda();
    CHECK(cuMemAlloc_v2(&lost, 1 << 20));
    lost = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    EXPECT(statm && fscanf(statm, "%llu", &pages) == 1);
    fclose(statm);
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    if (argc > 1)
        limit.rlim_cur = pages * 4096 + strtoull(argv[1], NULL, 10) * 1024;
    EXPECT(setrlimit(RLIMIT_AS, &limit) == 0);
    return 0;
}
