/* SPDX-License-Identifier: MIT */
/* most N: of 100 blocks of one line, a list has the last N; each of the others was given up. */
#include "../../cuda_case.h"

#include <string.h>

struct node {
    struct node *next;
    CUdeviceptr block;
} * list;

static __attribute__((noinline)) void fill(int kept) {
    for (int i = 100; i-- > 0;) {
        CUdeviceptr made;
        CHECK(cuMemAlloc_v2(&made, 65536));
        if (i >= kept)
            continue;
        struct node *node = malloc(sizeof *node);
        *node = (struct node){list, made};
        list = node;
    }
}

int main(int argc, char **argv) {
    start_cuda();
    fill(argc > 1 ? atoi(argv[1]) : 0);
    volatile char over[4096];
    memset((char *)over, 0, sizeof over);
    return over[100];
}
