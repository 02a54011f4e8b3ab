/* SPDX-License-Identifier: MIT */
/*
 * Pinned host memory, which never counts for a device. Either the driver allocates it, or the program registers memory
 * of its own. The two kinds can have the same address, so they are two address spaces.
 */
#include "wrap.h"

#define ALLOC_HOST(name, size)                                                                     \
    VT_EXPORT CUresult name(void **pp, size bytesize) {                                            \
        VT_ENTER_DRIVER(name);                                                                     \
        VT_MAY_ALLOC(VT_KIND_HOST, bytesize);                                                      \
        CUresult result = real(pp, bytesize);                                                      \
        return vt_ask_alloc(&call, result, VT_KIND_HOST, VT_OUT(result, pp), bytesize);            \
    }
ALLOC_HOST(cuMemAllocHost, unsigned int)
ALLOC_HOST(cuMemAllocHost_v2, size_t)

VT_EXPORT CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags) {
    VT_ENTER_DRIVER(cuMemHostAlloc);
    VT_MAY_ALLOC(VT_KIND_HOST, bytesize);
    CUresult result = real(pp, bytesize, Flags);
    return vt_ask_alloc(&call, result, VT_KIND_HOST, VT_OUT(result, pp), bytesize);
}

#define REGISTER(name)                                                                             \
    VT_EXPORT CUresult name(void *p, size_t bytesize, unsigned int Flags) {                        \
        VT_ENTER_DRIVER(name);                                                                     \
        VT_MAY_ALLOC(VT_KIND_REGISTERED, bytesize);                                                \
        CUresult result = real(p, bytesize, Flags);                                                \
        return vt_ask_alloc(&call, result, VT_KIND_REGISTERED,                                     \
                            result ? 0 : (uint64_t)(uintptr_t)p, bytesize);                        \
    }
REGISTER(cuMemHostRegister)
REGISTER(cuMemHostRegister_v2)

#define END_HOST(name, kind)                                                                       \
    VT_EXPORT CUresult name(void *p) {                                                             \
        VT_ENTER_DRIVER(name);                                                                     \
        const struct vt_freeing freeing = vt_event_free_begin((uint64_t)(uintptr_t)p, kind);       \
        CUresult result = real(p);                                                                 \
        vt_event_free_end(&call, &freeing, (int)result);                                           \
        return result;                                                                             \
    }
END_HOST(cuMemFreeHost, VT_KIND_HOST)
END_HOST(cuMemHostUnregister, VT_KIND_REGISTERED)
