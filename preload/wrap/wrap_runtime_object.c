/* SPDX-License-Identifier: MIT */
/*
 * The runtime's names for arrays, registered host memory and objects that hold memory of unknown
 * size, as labels (see wrap_runtime.c).
 */
#include "wrap_runtime.h"

LABEL(cudaMallocArray,
      (cudaArray_t * array, const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
       unsigned int flags),
      (array, desc, width, height, flags));
LABEL(cudaMalloc3DArray,
      (cudaArray_t * array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
       unsigned int flags),
      (array, desc, extent, flags));
LABEL(cudaMallocMipmappedArray,
      (cudaMipmappedArray_t * mipmappedArray, const struct cudaChannelFormatDesc *desc,
       struct cudaExtent extent, unsigned int numLevels, unsigned int flags),
      (mipmappedArray, desc, extent, numLevels, flags));
LABEL(cudaFreeArray, (cudaArray_t array), (array));
LABEL(cudaFreeMipmappedArray, (cudaMipmappedArray_t mipmappedArray), (mipmappedArray));
LABEL(cudaHostRegister, (void *ptr, size_t size, unsigned int flags), (ptr, size, flags));
LABEL(cudaHostUnregister, (void *ptr), (ptr));
LABEL(cudaLibraryLoadData,
      (cudaLibrary_t * library, const void *code, enum cudaJitOption *jitOptions,
       void **jitOptionsValues, unsigned int numJitOptions, enum cudaLibraryOption *libraryOptions,
       void **libraryOptionValues, unsigned int numLibraryOptions),
      (library, code, jitOptions, jitOptionsValues, numJitOptions, libraryOptions,
       libraryOptionValues, numLibraryOptions));
LABEL(cudaLibraryLoadFromFile,
      (cudaLibrary_t * library, const char *fileName, enum cudaJitOption *jitOptions,
       void **jitOptionsValues, unsigned int numJitOptions, enum cudaLibraryOption *libraryOptions,
       void **libraryOptionValues, unsigned int numLibraryOptions),
      (library, fileName, jitOptions, jitOptionsValues, numJitOptions, libraryOptions,
       libraryOptionValues, numLibraryOptions));
LABEL(cudaLibraryUnload, (cudaLibrary_t library), (library));
LABEL(cudaDeviceSetLimit, (enum cudaLimit limit, size_t value), (limit, value));
LABEL(cudaInitDevice, (int device, unsigned int deviceFlags, unsigned int flags),
      (device, deviceFlags, flags));
