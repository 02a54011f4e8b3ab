/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the simulated GPU share: the driver's prototypes that they use (they are linked
 * with build/sim/libcuda.so.1), and a way to run a test in a child of its own, because what the
 * environment asks for is read once a process.
 */
#ifndef SIM_TEST_H
#define SIM_TEST_H

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/sim/sim.h"
#include "tests/sim/cuda_abi_sim.h"

#define SIM_DIR VT_BUILD_DIR "/sim/"
#define MIB     ((size_t)1 << 20)
#define GIB     ((size_t)1 << 30)

/* clang-format off */
CUresult cuInit(unsigned int);
CUresult cuDeviceGetCount(int *);
CUresult cuDeviceGetName(char *, int, CUdevice);
CUresult cuDeviceGetUuid_v2(CUuuid *, CUdevice);
CUresult cuDeviceTotalMem_v2(size_t *, CUdevice);
CUresult cuGetProcAddress(const char *, void **, int, cuuint64_t);
CUresult cuGetProcAddress_v2(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
CUresult cuCtxCreate_v2(CUcontext *, unsigned int, CUdevice);
CUresult cuCtxDestroy_v2(CUcontext);
CUresult cuCtxGetCurrent(CUcontext *);
CUresult cuCtxSetCurrent(CUcontext);
CUresult cuCtxPushCurrent_v2(CUcontext);
CUresult cuCtxPopCurrent_v2(CUcontext *);
CUresult cuCtxGetDevice(CUdevice *);
CUresult cuCtxGetDevice_v2(CUdevice *, CUcontext);
CUresult cuCtxSynchronize(void);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice);
CUresult cuMemGetInfo_v2(size_t *, size_t *);
CUresult cuMemAlloc(CUdeviceptr_v1 *, unsigned int);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
CUresult cuMemAllocPitch_v2(CUdeviceptr *, size_t *, size_t, size_t, unsigned int);
CUresult cuMemAllocManaged(CUdeviceptr *, size_t, unsigned int);
CUresult cuMemFree(CUdeviceptr_v1);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemHostAlloc(void **, size_t, unsigned int);
CUresult cuMemFreeHost(void *);
CUresult cuMemHostRegister_v2(void *, size_t, unsigned int);
CUresult cuMemHostUnregister(void *);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *, size_t *, CUdeviceptr);
CUresult cuPointerGetAttribute(void *, CUpointer_attribute, CUdeviceptr);
CUresult cuMemcpy(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
CUresult cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
CUresult cuMemcpyDtoD_v2(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void *, size_t, CUstream);
CUresult cuMemcpyDtoHAsync_v2_ptsz(void *, CUdeviceptr, size_t, CUstream);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *);
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *);
CUresult cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);
CUresult cuMemsetD16_v2(CUdeviceptr, unsigned short, size_t);
CUresult cuMemsetD32_v2(CUdeviceptr, unsigned int, size_t);
CUresult cuMemsetD2D8_v2(CUdeviceptr, size_t, unsigned char, size_t, size_t);
CUresult cuMemAllocAsync(CUdeviceptr *, size_t, CUstream);
CUresult cuMemFreeAsync(CUdeviceptr, CUstream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *, size_t, CUmemoryPool, CUstream);
CUresult cuMemPoolCreate(CUmemoryPool *, const CUmemPoolProps *);
CUresult cuMemPoolDestroy(CUmemoryPool);
CUresult cuMemPoolTrimTo(CUmemoryPool, size_t);
CUresult cuMemPoolGetAttribute(CUmemoryPool, CUmemPool_attribute, void *);
CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void *);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *, CUdevice);
CUresult cuStreamCreate(CUstream *, unsigned int);
CUresult cuStreamDestroy_v2(CUstream);
CUresult cuStreamSynchronize(CUstream);
CUresult cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode);
CUresult cuStreamEndCapture(CUstream, CUgraph *);
/* clang-format on */

/* In a child a failure must end the child, not jump into the parent's copy of the test runner. */
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: is not so: %s\n", __FILE__, __LINE__, #condition);             \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

/* Expects a call to give this answer. */
#define ANSWERS(expected, call)                                                                    \
    do {                                                                                           \
        int answer_ = (int)(call), expected_ = (int)(expected);                                    \
        if (answer_ != expected_) {                                                                \
            fprintf(stderr, "%s:%d: %s: expected %d, found %d\n", __FILE__, __LINE__, #call,       \
                    expected_, answer_);                                                           \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define OK(call) ANSWERS(CUDA_SUCCESS, call)

/* Runs body in a child with these environment variables ("NAME=value", NULL at the end). */
static inline void in_child(const char *const *variables, void (*body)(void)) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        for (; variables != NULL && *variables != NULL; variables++)
            putenv((char *)(uintptr_t)*variables);
        body();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline CUcontext new_context(CUdevice device) {
    CUcontext context;
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, device));
    return context;
}

static inline size_t available(void) {
    size_t free_bytes, total;
    OK(cuMemGetInfo_v2(&free_bytes, &total));
    return free_bytes;
}

/* ---- the simulated runtimes, opened side by side ---- */

struct runtime {
    void *handle;
    const char *version;
};

static inline struct runtime open_runtime(const char *number) {
    static char path[4096];
    struct runtime rt = {.version =
                             strcmp(number, "12") == 0 ? "libcudart.so.12" : "libcudart.so.13"};
    snprintf(path, sizeof path, "%slibcudart.so.%s", SIM_DIR, number);
    rt.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    EXPECT(rt.handle != NULL);
    return rt;
}

static inline void *find(struct runtime rt, const char *name) {
    void *address = dlvsym(rt.handle, name, rt.version);
    if (address == NULL)
        fprintf(stderr, "%s: no %s\n", rt.version, name);
    EXPECT(address != NULL);
    return address;
}

/* A typed pointer to a runtime's function. */
#define FUNCTION(rt, name, params)                                                                 \
    cudaError_t(*name) params;                                                                     \
    do {                                                                                           \
        void *found_ = find(rt, #name);                                                            \
        memcpy(&name, &found_, sizeof found_);                                                     \
    } while (0)

#endif /* SIM_TEST_H */
