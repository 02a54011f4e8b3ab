/* SPDX-License-Identifier: MIT */
/* As many phases as it is told, each with a name of its own. With another argument, the process may not grow by more than a
 * megabyte after its start. */
#include "../../cuda_case.h"

#include <vramtrace.h>

#include <sys/resource.h>

static void grow_no_more(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    EXPECT(file && fscanf(file, "%lu", &pages) == 1 && fclose(file) == 0);
    struct rlimit limit = {pages * 4096 + (1 << 20), RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_AS, &limit));
}

int main(int argc, char **argv) {
    char name[64];
    CUdeviceptr block;
    start_cuda();
    CHECK(cuMemAlloc_v2(&block, 512));
    if (argc > 2)
        grow_no_more();
    for (int i = 0; argc > 1 && i < atoi(argv[1]); i++) {
        snprintf(name, sizeof name, "request %d", i);
        vramtrace_push(name);
        vramtrace_pop();
    }
    return 0;
}
