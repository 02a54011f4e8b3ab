/* SPDX-License-Identifier: MIT */
/* Stands in for a CUDA library of that name: a handle has a workspace of its own. */
#include "../../cuda_case.h"

int cublasCreate_v2(CUdeviceptr *handle);
int cublasDestroy_v2(CUdeviceptr handle);

int cublasCreate_v2(CUdeviceptr *handle) {
    return (int)cuMemAlloc_v2(handle, 4 << 20);
}

int cublasDestroy_v2(CUdeviceptr handle) {
    return (int)cuMemFree_v2(handle);
}
