/* SPDX-License-Identifier: MIT */
/* An interposer that defines dlsym itself, as profilers do, and passes everything on to what dlvsym finds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

static int asked;

void *dlsym(void *handle, const char *name) {
    static void *(*real)(void *, const char *);
    if (!real)
        real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    asked++;
    return real(handle, name);
}

__attribute__((destructor)) static void end(void) {
    printf("dlsym wrapper: %s\n", asked ? "asked" : "not asked");
}
