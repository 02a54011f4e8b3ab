/* SPDX-License-Identifier: MIT */
/* escapes PLUGIN: 1 MiB that is seen, 3 MiB from a plug-in that binds past us, and a context that
 * costs what the driver likes; then asks the driver what is free. */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <dlfcn.h>

int main(int argc, char **argv) {
    CUdeviceptr p;
    size_t free_bytes, total;
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) : NULL;
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    int (*escape)(size_t) = __extension__(int (*)(size_t)) dlsym(plugin, "escape");
    start_cuda();
    CHECK(cuMemAlloc_v2(&p, 1 << 20));
    CHECK(escape(3 << 20));
    CHECK(cuMemGetInfo_v2(&free_bytes, &total));
    printf("%zu of %zu used\n", total - free_bytes, total);
    return 0;
}
