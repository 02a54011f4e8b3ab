/* SPDX-License-Identifier: MIT */
/* A runtime that says which one it is, and goes the real one's way to the driver: dlopen, one
 * dlsym, then everything from what cuGetProcAddress gives. Compiled with MAJOR, and with a version
 * script for that version's node. */
#include "../../../cuda_case.h"

#include <dlfcn.h>

typedef CUresult get2(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

int fake_major(void);
int fake_major(void) {
    return MAJOR;
}

static void *driver(const char *name, unsigned flags) {
    static get2 *get;
    static int on;
    void *f = NULL;
    if (!get) {
        get2 *first = (get2 *)dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuGetProcAddress_v2");
        CHECK(first("cuGetProcAddress", (void **)&get, 12000, 0, NULL));
    }
    if (!on++) {
        CUresult (*init)(unsigned), (*retain)(CUcontext *, int), (*set)(CUcontext);
        CUcontext context;
        CHECK(get("cuInit", (void **)&init, 12000, 0, NULL));
        CHECK(get("cuDevicePrimaryCtxRetain", (void **)&retain, 12000, 0, NULL));
        CHECK(get("cuCtxSetCurrent", (void **)&set, 12000, 0, NULL));
        CHECK(init(0));
        CHECK(retain(&context, 0));
        CHECK(set(context));
    }
    CHECK(get(name, &f, 12000, flags, NULL));
    return f;
}

cudaError_t cudaMalloc(void **p, size_t n) {
    return (cudaError_t)((CUresult(*)(CUdeviceptr *, size_t))driver("cuMemAlloc", 0))(
        (CUdeviceptr *)p, n);
}

cudaError_t cudaFree(void *p) {
    return (cudaError_t)((CUresult(*)(CUdeviceptr))driver("cuMemFree", 0))((CUdeviceptr)p);
}

cudaError_t cudaMallocAsync(void **p, size_t n, cudaStream_t s) {
    return (cudaError_t)((CUresult(*)(CUdeviceptr *, size_t, CUstream))driver(
        "cuMemAllocAsync", 1))((CUdeviceptr *)p, n, (CUstream)s);
}

cudaError_t cudaMallocAsync_ptsz(void **p, size_t n, cudaStream_t s) {
    return (cudaError_t)((CUresult(*)(CUdeviceptr *, size_t, CUstream))driver(
        "cuMemAllocAsync", 2))((CUdeviceptr *)p, n, (CUstream)s);
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **f, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *status) {
    *f = driver(symbol, (unsigned)flags);
    *status = 0;
    return 0;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **f, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *status) {
    get2 *get = driver("cuGetProcAddress", 0);
    return (cudaError_t)get(symbol, f, (int)version, flags,
                            (CUdriverProcAddressQueryResult *)status);
}
