/* SPDX-License-Identifier: MIT */
/* keeps FILE END: keeps a block, and makes and frees others until there is a FILE; says so. END: "exit", or "kill" itself. */
#include "../../cuda_case.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    static CUdeviceptr kept;
    CUdeviceptr p;
    EXPECT(argc > 2);
    start_cuda();
    CHECK(cuMemAlloc_v2(&kept, 1 << 20));
    puts("allocated");
    fflush(stdout);
    for (long i = 0; access(argv[1], F_OK); i++) {
        CHECK(cuMemAlloc_v2(&p, 4096));
        CHECK(cuMemFree_v2(p));
        if (i % 100 == 0) /* no program does nothing but allocate */
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    puts("done");
    fflush(stdout);
    if (!strcmp(argv[2], "kill"))
        raise(SIGKILL);
    return 0;
}
