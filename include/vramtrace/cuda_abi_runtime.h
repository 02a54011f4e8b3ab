/* SPDX-License-Identifier: MIT */
/*
 * Types of the CUDA runtime interface: our own declarations of their layouts, for machines without
 * CUDA headers. Types that are only used through pointers stay incomplete. Included by
 * cuda_abi.h only.
 */
#ifndef VRAMTRACE_CUDA_ABI_RUNTIME_H
#define VRAMTRACE_CUDA_ABI_RUNTIME_H

#include "cuda_abi_driver.h"

/* Types and constants, in a compact layout. */
/* clang-format off */

enum cudaError {
    cudaSuccess, cudaErrorMemoryAllocation = 2, cudaErrorInitializationError
};
struct cudaChannelFormatDesc;
typedef struct cudaArray *cudaArray_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize;
    size_t ysize;
};
struct cudaExtent {
    size_t width, height;
    size_t depth;
};
enum cudaLimit { cudaLimitMallocHeapSize = 2 };
struct cudaMemPoolPtrExportData;
struct cudaMemAllocNodeParams;
typedef struct cudaIpcMemHandle_st {
    char reserved[64];
} cudaIpcMemHandle_t;
struct cudaExternalMemoryHandleDesc;
struct cudaExternalMemoryBufferDesc;
struct cudaExternalMemoryMipmappedArrayDesc;
typedef enum cudaError cudaError_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct cudaGraphicsResource *cudaGraphicsResource_t;
typedef struct CUexternalMemory_st *cudaExternalMemory_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
enum cudaJitOption { cudaJitMaxRegisters };
enum cudaLibraryOption { cudaLibraryHostUniversalFunctionAndDataTable };
typedef struct CUlib_st *cudaLibrary_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
struct cudaGraphNodeParams;
typedef struct cudaGraphEdgeData_st cudaGraphEdgeData;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct cudaGraphInstantiateParams_st cudaGraphInstantiateParams;
enum cudaDriverEntryPointQueryResult {
    cudaDriverEntryPointSuccess, cudaDriverEntryPointSymbolNotFound,
    cudaDriverEntryPointVersionNotSufficent
};

/* clang-format on */

#endif
