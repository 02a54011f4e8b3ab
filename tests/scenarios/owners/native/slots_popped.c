/* SPDX-License-Identifier: MIT */
/* OWNER ring in global: 5 x 1 KiB */
/* OWNER handles in global: 5 x 2 KiB */
/* OWNER stack in global: 5 x 4 KiB */
/* OWNER on_heap in global: 5 x 8 KiB */
/* OWNER grown in global: 5 x 16 KiB */
/* OWNER jobs in global: 5 x 32 KiB */
/* SLOT ring: 5 x 1 KiB */
/* SLOT handles: 5 x 2 KiB */
/* SLOT stack: 5 x 4 KiB */
/* SLOT on_heap: 5 x 8 KiB */
/* SLOT grown: 5 x 16 KiB */
/* SLOT jobs: 5 x 32 KiB */
/* What was popped and forgotten stands in its slot still. A count beside the array covers those that are in use; where it is
 * elsewhere, or beside the positions of a ring, nobody knows. */
#include "scene.h"

static struct {
    unsigned head, tail;
    CUdeviceptr slots[8];
} ring;

static CUdeviceptr handles[16];
static int n_handles;

static struct stack {
    int count;
    CUdeviceptr held[8];
} stack, *on_heap;

static struct {
    CUdeviceptr *held;
    int n, cap;
} grown;

static struct job {
    CUdeviceptr memory;
    int id;
} * jobs[8];
static unsigned first_job, next_job;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    on_heap = calloc(1, sizeof *on_heap);
    grown.cap = 8;
    grown.held = new_list(8);
    for (int i = 0; i < 5; i++) {
        ring.slots[ring.tail++ % 8] = ALLOC(KIB);
        handles[n_handles++] = ALLOC(2 * KIB);
        stack.held[stack.count++] = ALLOC(4 * KIB);
        on_heap->held[on_heap->count++] = ALLOC(8 * KIB);
        grown.held[grown.n++] = ALLOC(16 * KIB);
        struct job *job = malloc(sizeof *job);
        *job = (struct job){ALLOC(32 * KIB), i};
        jobs[next_job++ % 8] = job;
    }
    KEEP(ring);
    KEEP(handles);
    KEEP(stack);
    KEEP(*on_heap);
    KEEP(grown);
    KEEP(jobs);
    ring.head += 2;
    n_handles -= 2;
    stack.count -= 2;
    on_heap->count -= 2;
    grown.n -= 2;
    first_job += 2;
    KEEP(ring);
    KEEP(n_handles);
    KEEP(stack);
    KEEP(*on_heap);
    KEEP(on_heap);
    KEEP(grown);
    KEEP(first_job);
    KEEP(next_job);
    return 0;
}
