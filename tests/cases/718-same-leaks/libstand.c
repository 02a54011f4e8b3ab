/* SPDX-License-Identifier: MIT */
/* Copied under the names of CUDA's libraries by `run`: what a handle of theirs allocates, on the device or pinned. */
#include "../../cuda_case.h"

#include "library.h"

/* What libraries of those names export. */
#define EXPORTED(name)                                                                             \
    void name(void);                                                                               \
    void name(void) {}
EXPORTED(cublasCreate_v2)
EXPORTED(cublasDestroy_v2)
EXPORTED(ncclGetUniqueId)

void *library_create(unsigned long long bytes, int host) {
    CUdeviceptr memory = 0;
    void *pinned = NULL;
    if (host)
        CHECK(cuMemAllocHost_v2(&pinned, bytes));
    else
        CHECK(cuMemAlloc_v2(&memory, bytes));
    return host ? pinned : (void *)(uintptr_t)memory; /* NOLINT */
}
