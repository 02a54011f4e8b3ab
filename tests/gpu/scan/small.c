/* SPDX-License-Identifier: MIT */
/* small: many small allocations, and memory of a pool; each second is lost. */
#include "programs.h"

enum { COUNT = 1000 };

void **kept;

APART void *take_small(int i) {
    void *p;
    size_t first = i & 1 ? 3 : 4;
    if (i % 4 < 2)
        CHECK(cudaMalloc(&p, first * 1000 + (size_t)i));
    else
        CHECK(cudaMallocAsync(&p, first * 100000 + (size_t)i, 0));
    return p;
}

APART void fill(void) {
    kept = (void **)calloc(COUNT, sizeof *kept);
    for (int i = 0; i < COUNT; i++)
        if (i & 1)
            kept[i] = take_small(i);
        else
            lose(take_small(i));
}

int main(void) {
    fill();
    return end();
}
