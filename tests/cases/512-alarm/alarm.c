/* SPDX-License-Identifier: MIT */
/* Rises past 10 MiB twice and falls below in between, on a device of 40 MiB. */
#include "../../cuda_case.h"

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev);

#define MIB (1u << 20)

int main(void) {
    CUdeviceptr a, b, c;
    size_t total;
    start_cuda();
    CHECK(cuDeviceTotalMem_v2(&total, 0));
    CHECK(cuMemAlloc_v2(&a, 6 * MIB));
    CHECK(cuMemAlloc_v2(&b, 3 * MIB));
    CHECK(cuMemAlloc_v2(&c, 1 * MIB)); /* reaches it */
    EXPECT(cuMemAlloc_v2(&c, 100 * MIB) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(cuMemFree_v2(b));
    CHECK(cuMemAllocManaged(&b, 8 * MIB, 1));  /* no device memory */
    CHECK(cuMemAllocAsync(&c, 5 * MIB, NULL)); /* passes it again */
    CHECK(cuMemAlloc_v2(&b, 5 * MIB));         /* is past it already */
    return 0;
}
