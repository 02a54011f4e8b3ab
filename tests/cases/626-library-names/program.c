/* SPDX-License-Identifier: MIT */
/* program LIBRARY: calls the three functions of look.h in that library. */
#include "../../cuda_case.h"

#include <dlfcn.h>

static void *find(void *library, const char *name) {
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "%s: %s\n", name, dlerror());
        _Exit(97);
    }
    return found;
}

int main(int argc, char **argv) {
    CUdeviceptr work;
    if (argc != 2)
        return 96;
    start_cuda();
    CHECK(cuMemAlloc_v2(&work, 4096));
    CHECK(cuMemFree_v2(work));
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void (*keep)(void) = __extension__(void (*)(void)) find(library, "keep");
    void (*lose)(void) = __extension__(void (*)(void)) find(library, "lose");
    void (*grow)(void) = __extension__(void (*)(void)) find(library, "grow");
    keep();
    lose();
    for (int i = 0; i < 160; i++) {
        CHECK(cuMemAlloc_v2(&work, 1 << 14));
        grow();
        CHECK(cuMemFree_v2(work));
    }
    return 0;
}
