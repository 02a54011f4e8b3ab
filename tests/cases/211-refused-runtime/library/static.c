/* SPDX-License-Identifier: MIT */
/*
 * Starts as NVIDIA's CUDA runtime does that is linked into a library (CuPy's, RMM's): it finds the driver, asks it for
 * the private tables that only NVIDIA's has, and gives up without them.
 */
#include <dlfcn.h>
#include <string.h>

int start(void) {
    int (*get)(const char *, void **, int, unsigned long long, void *);
    int (*tables)(const void **, const void *);
    const void *table;
    char id[16] = {1};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *function = library ? dlsym(library, "cuGetProcAddress_v2") : 0;
    if (!function)
        return 35;
    memcpy(&get, &function, sizeof get);
    if (get("cuGetExportTable", &function, 3000, 0, 0) || !function)
        return 35;
    memcpy(&tables, &function, sizeof tables);
    return tables(&table, id) ? 35 : 0;
}
