/* SPDX-License-Identifier: MIT */
/* A rank: keeps so many KiB, and has the title TITLE, if that is set. Arguments of the form RANK=3 are put into the environment on the way: those in front of the
 * number before the first CUDA call, those behind it at the end. */
#include "../../cuda_case.h"

#include <string.h>

int main(int argc, char **argv) {
    CUdeviceptr p;
    int i = 1;
    for (; i < argc && strchr(argv[i], '='); i++)
        putenv(argv[i]);
    if (getenv("TITLE")) {
        const char *last = argv[argc - 1];
        memset(argv[0], 0, (size_t)(last + strlen(last) - argv[0]));
        strcpy(argv[0], getenv("TITLE"));
        argc = i;
    }
    start_cuda();
    CHECK(cuMemAlloc_v2(&p, i < argc ? (size_t)atoi(argv[i]) << 10 : 1024));
    for (i++; i < argc; i++)
        putenv(argv[i]);
    return 0;
}
