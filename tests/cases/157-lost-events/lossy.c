/* SPDX-License-Identifier: MIT */
/* lossy FSIZE ROUNDS EARLY LATE END: keeps EARLY blocks, makes ROUNDS times 500 blocks and frees them,
 * keeps LATE blocks, and ends by returning or by SIGKILL ("kill"). With FSIZE not 0 under that file
 * size limit, past which nothing can be recorded. */
#include "../../cuda_case.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

static CUdeviceptr held[500], kept[2000];
static int count;

static void keep(int blocks) {
    while (blocks--)
        CHECK(cuMemAlloc_v2(&kept[count++], 4096)); /* kept */
}

int main(int argc, char **argv) {
    EXPECT(argc > 5);
    struct rlimit limit = {strtoul(argv[1], NULL, 0), RLIM_INFINITY};
    if (limit.rlim_cur)
        CHECK(setrlimit(RLIMIT_FSIZE, &limit));
    start_cuda();
    keep(atoi(argv[3]));
    for (int round = atoi(argv[2]); round > 0; round--) {
        for (int i = 0; i < 500; i++)
            CHECK(cuMemAlloc_v2(&held[i], 1024));
        for (int i = 0; i < 500; i++)
            CHECK(cuMemFree_v2(held[i]));
    }
    keep(atoi(argv[4]));
    if (!strcmp(argv[5], "kill"))
        raise(SIGKILL);
    return 0;
}
