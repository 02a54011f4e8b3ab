/* SPDX-License-Identifier: MIT */
/*
 * Objects that hold device memory of a size that no call tells: modules and libraries (code,
 * `__device__` variables), limits that size a context's heaps and stacks, green contexts. They are
 * recorded with their stacks, so that a rise in untracked memory can be compared with what the
 * program did at that time.
 */
#include "books/books.h"
#include "wrap.h"

VT_EXPORT CUresult cuModuleLoad(CUmodule *module, const char *fname) {
    VT_ENTER_DRIVER(cuModuleLoad);
    return vt_object_made(&call, real(module, fname), VT_OBJECT_MODULE, module);
}

VT_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    VT_ENTER_DRIVER(cuModuleLoadData);
    return vt_object_made(&call, real(module, image), VT_OBJECT_MODULE, module);
}

VT_EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                                      CUjit_option *options, void **optionValues) {
    VT_ENTER_DRIVER(cuModuleLoadDataEx);
    return vt_object_made(&call, real(module, image, numOptions, options, optionValues),
                          VT_OBJECT_MODULE, module);
}

VT_EXPORT CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin) {
    VT_ENTER_DRIVER(cuModuleLoadFatBinary);
    return vt_object_made(&call, real(module, fatCubin), VT_OBJECT_MODULE, module);
}

VT_EXPORT CUresult cuModuleUnload(CUmodule hmod) {
    VT_ENTER_DRIVER(cuModuleUnload);
    return vt_object_gone(&call, real(hmod), VT_OBJECT_MODULE, hmod);
}

VT_EXPORT CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                                     void **jitOptionsValues, unsigned int numJitOptions,
                                     CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                     unsigned int numLibraryOptions) {
    VT_ENTER_DRIVER(cuLibraryLoadData);
    return vt_object_made(&call,
                          real(library, code, jitOptions, jitOptionsValues, numJitOptions,
                               libraryOptions, libraryOptionValues, numLibraryOptions),
                          VT_OBJECT_MODULE, library);
}

VT_EXPORT CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
                                         CUjit_option *jitOptions, void **jitOptionsValues,
                                         unsigned int numJitOptions,
                                         CUlibraryOption *libraryOptions,
                                         void **libraryOptionValues,
                                         unsigned int numLibraryOptions) {
    VT_ENTER_DRIVER(cuLibraryLoadFromFile);
    return vt_object_made(&call,
                          real(library, fileName, jitOptions, jitOptionsValues, numJitOptions,
                               libraryOptions, libraryOptionValues, numLibraryOptions),
                          VT_OBJECT_MODULE, library);
}

VT_EXPORT CUresult cuLibraryUnload(CUlibrary library) {
    VT_ENTER_DRIVER(cuLibraryUnload);
    return vt_object_gone(&call, real(library), VT_OBJECT_MODULE, library);
}

VT_EXPORT CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    VT_ENTER_DRIVER(cuCtxSetLimit);
    CUresult result = real(limit, value);
    if (result == CUDA_SUCCESS)
        vt_event_object(&call, VT_OBJECT_LIMIT,
                        (uint64_t)limit << 56 | (value & 0x00ffffffffffffffull), 0,
                        vt_context_current());
    return result;
}

VT_EXPORT CUresult cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev,
                                    unsigned int flags) {
    VT_ENTER_DRIVER(cuGreenCtxCreate);
    CUresult result = real(phCtx, desc, dev, flags);
    if (result == CUDA_SUCCESS && phCtx)
        vt_event_object(&call, VT_OBJECT_CONTEXT, (uint64_t)(uintptr_t)*phCtx, 0,
                        vt_context_green_made(*phCtx, (unsigned)dev & 0xff));
    return result;
}

VT_EXPORT CUresult cuGreenCtxDestroy(CUgreenCtx hCtx) {
    VT_ENTER_DRIVER(cuGreenCtxDestroy);
    unsigned number = vt_context_green(hCtx);
    vt_context_green_gone(hCtx);
    CUresult result = real(hCtx);
    if (result == CUDA_SUCCESS)
        vt_event_object(&call, VT_OBJECT_CONTEXT, (uint64_t)(uintptr_t)hCtx, VT_OBJECT_DESTROYED,
                        number);
    return result;
}

/* A green context as a CUcontext: its allocations belong to the primary context. */
VT_EXPORT CUresult cuCtxFromGreenCtx(CUcontext *pContext, CUgreenCtx hCtx) {
    VT_ENTER_DRIVER(cuCtxFromGreenCtx);
    CUresult result = real(pContext, hCtx);
    if (result == CUDA_SUCCESS && pContext)
        vt_context_alias(*pContext, vt_context_green(hCtx));
    return result;
}
