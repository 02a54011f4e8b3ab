/* SPDX-License-Identifier: MIT */
/* program HOW LIB...: opens each library (HOW: local or global), allocates 1000, 1001, ... bytes by
 * its `use`; then the same by name on each runtime's handle, and by the driver's entries that the
 * runtimes hand out. Frees nothing. */
#define _GNU_SOURCE
#include "../../../cuda_case.h"

#include <dlfcn.h>
#include <string.h>

int main(int argc, char **argv) {
    size_t n = 1000;
    for (int i = 2; i < argc; i++) {
        void *lib =
            dlopen(argv[i], RTLD_NOW | (strcmp(argv[1], "local") == 0 ? RTLD_LOCAL : RTLD_GLOBAL));
        if (!lib)
            fprintf(stderr, "%s\n", dlerror());
        EXPECT(lib);
        void *(*use)(size_t, int *) = (void *(*)(size_t, int *))dlsym(lib, "use");
        int major = 0;
        if (use) {
            void *p = use(n, &major);
            printf("%s: %zu: runtime %d %s\n", argv[i], n, major, p ? "gave" : "refused");
            n++;
        }
        void *p = NULL;
        int (*allocate)(void **, size_t) = (int (*)(void **, size_t))dlsym(lib, "cudaMalloc");
        int (*allocate2)(void **, size_t, void *) =
            (int (*)(void **, size_t, void *))dlsym(lib, "cudaMallocAsync");
        int (*allocate3)(void **, size_t, void *) =
            (int (*)(void **, size_t, void *))dlsym(lib, "cudaMallocAsync_ptsz");
        if (allocate && !use) {
            printf("%zu: %d\n", n, allocate(&p, n));
            n++;
            printf("%zu: %d\n", n, allocate2(&p, n, NULL));
            n++;
            printf("%zu: %d\n", n, allocate3(&p, n, NULL));
            n++;
            cudaError_t (*entry)(const char *, void **, unsigned long long, void *) =
                (cudaError_t(*)(const char *, void **, unsigned long long, void *))dlsym(
                    lib, "cudaGetDriverEntryPoint");
            cudaError_t (*entry2)(const char *, void **, unsigned, unsigned long long, void *) =
                (cudaError_t(*)(const char *, void **, unsigned, unsigned long long, void *))dlsym(
                    lib, "cudaGetDriverEntryPointByVersion");
            CUresult (*f)(CUdeviceptr *, size_t);
            CUresult (*f2)(CUdeviceptr *, size_t, void *);
            CUdeviceptr d;
            int status;
            CHECK(entry("cuMemAlloc", (void **)&f, 0, &status));
            printf("%zu: %d\n", n, (int)f(&d, n));
            n++;
            CHECK(entry2("cuMemAllocAsync", (void **)&f2, 12000, 2, &status));
            printf("%zu: %d\n", n, (int)f2(&d, n, NULL));
            n++;
        }
    }
    return 0;
}
