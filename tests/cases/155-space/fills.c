/* SPDX-License-Identifier: MIT */
/* fills PAIRS [FSIZE]: so many pairs, then one piece kept; with FSIZE under that file size limit, whose signal would kill.
 * Writes a file of its own at the end, which must work where there is room for it. */
#include "../../cuda_case.h"

#include <sys/resource.h>

int main(int argc, char **argv) {
    CUdeviceptr p;
    EXPECT(argc > 1);
    if (argc > 2) {
        struct rlimit limit = {strtoul(argv[2], NULL, 0), RLIM_INFINITY};
        CHECK(setrlimit(RLIMIT_FSIZE, &limit));
    }
    start_cuda();
    for (int i = atoi(argv[1]); i > 0; i--) {
        CHECK(cuMemAlloc_v2(&p, 1024));
        CHECK(cuMemFree_v2(p));
    }
    CHECK(cuMemAlloc_v2(&p, 1024));
    printf("%llu\n", (unsigned long long)vramtrace_sim_live_count(-1));
    return 0;
}
