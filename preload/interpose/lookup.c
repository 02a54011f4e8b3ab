/* SPDX-License-Identifier: MIT */
/*
 * How a program reaches our wrappers. It finds CUDA in one of four ways:
 *   1. exported symbols (it links the driver or a shared runtime): ours come first, without any code here;
 *   2. dlsym and dlvsym on a handle (ctypes, FFmpeg, cuFFT, XLA): lookup_entry.S, then here;
 *   3. cuGetProcAddress, itself found by dlsym or by cuGetProcAddress (every CUDA runtime, static or shared): here;
 *   4. cudaGetDriverEntryPoint and ...ByVersion: lookup_runtime.c.
 * The real look-up always runs first, and a failure is returned unchanged, because programs detect features that way.
 * If it succeeds, substitute.c selects the wrapper.
 *
 * dlopen is never wrapped: the C library resolves RPATH and $ORIGIN by its caller. dlclose is wrapped, because another
 * library may later be mapped at the same address: an old stack's number would then stand for a new stack.
 */
#define _GNU_SOURCE
#include "interpose.h"
#include "stack/stack.h"
#include "substitute.h"
#include "base/base.h"
#include "interpose/real.h"

#include <dlfcn.h>

/* On a handle of the whole process (dlopen(NULL)), dlsym finds our own export first. We return our function only if a
 * real one exists behind it. Otherwise the program must see the failure; our failed look-up has left the message for
 * the program's dlerror. */
static void *ours(void *found, const char *name) {
    return vt_libc_dlsym(RTLD_NEXT, name) ? found : NULL;
}

static bool may_be_cuda(const char *name) {
    return name && name[0] == 'c' && name[1] == 'u';
}

/* dlsym on a handle other than RTLD_NEXT and RTLD_DEFAULT; lookup_entry.S jumps here. */
void *vt_lookup_dlsym(void *handle, const char *name) {
    void *found = vt_libc_dlsym(handle, name);
    if (!found || !may_be_cuda(name))
        return found;
    return vt_elf_is_ours((uintptr_t)found) ? ours(found, name) : vt_substitute(found, name);
}

void *vt_lookup_dlvsym(void *handle, const char *name, const char *version) {
    void *found = vt_libc_dlvsym(handle, name, version);
    return found && may_be_cuda(name) && !vt_elf_is_ours((uintptr_t)found)
               ? vt_substitute(found, name)
               : found;
}

/* The unload is also announced before the call: another thread may load and run other code at these addresses before
 * dlclose returns. */
VT_EXPORT int dlclose(void *handle) {
    vt_stack_modules_changed();
    int result = vt_libc_dlclose(handle);
    vt_stack_modules_changed();
    return result;
}

VT_EXPORT CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion,
                                    cuuint64_t flags) {
    const struct vt_real_driver *real = vt_real_driver();
    if (!real->cuGetProcAddress)
        return CUDA_ERROR_NOT_INITIALIZED;
    CUresult result = real->cuGetProcAddress(symbol, pfn, cudaVersion, flags);
    if (result == CUDA_SUCCESS && pfn && *pfn && symbol)
        *pfn = vt_substitute_driver(*pfn, symbol, cudaVersion, flags);
    return result;
}

VT_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
                                       cuuint64_t flags,
                                       CUdriverProcAddressQueryResult *symbolStatus) {
    const struct vt_real_driver *real = vt_real_driver();
    if (!real->cuGetProcAddress_v2)
        return CUDA_ERROR_NOT_INITIALIZED;
    CUresult result = real->cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus);
    if (result == CUDA_SUCCESS && pfn && *pfn && symbol)
        *pfn = vt_substitute_driver(*pfn, symbol, cudaVersion, flags);
    return result;
}
