/* SPDX-License-Identifier: MIT */
/* Allocates by as many distinct stacks as it is told: the bits of a number choose the functions on the way. With another
 * argument it keeps them, beside a block that it works with. */
#include <stdlib.h>

extern int cuInit(unsigned);
extern int cuCtxCreate_v2(void **, unsigned, int);
extern int cuMemAlloc_v2(unsigned long long *, size_t);
extern int cuMemFree_v2(unsigned long long);

enum { BITS = 20 };

static int keeps;

static void walk(unsigned number, int bits);

__attribute__((noinline)) static void leaf(void) {
    unsigned long long block;
    if (cuMemAlloc_v2(&block, 512) || (!keeps && cuMemFree_v2(block)))
        abort();
}

__attribute__((noinline)) static void zero(unsigned number, int bits) {
    walk(number, bits);
    __asm__ volatile("");
}

__attribute__((noinline)) static void one(unsigned number, int bits) {
    walk(number, bits);
    __asm__ volatile("");
}

__attribute__((noinline)) static void walk(unsigned number, int bits) {
    if (!bits)
        leaf();
    else if (number & 1)
        one(number >> 1, bits - 1);
    else
        zero(number >> 1, bits - 1);
    __asm__ volatile("");
}

int main(int argc, char **argv) {
    void *context;
    if (argc < 2 || cuInit(0) || cuCtxCreate_v2(&context, 0, 0))
        return 99;
    keeps = argc > 2;
    for (int i = 0; i < atoi(argv[1]); i++) {
        walk((unsigned)i, BITS);
        unsigned long long scratch;
        if (keeps && (cuMemAlloc_v2(&scratch, 512) || cuMemFree_v2(scratch)))
            return 99;
    }
    return 0;
}
