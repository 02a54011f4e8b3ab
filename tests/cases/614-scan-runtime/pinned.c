/* SPDX-License-Identifier: MIT */
/*
 * Through the runtime, whose teardown at exit takes pinned memory away: a pointer that is kept only
 * there is a pointer all the same.
 */
#include <stddef.h>

int cudaMalloc(void **pointer, size_t bytes);
int cudaMallocHost(void **pointer, size_t bytes);

void **pinned;
void *kept;

__attribute__((noinline)) static void keep_in_pinned(void) {
    void *p = NULL;
    if (cudaMallocHost((void **)&pinned, 4096) == 0 && cudaMalloc(&p, 2 << 20) == 0)
        pinned[3] = p;
    p = NULL;
    __asm__ volatile("" : : "r"(&p) : "memory");
}

__attribute__((noinline)) static void lose(void) {
    void *p = NULL;
    cudaMalloc(&p, 1 << 20);
    p = NULL;
    __asm__ volatile("" : : "r"(&p) : "memory");
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1)
        keep_in_pinned();
    lose();
    return cudaMalloc(&kept, 3 << 20);
}
