/* SPDX-License-Identifier: MIT */
/* kinds [KIND]: 24 allocations by one function, all lost. 0 cudaMalloc, 1 pinned, 2 managed, 3 from a pool, 4 pitched, 5 small. */
#include "programs.h"

enum { COUNT = 24 };

APART void *take_kind(int kind, int i) {
    void *p = NULL;
    size_t bytes = 4000000 + (size_t)i, pitch;
    switch (kind) {
    case 1:
        CHECK(cudaMallocHost(&p, bytes));
        break;
    case 2:
        CHECK(cudaMallocManaged(&p, bytes, cudaMemAttachGlobal));
        break;
    case 3:
        CHECK(cudaMallocAsync(&p, bytes, 0));
        break;
    case 4:
        CHECK(cudaMallocPitch(&p, &pitch, 1000 + (size_t)i, 2000));
        break;
    case 5:
        CHECK(cudaMalloc(&p, 4000 + (size_t)i));
        break;
    default:
        p = take(bytes);
    }
    return p;
}

int main(int argc, char **argv) {
    for (int i = 0; i < COUNT; i++)
        lose(take_kind(argc > 1 ? atoi(argv[1]) : 0, i));
    return end();
}
