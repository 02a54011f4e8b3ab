/* SPDX-License-Identifier: MIT */
/*
 * holders: memory to which a pointer is left at the end (KEPT, each size once: a global, the heap, pinned memory, managed
 * memory), and memory to which none is (LOST). The sizes tell which is which: 3000000 + n and 4000000 + n.
 */
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EACH = 10 };
void *global[EACH], **heap, **pinned, **managed; /* not static: else the compiler leaves them out */
static void *volatile none;

#define CHECK(what)                                                                                \
    do {                                                                                           \
        cudaError_t result_ = (what);                                                              \
        if (result_ != cudaSuccess) {                                                              \
            fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #what, (int)result_);           \
            exit(99);                                                                              \
        }                                                                                          \
    } while (0)

__attribute__((noinline)) static void *take(size_t bytes) {
    void *p;
    CHECK(cudaMalloc(&p, bytes));
    return p;
}

__attribute__((noinline)) static void fill(void) {
    heap = calloc(EACH, sizeof *heap);
    CHECK(cudaMallocHost((void **)&pinned, EACH * sizeof *pinned));
    CHECK(cudaMallocManaged((void **)&managed, EACH * sizeof *managed, cudaMemAttachGlobal));
    for (int i = 0; i < EACH; i++) {
        global[i] = take(3000000 + (size_t)i);
        heap[i] = take(3000100 + (size_t)i);
        pinned[i] = take(3000200 + (size_t)i);
        managed[i] = take(3000300 + (size_t)i);
        none = take(4000000 + (size_t)i);
        none = NULL;
    }
}

__attribute__((noinline)) static void wipe(void) {
    char stack[65536];
    memset(stack, 1, sizeof stack);
    none = stack;
    none = NULL;
}

int main(void) {
    fill();
    wipe();
    CHECK(cudaDeviceSynchronize());
    wipe();
    return 0;
}
