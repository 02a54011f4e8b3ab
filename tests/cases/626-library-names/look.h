/* SPDX-License-Identifier: MIT */
/* A library that keeps one allocation in a static variable, loses one, and makes a list of allocations
 * longer. run builds it under many names, with EXPORTS that those names promise or without. */
#include "../../cuda_case.h"

struct node {
    CUdeviceptr memory;
    struct node *next;
};
static CUdeviceptr kept;
static struct node *list;

void keep(void);
void lose(void);
void grow(void);

void keep(void) {
    CHECK(cuMemAlloc_v2(&kept, 1 << 20)); /* HERE keep */
}

void lose(void) {
    CUdeviceptr lost;
    CHECK(cuMemAlloc_v2(&lost, 2 << 20)); /* HERE lose */
}

void grow(void) {
    struct node *node = malloc(sizeof *node);
    EXPECT(node);
    CHECK(cuMemAlloc_v2(&node->memory, 1 << 16)); /* HERE grow */
    node->next = list;
    list = node;
}
