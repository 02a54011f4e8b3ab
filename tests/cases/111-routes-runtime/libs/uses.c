/* SPDX-License-Identifier: MIT */
/* A library that was linked with one of the runtimes (or, -DNONE, with none: then it finds whatever
 * there is). */
#include <stddef.h>
extern int cudaMalloc(void **p, size_t n);
extern int cudaFree(void *p);
extern int fake_major(void);

void *use(size_t n, int *major);
void *use(size_t n, int *major) {
    void *p = NULL;
    *major = fake_major();
    return cudaMalloc(&p, n) == 0 ? p : NULL;
}

int give_back(void *p);
int give_back(void *p) {
    return cudaFree(p);
}
