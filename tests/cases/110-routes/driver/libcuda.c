/* SPDX-License-Identifier: MIT */
/*
 * A driver that only says which of its functions was called: `fake_called`. Beside the functions
 * that the tracer hooks it has one that nobody hooks (cuMemFancy), a variant newer than any table
 * (cuMemAlloc_v3), and, given out by its cuGetProcAddress alone, an entry that no symbol names (for
 * cuMemAllocManaged).
 */
#include "../../../cuda_case.h"

#include <string.h>

const char *fake_called = "none";
const char **fake_where(void);
const char **fake_where(void) {
    return &fake_called;
}

static CUdeviceptr next = 0x10000;

#define CALLED (fake_called = __func__)

CUresult cuInit(unsigned flags) {
    CALLED;
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult give(CUdeviceptr *p) {
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    *p = next += 0x1000;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr_v1 *p, unsigned n) {
    CALLED;
    *p = (CUdeviceptr_v1)(next += 0x1000);
    return n ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n) {
    CALLED;
    return n ? give(p) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAlloc_v3(CUdeviceptr *p, int more, size_t n);
CUresult cuMemAlloc_v3(CUdeviceptr *p, int more, size_t n) {
    CALLED;
    return more && n ? give(p) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemFree(CUdeviceptr_v1 p) {
    CALLED;
    return p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemFree_v2(CUdeviceptr p) {
    CALLED;
    return p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocAsync(CUdeviceptr *p, size_t n, CUstream s) {
    CALLED;
    return n && !s ? give(p) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *p, size_t n, CUstream s) {
    CALLED;
    return n && !s ? give(p) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s) {
    CALLED;
    return p && !s ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr p, CUstream s) {
    CALLED;
    return p && !s ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocHost(void **p, unsigned n) {
    CALLED;
    return n ? give((CUdeviceptr *)p) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocHost_v2(void **p, size_t n) {
    CALLED;
    return n ? give((CUdeviceptr *)p) : CUDA_ERROR_INVALID_VALUE;
}

int cuMemFancy(int n);
int cuMemFancy(int n) {
    CALLED;
    return n + 1;
}

static CUresult unnamed_managed(CUdeviceptr *p, size_t n, unsigned flags) {
    CALLED;
    return n && flags ? give(p) : CUDA_ERROR_INVALID_VALUE;
}

/* The newest variant not newer than the version, of the kind of stream that the flags ask for. */
static const struct {
    const char *base;
    int since;
    unsigned flags;
    void *function;
} rows[] = {
    {"cuInit", 2000, 0, cuInit},
    {"cuMemAlloc", 2000, 0, cuMemAlloc},
    {"cuMemAlloc", 3020, 0, cuMemAlloc_v2},
    {"cuMemAlloc", 14000, 0, cuMemAlloc_v3},
    {"cuMemFree", 2000, 0, cuMemFree},
    {"cuMemFree", 3020, 0, cuMemFree_v2},
    {"cuMemAllocAsync", 11020, 1, cuMemAllocAsync},
    {"cuMemAllocAsync", 11020, 2, cuMemAllocAsync_ptsz},
    {"cuMemFreeAsync", 11020, 1, cuMemFreeAsync},
    {"cuMemFreeAsync", 11020, 2, cuMemFreeAsync_ptsz},
    {"cuMemAllocHost", 2000, 0, cuMemAllocHost},
    {"cuMemAllocHost", 3020, 0, cuMemAllocHost_v2},
    {"cuMemAllocManaged", 6000, 0, unnamed_managed},
    {"cuMemFancy", 5000, 0, cuMemFancy},
    {"cuGetProcAddress", 11030, 0, cuGetProcAddress},
    {"cuGetProcAddress", 12000, 0, cuGetProcAddress_v2},
};

static CUresult get(const char *name, void **out, int version, cuuint64_t flags,
                    CUdriverProcAddressQueryResult *status) {
    CUdriverProcAddressQueryResult answer = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (!name || !out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(name, rows[i].base) != 0 ||
            (rows[i].flags && rows[i].flags != (flags == 2 ? 2 : 1)))
            continue;
        if (rows[i].since <= version) {
            *out = rows[i].function;
            answer = CU_GET_PROC_ADDRESS_SUCCESS;
        } else if (!*out) {
            answer = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        }
    }
    if (status)
        *status = answer;
    return *out || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *name, void **out, int version, cuuint64_t flags) {
    CALLED;
    return get(name, out, version, flags, NULL);
}

CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status) {
    CALLED;
    return get(name, out, version, flags, status);
}
