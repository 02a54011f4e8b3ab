/* SPDX-License-Identifier: MIT */
/* OWNER nobody: 4 x 64 KiB, 3 x 32 KiB */
/* OWNER table in global: 16 KiB */
/* SLOT table: 16 KiB */
/* A heap of the program's own in memory that it mapped, with blocks that were given up; and a table that was mapped. */
#include "scene.h"

#include <sys/mman.h>

struct node {
    struct node *next;
    CUdeviceptr data;
};

static struct {
    char *memory;
    size_t used;
} heap;
static struct node *first, *second;
static CUdeviceptr *table;

static struct node *make(struct node *next, CUdeviceptr data) {
    struct node *node = (struct node *)(heap.memory + heap.used);
    heap.used += sizeof *node;
    *node = (struct node){next, data};
    return node;
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    heap.memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
         0); /* the kernel joins neighbours */
    table = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 4; i++)
        first = make(first, ALLOC(64 * KIB));
    for (int i = 0; i < 3; i++)
        second = make(second, ALLOC(32 * KIB));
    first = first->next;
    second = second->next->next;
    table[5] = ALLOC(16 * KIB);
    return 0;
}
