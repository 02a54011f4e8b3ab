/* SPDX-License-Identifier: MIT */
/* An interposer that defines dlsym itself, as profilers do, and passes everything on to what dlvsym finds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

static int asked;

void *dlsym(void *handle, const char *name) {
    static void *(*real)(void *, const char *);
    static const char *const first_versions[] = {"GLIBC_2.2.5",
                                                 "GLIBC_2.17"}; /* x86-64's, AArch64's */
    for (int i = 0; !real && i < 2; i++)
        real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", first_versions[i]);
    asked++;
    return real(handle, name);
}

__attribute__((destructor)) static void end(void) {
    printf("dlsym wrapper: %s\n", asked ? "asked" : "not asked");
}
