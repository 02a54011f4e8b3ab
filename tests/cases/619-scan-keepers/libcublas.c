/* SPDX-License-Identifier: MIT */
/* By its name and its exports one of CUDA's libraries, which keep memory for the life of a process. */
#include "../../cuda_case.h"

CUdeviceptr take(size_t bytes);
CUdeviceptr take(size_t bytes) {
    CUdeviceptr address;
    CHECK(cuMemAlloc_v2(&address, bytes)); /* no tail call: its frame is the caller */
    return address;
}

/* What a library of that name exports. */
int cublasCreate_v2(void);
int cublasDestroy_v2(void);
int cublasCreate_v2(void) {
    return 0;
}
int cublasDestroy_v2(void) {
    return 0;
}
