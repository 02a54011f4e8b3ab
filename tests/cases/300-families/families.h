/* SPDX-License-Identifier: MIT */
/* What the families' programs share: the driver's functions that we do not hook, and the one check
 * that matters: what the tracer holds live is what the driver has given, to the byte. */
#ifndef FAMILIES_H
#define FAMILIES_H

#include "../../cuda_case.h"
#include "vramtrace.h"

#include <string.h>

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size);
CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count);
CUresult cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType,
                                      unsigned long long flags);
CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle mcHandle, CUdevice dev);
CUresult cuMulticastBindMem(CUmemGenericAllocationHandle mcHandle, size_t mcOffset,
                            CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size,
                            unsigned long long flags);
CUresult cuMulticastUnbind(CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset,
                           size_t size);
CUresult cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray,
                                  unsigned int level);
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep);
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value);
CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool);
CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool);
CUresult cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
                                          CUmemAllocationHandleType handleType,
                                          unsigned long long flags);
CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr);
CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags);
CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph);
CUresult cuDeviceGraphMemTrim(CUdevice device);
CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags);
CUresult cuStreamSynchronize(CUstream hStream);
CUresult cuCtxSynchronize(void);
CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr);
CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *resource, CUdevResourceType type);
CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *phDesc, CUdevResource *resources,
                                   unsigned int nbResources);

#define GRANULE ((size_t)2 << 20)
#define PINNED                                                                                     \
    {                                                                                              \
        .type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE }  \
    }
#define PINNED_POOL                                                                                \
    {                                                                                              \
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {                                  \
            .type = CU_MEM_LOCATION_TYPE_DEVICE                                                    \
        }                                                                                          \
    }

/* The tracer's books and the driver's, on each device. Prints nothing when they agree. */
static inline void same_at(const char *file, int line) {
    for (int device = 0; device < 2; device++) {
        long long ours = vramtrace_live_bytes(device);
        long long theirs = (long long)vramtrace_sim_live_bytes(device);
        if (vramtrace_active() && ours != theirs) {
            fprintf(stderr, "%s:%d: device %d: the driver gave %lld bytes, the tracer has %lld\n",
                    file, line, device, theirs, ours);
            _Exit(97);
        }
    }
}
#define SAME() same_at(__FILE__, __LINE__)

/* After a step, so many bytes more (or fewer) than before are live on device 0. */
#define STEP(bytes, what)                                                                          \
    do {                                                                                           \
        long long before_ = (long long)vramtrace_sim_live_bytes(0);                                \
        CHECK(what);                                                                               \
        SAME();                                                                                    \
        long long by_ = (long long)vramtrace_sim_live_bytes(0) - before_;                          \
        if (by_ != (long long)(bytes)) {                                                           \
            fprintf(stderr, "%s:%d: %s: changed by %lld, expected %lld\n", __FILE__, __LINE__,     \
                    #what, by_, (long long)(bytes));                                               \
            _Exit(96);                                                                             \
        }                                                                                          \
    } while (0)

/* A call that the driver refuses, with just this answer, and the books as they were. */
#define REFUSED(answer, what)                                                                      \
    do {                                                                                           \
        int got_ = (int)(what);                                                                    \
        if (got_ != (int)(answer)) {                                                               \
            fprintf(stderr, "%s:%d: %s: answered %d, expected %d\n", __FILE__, __LINE__, #what,    \
                    got_, (int)(answer));                                                          \
            _Exit(95);                                                                             \
        }                                                                                          \
        SAME();                                                                                    \
    } while (0)

#endif
