/* SPDX-License-Identifier: MIT */
/*
 * The runtime's names for arrays, registered host memory and objects with hidden memory, as labels
 * (see wrap_runtime.c).
 */
#include "wrap_runtime.h"

EXPORT(cudaMallocArray);
VT_EXPORT cudaError_t OURS(cudaMallocArray)(cudaArray_t *array,
                                            const struct cudaChannelFormatDesc *desc, size_t width,
                                            size_t height, unsigned int flags) {
    ENTER(cudaMallocArray);
    return labelled(&label, real(array, desc, width, height, flags));
}

EXPORT(cudaMalloc3DArray);
VT_EXPORT cudaError_t OURS(cudaMalloc3DArray)(cudaArray_t *array,
                                              const struct cudaChannelFormatDesc *desc,
                                              struct cudaExtent extent, unsigned int flags) {
    ENTER(cudaMalloc3DArray);
    return labelled(&label, real(array, desc, extent, flags));
}

EXPORT(cudaMallocMipmappedArray);
VT_EXPORT cudaError_t OURS(cudaMallocMipmappedArray)(cudaMipmappedArray_t *mipmappedArray,
                                                     const struct cudaChannelFormatDesc *desc,
                                                     struct cudaExtent extent,
                                                     unsigned int numLevels, unsigned int flags) {
    ENTER(cudaMallocMipmappedArray);
    return labelled(&label, real(mipmappedArray, desc, extent, numLevels, flags));
}

EXPORT(cudaFreeArray);
VT_EXPORT cudaError_t OURS(cudaFreeArray)(cudaArray_t array) {
    ENTER(cudaFreeArray);
    return labelled(&label, real(array));
}

EXPORT(cudaFreeMipmappedArray);
VT_EXPORT cudaError_t OURS(cudaFreeMipmappedArray)(cudaMipmappedArray_t mipmappedArray) {
    ENTER(cudaFreeMipmappedArray);
    return labelled(&label, real(mipmappedArray));
}

EXPORT(cudaHostRegister);
VT_EXPORT cudaError_t OURS(cudaHostRegister)(void *ptr, size_t size, unsigned int flags) {
    ENTER(cudaHostRegister);
    return labelled(&label, real(ptr, size, flags));
}

EXPORT(cudaHostUnregister);
VT_EXPORT cudaError_t OURS(cudaHostUnregister)(void *ptr) {
    ENTER(cudaHostUnregister);
    return labelled(&label, real(ptr));
}

EXPORT(cudaLibraryLoadData);
VT_EXPORT cudaError_t OURS(cudaLibraryLoadData)(cudaLibrary_t *library, const void *code,
                                                enum cudaJitOption *jitOptions,
                                                void **jitOptionsValues, unsigned int numJitOptions,
                                                enum cudaLibraryOption *libraryOptions,
                                                void **libraryOptionValues,
                                                unsigned int numLibraryOptions) {
    ENTER(cudaLibraryLoadData);
    return labelled(&label, real(library, code, jitOptions, jitOptionsValues, numJitOptions,
                                 libraryOptions, libraryOptionValues, numLibraryOptions));
}

EXPORT(cudaLibraryLoadFromFile);
VT_EXPORT cudaError_t OURS(cudaLibraryLoadFromFile)(
    cudaLibrary_t *library, const char *fileName, enum cudaJitOption *jitOptions,
    void **jitOptionsValues, unsigned int numJitOptions, enum cudaLibraryOption *libraryOptions,
    void **libraryOptionValues, unsigned int numLibraryOptions) {
    ENTER(cudaLibraryLoadFromFile);
    return labelled(&label, real(library, fileName, jitOptions, jitOptionsValues, numJitOptions,
                                 libraryOptions, libraryOptionValues, numLibraryOptions));
}

EXPORT(cudaLibraryUnload);
VT_EXPORT cudaError_t OURS(cudaLibraryUnload)(cudaLibrary_t library) {
    ENTER(cudaLibraryUnload);
    return labelled(&label, real(library));
}

EXPORT(cudaDeviceSetLimit);
VT_EXPORT cudaError_t OURS(cudaDeviceSetLimit)(enum cudaLimit limit, size_t value) {
    ENTER(cudaDeviceSetLimit);
    return labelled(&label, real(limit, value));
}

EXPORT(cudaInitDevice);
VT_EXPORT cudaError_t OURS(cudaInitDevice)(int device, unsigned int deviceFlags,
                                           unsigned int flags) {
    ENTER(cudaInitDevice);
    return labelled(&label, real(device, deviceFlags, flags));
}
