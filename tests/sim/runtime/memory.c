/* SPDX-License-Identifier: MIT */
/* Memory in the simulated runtime: allocations of every kind, pools, pointer attributes. */
#include "runtime.h"

#include <string.h>

/* ---- on the device ---- */

cudaError_t cudaMalloc(void **out, size_t bytes) {
    CUdeviceptr address = 0;
    RT_ENTER_CONTEXT();
    if (out == NULL)
        return rt_fail(cudaErrorInvalidValue);
    CUresult result = bytes != 0 ? rt.memAlloc(&address, bytes) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        *out = (void *)(uintptr_t)address; /* nothing asked: a null pointer */
    return rt_result(result);
}

static CUresult pitched(void **out, size_t *pitch, size_t width, size_t height) {
    CUdeviceptr address = 0;
    if (width == 0 || height == 0) {
        *pitch = 0;
        *out = NULL;
        return CUDA_SUCCESS;
    }
    CUresult result = rt.memAllocPitch(&address, pitch, width, height, 4);
    if (result == CUDA_SUCCESS)
        *out = (void *)(uintptr_t)address;
    return result;
}

cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height) {
    RT_ENTER_CONTEXT();
    if (out == NULL || pitch == NULL)
        return rt_fail(cudaErrorInvalidValue);
    return rt_result(pitched(out, pitch, width, height));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent) {
    RT_ENTER_CONTEXT();
    if (out == NULL)
        return rt_fail(cudaErrorInvalidValue);
    if (extent.depth != 0 && extent.height > SIZE_MAX / extent.depth)
        return rt_fail(cudaErrorMemoryAllocation);
    struct cudaPitchedPtr made = {.xsize = extent.width, .ysize = extent.height};
    CUresult result = pitched(&made.ptr, &made.pitch, extent.width, extent.height * extent.depth);
    if (result == CUDA_SUCCESS)
        *out = made;
    return rt_result(result);
}

cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned int flags) {
    CUdeviceptr address;
    RT_ENTER_CONTEXT();
    if (out == NULL)
        return rt_fail(cudaErrorInvalidValue);
    CUresult result = rt.memAllocManaged(&address, bytes, flags);
    if (result == CUDA_SUCCESS)
        *out = (void *)(uintptr_t)address;
    return rt_result(result);
}

RT_FORWARD(cudaFree, (void *address), memFree, (RT_ADDRESS(address)))
RT_FORWARD(cudaMemGetInfo, (size_t * available, size_t *total), memGetInfo, (available, total))

/* ---- on the host ---- */

static cudaError_t host_alloc(void **out, size_t bytes, unsigned int flags) {
    RT_ENTER_CONTEXT();
    if (out == NULL)
        return rt_fail(cudaErrorInvalidValue);
    if (bytes == 0) {
        *out = NULL;
        return cudaSuccess;
    }
    return rt_result(rt.memHostAlloc(out, bytes, flags));
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned int flags) {
    return host_alloc(out, bytes, flags);
}

cudaError_t cudaMallocHost(void **out, size_t bytes) {
    return host_alloc(out, bytes, 0);
}

cudaError_t cudaFreeHost(void *address) {
    RT_ENTER_CONTEXT();
    return address != NULL ? rt_result(rt.memFreeHost(address)) : cudaSuccess;
}

RT_FORWARD(cudaHostRegister, (void *address, size_t bytes, unsigned int flags), memHostRegister,
           (address, bytes, flags))
RT_FORWARD(cudaHostUnregister, (void *address), memHostUnregister, (address))
RT_FORWARD(cudaHostGetFlags, (unsigned int *flags, void *address), memHostGetFlags,
           (flags, address))

cudaError_t cudaHostGetDevicePointer(void **out, void *address, unsigned int flags) {
    CUdeviceptr device;
    RT_ENTER_CONTEXT();
    if (out == NULL)
        return rt_fail(cudaErrorInvalidValue);
    CUresult result = rt.memHostGetDevicePointer(&device, address, flags);
    if (result == CUDA_SUCCESS)
        *out = (void *)(uintptr_t)device;
    return rt_result(result);
}

/* ---- in stream order ---- */

static cudaError_t cudaMallocAsync_on(bool pt, void **out, size_t bytes, cudaStream_t stream) {
    CUdeviceptr address = 0;
    RT_ENTER_CONTEXT();
    if (out == NULL)
        return rt_fail(cudaErrorInvalidValue);
    CUresult result =
        bytes != 0 ? RT_PICK(pt, memAllocAsync)(&address, bytes, stream) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        *out = (void *)(uintptr_t)address;
    return rt_result(result);
}

static cudaError_t cudaMallocFromPoolAsync_on(bool pt, void **out, size_t bytes, cudaMemPool_t pool,
                                              cudaStream_t stream) {
    CUdeviceptr address = 0;
    RT_ENTER_CONTEXT();
    if (out == NULL)
        return rt_fail(cudaErrorInvalidValue);
    CUresult result = bytes != 0 ? RT_PICK(pt, memAllocFromPoolAsync)(&address, bytes, pool, stream)
                                 : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        *out = (void *)(uintptr_t)address;
    return rt_result(result);
}

RT_TWINS(cudaMallocAsync, _ptsz, (void **out, size_t bytes, cudaStream_t stream),
         (false, out, bytes, stream), (true, out, bytes, stream))
RT_TWINS(cudaMallocFromPoolAsync, _ptsz,
         (void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
         (false, out, bytes, pool, stream), (true, out, bytes, pool, stream))
RT_FORWARD_TWINS(cudaFreeAsync, _ptsz, (void *address, cudaStream_t stream), memFreeAsync,
                 (RT_ADDRESS(address), stream))

/* ---- pools: structs and numbers are the driver's ---- */

RT_FORWARD(cudaMemPoolCreate, (cudaMemPool_t * pool, const struct cudaMemPoolProps *props),
           poolCreate, (pool, (const CUmemPoolProps *)(const void *)props))
RT_FORWARD(cudaMemPoolDestroy, (cudaMemPool_t pool), poolDestroy, (pool))
RT_FORWARD(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t keep), poolTrimTo, (pool, keep))
RT_FORWARD(cudaMemPoolGetAttribute,
           (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value), poolGetAttribute,
           (pool, (CUmemPool_attribute)attribute, value))
RT_FORWARD(cudaMemPoolSetAttribute,
           (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value), poolSetAttribute,
           (pool, (CUmemPool_attribute)attribute, value))
RT_FORWARD(cudaMemPoolGetAccess,
           (enum cudaMemAccessFlags * flags, cudaMemPool_t pool, struct cudaMemLocation *location),
           poolGetAccess,
           ((CUmemAccess_flags *)(void *)flags, pool, (CUmemLocation *)(void *)location))
RT_FORWARD(cudaMemPoolSetAccess,
           (cudaMemPool_t pool, const struct cudaMemAccessDesc *access, size_t count),
           poolSetAccess, (pool, (const CUmemAccessDesc *)(const void *)access, count))
RT_FORWARD(cudaMemPoolExportToShareableHandle,
           (void *out, cudaMemPool_t pool, enum cudaMemAllocationHandleType type,
            unsigned int flags),
           poolExport, (out, pool, (CUmemAllocationHandleType)type, flags))
RT_FORWARD(cudaMemPoolImportFromShareableHandle,
           (cudaMemPool_t * out, void *handle, enum cudaMemAllocationHandleType type,
            unsigned int flags),
           poolImport, (out, handle, (CUmemAllocationHandleType)type, flags))
RT_FORWARD(cudaMemPoolExportPointer, (struct cudaMemPoolPtrExportData * data, void *address),
           poolExportPointer, ((CUmemPoolPtrExportData *)(void *)data, RT_ADDRESS(address)))
RT_FORWARD(cudaMemPoolImportPointer,
           (void **out, cudaMemPool_t pool, struct cudaMemPoolPtrExportData *data),
           poolImportPointer,
           ((CUdeviceptr *)(void *)out, pool, (CUmemPoolPtrExportData *)(void *)data))
RT_FORWARD(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * pool, int device), deviceGetDefaultMemPool,
           (pool, device))
RT_FORWARD(cudaDeviceGetMemPool, (cudaMemPool_t * pool, int device), deviceGetMemPool,
           (pool, device))
RT_FORWARD(cudaDeviceSetMemPool, (int device, cudaMemPool_t pool), deviceSetMemPool, (device, pool))
RT_FORWARD(cudaDeviceGraphMemTrim, (int device), deviceGraphMemTrim, (device))
RT_FORWARD(cudaDeviceGetGraphMemAttribute,
           (int device, enum cudaGraphMemAttributeType attribute, void *value),
           deviceGetGraphMemAttribute, (device, (CUgraphMem_attribute)attribute, value))
RT_FORWARD(cudaDeviceSetGraphMemAttribute,
           (int device, enum cudaGraphMemAttributeType attribute, void *value),
           deviceSetGraphMemAttribute, (device, (CUgraphMem_attribute)attribute, value))

#if SIM_CUDART >= 13
RT_FORWARD(cudaMemGetDefaultMemPool,
           (cudaMemPool_t * pool, struct cudaMemLocation *location,
            enum cudaMemAllocationType type),
           memGetDefaultMemPool,
           (pool, (CUmemLocation *)(void *)location, (CUmemAllocationType)type))
RT_FORWARD(cudaMemGetMemPool,
           (cudaMemPool_t * pool, struct cudaMemLocation *location,
            enum cudaMemAllocationType type),
           memGetMemPool, (pool, (CUmemLocation *)(void *)location, (CUmemAllocationType)type))
RT_FORWARD(cudaMemSetMemPool,
           (struct cudaMemLocation * location, enum cudaMemAllocationType type, cudaMemPool_t pool),
           memSetMemPool, ((CUmemLocation *)(void *)location, (CUmemAllocationType)type, pool))
#endif

/* ---- managed memory: CUDA 12 names a device, 13 (and 12's _v2) a location ---- */

static CUmemLocation location_of(const struct cudaMemLocation *location) {
    return (CUmemLocation){.type = (CUmemLocationType)location->type, .id = location->id};
}

#define P_PREFETCH_V2                                                                              \
    (const void *address, size_t bytes, struct cudaMemLocation location, unsigned int flags,       \
     cudaStream_t stream)
#define A_PREFETCH_V2 (RT_ADDRESS(address), bytes, location_of(&location), flags, stream)

#if SIM_CUDART == 12
static CUmemLocation device_location(int device) {
    return device == cudaCpuDeviceId
               ? (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST}
               : (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

RT_FORWARD_TWINS(cudaMemPrefetchAsync, _ptsz,
                 (const void *address, size_t bytes, int device, cudaStream_t stream),
                 memPrefetchAsync, (RT_ADDRESS(address), bytes, device_location(device), 0, stream))
RT_FORWARD_TWINS(cudaMemPrefetchAsync_v2, _ptsz, P_PREFETCH_V2, memPrefetchAsync, A_PREFETCH_V2)
RT_FORWARD(cudaMemAdvise,
           (const void *address, size_t bytes, enum cudaMemoryAdvise advice, int device), memAdvise,
           (RT_ADDRESS(address), bytes, (CUmem_advise)advice, device_location(device)))
RT_FORWARD(cudaMemAdvise_v2,
           (const void *address, size_t bytes, enum cudaMemoryAdvise advice,
            struct cudaMemLocation location),
           memAdvise, (RT_ADDRESS(address), bytes, (CUmem_advise)advice, location_of(&location)))
#else
RT_FORWARD_TWINS(cudaMemPrefetchAsync, _ptsz, P_PREFETCH_V2, memPrefetchAsync, A_PREFETCH_V2)
RT_FORWARD(cudaMemAdvise,
           (const void *address, size_t bytes, enum cudaMemoryAdvise advice,
            struct cudaMemLocation location),
           memAdvise, (RT_ADDRESS(address), bytes, (CUmem_advise)advice, location_of(&location)))
#endif

RT_FORWARD(cudaMemRangeGetAttribute,
           (void *data, size_t size, enum cudaMemRangeAttribute attribute, const void *address,
            size_t bytes),
           memRangeGetAttribute,
           (data, size, (CUmem_range_attribute)attribute, RT_ADDRESS(address), bytes))

/* ---- what a pointer is ---- */

#if SIM_CUDART == 12
typedef struct vt_cudaPointerAttributes_v12 pointer_attributes;
#else
typedef struct vt_cudaPointerAttributes_v13 pointer_attributes;
#endif

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *address) {
    CUcontext context = NULL;
    unsigned int type = 0, managed = 0;
    CUdeviceptr device = 0;
    void *host = NULL;
    int ordinal = -2;
    CUpointer_attribute wanted[] = {
        CU_POINTER_ATTRIBUTE_CONTEXT,        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER,
        CU_POINTER_ATTRIBUTE_IS_MANAGED,     CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *values[] = {&context, &type, &device, &host, &managed, &ordinal};
    RT_ENTER_CONTEXT();
    if (out == NULL || address == NULL)
        return rt_fail(cudaErrorInvalidValue);
    CUresult result = rt.pointerGetAttributes(6, wanted, values, RT_ADDRESS(address));
    if (result != CUDA_SUCCESS)
        return rt_result(result);
    pointer_attributes found;
    memset(&found, 0, sizeof found);
    found.type = managed != 0                   ? cudaMemoryTypeManaged
                 : type == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
                 : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                                                : cudaMemoryTypeUnregistered;
    found.device = ordinal;
    found.devicePointer = (void *)(uintptr_t)device;
    found.hostPointer =
        found.type == cudaMemoryTypeUnregistered ? (void *)(uintptr_t)address : host;
    memcpy((void *)out, &found, sizeof found);
    return cudaSuccess;
}
