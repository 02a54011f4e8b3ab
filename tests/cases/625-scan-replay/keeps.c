/* SPDX-License-Identifier: MIT */
/* Ten allocations in a list, 3000000 + i, ten that are lost, 4000000 + i; and one in the list that pretends to be lost. */
#include "vramtrace/cuda_abi_runtime.h"

#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    long other[5];
    void *memory;
} * list;

static void *volatile none;

__attribute__((noinline)) static void *take(size_t bytes) {
    void *p = NULL;
    if (cudaMalloc(&p, bytes))
        exit(9);
    return p;
}

__attribute__((noinline)) static void keep(size_t bytes) {
    struct node *n = calloc(1, sizeof *n);
    n->next = list;
    n->memory = take(bytes);
    list = n;
}

__attribute__((noinline)) static void wipe(void) {
    char stack[65536];
    memset(stack, 1, sizeof stack);
    none = stack;
    none = NULL;
}

int main(void) {
    keep(4000099);
    for (size_t i = 0; i < 10; i++) {
        keep(3000000 + i);
        none = take(4000000 + i);
        none = NULL;
    }
    wipe();
    return 0;
}
