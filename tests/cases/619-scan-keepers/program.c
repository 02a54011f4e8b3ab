/* SPDX-License-Identifier: MIT */
/* program COUNT [keep] [lose]: a CUDA library takes memory COUNT times; the program keeps an allocation,
 * and loses one. */
#include "../../cuda_case.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static CUdeviceptr kept;

__attribute__((noinline)) static void lose(void) {
    CUdeviceptr lost;
    CHECK(cuMemAlloc_v2(&lost, 2 << 20));
}

int main(int argc, char **argv) {
    CUcontext context;
    void *library = dlopen("./libcublas.so", RTLD_NOW);
    CUdeviceptr (*take)(size_t) =
        __extension__(CUdeviceptr(*)(size_t))(library ? dlsym(library, "take") : NULL);
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    for (int i = 0; i < atoi(argv[1]); i++)
        if (!take || !take(4096))
            return 1;
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], "keep") == 0)
            CHECK(cuMemAlloc_v2(&kept, 1 << 20));
        else
            lose();
    return 0;
}
