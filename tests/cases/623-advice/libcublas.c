/* SPDX-License-Identifier: MIT */
/* The stand-in for a CUDA library, and a function of it that is no constructor and keeps memory. */
#include "../../scenarios/c/libcublas.c"

int cublasSgemm_v2(CUdeviceptr *workspace);

int cublasSgemm_v2(CUdeviceptr *workspace) {
    return (int)cuMemAlloc_v2(workspace, 1 << 20);
}
