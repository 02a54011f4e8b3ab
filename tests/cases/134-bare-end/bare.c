/* SPDX-License-Identifier: MIT */
/* bare [twin]: allocates two blocks, frees one, and ends by the system call alone, as Go's runtime does; `twin` frees both. */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
    static CUdeviceptr kept, freed;
    (void)argv;
    start_cuda();
    CHECK(cuMemAlloc_v2(&kept, 1 << 20));
    CHECK(cuMemAlloc_v2(&freed, 2 << 20));
    CHECK(cuMemFree_v2(freed));
    if (argc > 1)
        CHECK(cuMemFree_v2(kept));
    syscall(SYS_exit_group, argc > 1 ? 0 : 5);
}
