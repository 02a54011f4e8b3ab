/* SPDX-License-Identifier: MIT */
/* blas: memory that is kept in a map and memory that is lost, beside what cuBLAS has. */
#include "programs.h"

#include <cublas_v2.h>
#include <map>

static auto &kept = *new std::map<int, void *>;
cublasHandle_t handle;

APART void fill() {
    for (int i = 0; i < 24; i++) {
        kept[i] = take(3000000 + (size_t)i);
        lose(take(4000000 + (size_t)i));
    }
}

int main() {
    const float one = 1;
    CHECK(cublasCreate(&handle));
    fill();
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 256, 256, 256, &one, (float *)kept[0], 256,
                      (float *)kept[1], 256, &one, (float *)kept[2], 256));
    return end();
}
