/* SPDX-License-Identifier: MIT */
/* locked now|later: locks all of its memory: what it has, as a user may at the usual limit of 8 MiB, or what it maps from then on,
 * as root may; uses CUDA, and prints how many MiB are resident. */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB ((rlim_t)1 << 20)

int main(int argc, char **argv) {
    const struct rlimit limit = {8 * MIB, 8 * MIB};
    int now = argc > 1 && strcmp(argv[1], "now") == 0;
    if (now) {
        EXPECT(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
        EXPECT(geteuid() != 0 || setresuid(54321, 54321, 54321) == 0);
    }
    if (mlockall(now ? MCL_CURRENT : MCL_FUTURE) != 0) {
        perror("mlockall");
        return 1;
    }
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    CUdeviceptr p;
    for (int i = 0; i < 64; i++)
        CHECK(cuMemAlloc_v2(&p, 4096));
    long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    EXPECT(file && fscanf(file, "%ld %ld", &all, &resident) == 2);
    fclose(file);
    printf("%ld\n", resident * sysconf(_SC_PAGESIZE) / (long)MIB);
    return 0;
}
