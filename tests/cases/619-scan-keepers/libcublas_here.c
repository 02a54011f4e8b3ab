/* SPDX-License-Identifier: MIT */
/* By its name one of CUDA's libraries, which keep memory for the life of a process. */
#include "../../cuda_case.h"

CUdeviceptr take(size_t bytes);
CUdeviceptr take(size_t bytes) {
    CUdeviceptr address;
    CHECK(cuMemAlloc_v2(&address, bytes)); /* no tail call: its frame is the caller */
    return address;
}
