/* SPDX-License-Identifier: MIT */
/*
 * program [alloc]: opens ./libstatic.so, whose runtime does not start; before that, it allocates 1 MiB by itself.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *find(void *library, const char *name) {
    return library ? dlsym(library, name) : 0;
}

int main(int argc, char **argv) {
    unsigned long long address;
    void *context;
    if (argc > 1 && !strcmp(argv[1], "alloc")) {
        void *driver = dlopen("libcuda.so.1", RTLD_NOW);
        int (*init)(unsigned) = __extension__(int (*)(unsigned)) find(driver, "cuInit");
        int (*create)(void **, unsigned, int) =
            __extension__(int (*)(void **, unsigned, int)) find(driver, "cuCtxCreate_v2");
        int (*alloc)(unsigned long long *, unsigned long) =
            __extension__(int (*)(unsigned long long *, unsigned long))
                find(driver, "cuMemAlloc_v2");
        if (!init || init(0) || create(&context, 0, 0) || alloc(&address, 1 << 20))
            return 98;
    }
    int (*start)(void) =
        __extension__(int (*)(void)) find(dlopen("./libstatic.so", RTLD_NOW), "start");
    if (!start)
        return 99;
    printf("%d\n", start());
    return 3;
}
