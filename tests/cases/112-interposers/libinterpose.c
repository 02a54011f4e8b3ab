/* SPDX-License-Identifier: MIT */
/* Another interposer: counts cuMemAlloc_v2 and cuMemFree_v2, finds what is behind it by RTLD_NEXT, and says at the end how
 * often it was called and that it never found itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

static int allocs, frees;

int cuMemAlloc_v2(unsigned long long *p, size_t n) {
    int (*next)(unsigned long long *, size_t) =
        (int (*)(unsigned long long *, size_t))dlsym(RTLD_NEXT, "cuMemAlloc_v2");
    if (next == cuMemAlloc_v2 || allocs > 1000)
        printf("interposer: found itself\n");
    if (!next) /* opened by handle: nothing is behind it */
        return 3;
    allocs++;
    return next(p, n);
}

int cuMemFree_v2(unsigned long long p) {
    int (*next)(unsigned long long) = (int (*)(unsigned long long))dlsym(RTLD_NEXT, "cuMemFree_v2");
    frees++;
    return next(p);
}

__attribute__((destructor)) static void end(void) {
    printf("interposer: %d allocations, %d frees\n", allocs, frees);
}
