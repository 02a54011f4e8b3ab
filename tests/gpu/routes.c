/* SPDX-License-Identifier: MIT */
/*
 * routes: for each hooked driver function, the address that dlsym gives and the one that cuGetProcAddress gives for its
 * version and stream, and the files they lie in. "symbol DLSYM-FILE PROC-FILE equal|other|none".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int (*get_proc_address)(const char *, void **, int, uint64_t, int *);

static const char *file_of(void *address) {
    Dl_info info;
    if (!address || !dladdr(address, &info) || !info.dli_fname)
        return "-";
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

int main(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        return 99;
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
    get_proc_address get = (get_proc_address)dlsym(driver, "cuGetProcAddress_v2");
    if (!init || !get || init(0) != 0)
        return 98;
#define VT_DRIVER(id, symbol, base, since, stream, role, prototype)                                \
    {#symbol, #base, since, sizeof #stream == sizeof "PTSZ" && !strcmp(#stream, "PTSZ")},
    static const struct {
        const char *symbol, *base;
        int since, own_stream;
    } rows[] = {
#include "vramtrace/hooks.def"
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *by_name = dlsym(driver, rows[i].symbol), *by_proc = NULL;
        int found = -1;
        int result = get(rows[i].base, &by_proc, rows[i].since, rows[i].own_stream ? 2 : 1, &found);
        if (result != 0)
            by_proc = NULL;
        printf("%s %s %s %s\n", rows[i].symbol, file_of(by_name), file_of(by_proc),
               !by_name && !by_proc ? "none"
               : by_name == by_proc ? "equal"
                                    : "other");
    }
    return 0;
}
