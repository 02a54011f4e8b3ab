/* SPDX-License-Identifier: MIT */
/*
 * Linked with a static runtime or with the shared one. `take` allocates for two callers, of which one keeps the pointers;
 * `cudaTake` has a name like the runtime's.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

int cudaMalloc(void **p, size_t bytes);
int cudaFree(void *p);
int cudaTake(void **p, size_t bytes);

void *kept[4];
static void *volatile none;
static volatile int three = 3; /* so that the compiler leaves the loop one call */

__attribute__((noinline)) static void *take(size_t bytes) {
    void *p = NULL;
    if (cudaMalloc(&p, bytes))
        puts("cudaMalloc failed");
    return p;
}

__attribute__((noinline)) int cudaTake(void **p, size_t bytes) {
    int result = cudaMalloc(p, bytes);
    if (result)
        puts("cudaMalloc failed");
    return result;
}

__attribute__((noinline)) static void keep(void) {
    for (int i = 0; i <= three; i++)
        kept[i] = take(3000000 + (size_t)i);
}

__attribute__((noinline)) static void lose(void) {
    void *p;
    for (int i = 0; i < three; i++)
        none = take(4000000 + (size_t)i);
    cudaTake(&p, 5000000);
    p = NULL;
    none = p;
}

__attribute__((noinline)) static void wipe(void) {
    char stack[65536];
    memset(stack, 1, sizeof stack);
    none = stack;
    none = NULL;
}

int main(void) {
    keep();
    lose();
    cudaFree(kept[3]);
    wipe();
    return 0;
}
