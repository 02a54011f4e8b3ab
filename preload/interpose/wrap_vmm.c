/* SPDX-License-Identifier: MIT */
/*
 * Virtual memory management: physical memory, its handles and its mappings. Bytes are counted once: for the physical
 * memory, on the device where it was requested. Reserved addresses are not memory, and mappings only refer to memory
 * (state/vmm.c). Imported handles and multicast objects refer to memory that is counted elsewhere.
 *
 * Not wrapped, because they neither allocate nor hold a reference beyond handles and mappings: cuMemAddressReserve,
 * cuMemAddressFree, cuMemSetAccess, cuMemExportToShareableHandle. An export can keep memory alive in other processes,
 * but this process cannot know.
 */
#include "state/state.h"
#include "wrap.h"

/* The device on which a property requests memory. The driver itself refuses NULL and invalid values. */
static unsigned device_of(const CUmemAllocationProp *prop, unsigned *kind) {
    bool host = prop && prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE;
    *kind = host ? VT_KIND_PHYSICAL_HOST : VT_KIND_PHYSICAL;
    return host ? VT_DEVICE_HOST : prop ? (unsigned)prop->location.id & 0xff : VT_DEVICE_UNKNOWN;
}

static void drop(const struct vt_call *call, uint64_t ticks, uint64_t number) {
    unsigned kind, device;
    if (!vt_vmm_drop(number, &kind, &device))
        return;
    if (kind)
        vt_event_freed(call, ticks, number, kind);
    else
        vt_event_object(call, VT_OBJECT_EXTERNAL, number, VT_OBJECT_DESTROYED, VT_CONTEXT_UNKNOWN);
}

VT_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                               const CUmemAllocationProp *prop, unsigned long long flags) {
    VT_ENTER_DRIVER(cuMemCreate);
    unsigned kind, device = device_of(prop, &kind);
    VT_MAY_ALLOC_ON(kind, size, device);
    CUresult result = real(handle, size, prop, flags);
    bool made = result == CUDA_SUCCESS && handle;
    return vt_ask_allocated(
        &call, result,
        (struct vt_live){.address = made ? vt_vmm_made(*handle, kind, device) : 0,
                         .size = size,
                         .context = VT_CONTEXT_UNKNOWN,
                         .kind = (uint8_t)kind,
                         .device = (uint8_t)device});
}

VT_EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    VT_ENTER_DRIVER(cuMemRelease);
    uint64_t ticks = vt_event_before_call(false), number = 0;
    bool known = vt_vmm_release(handle, &number);
    CUresult result = real(handle);
    if (known && result == CUDA_SUCCESS)
        drop(&call, ticks, number);
    else if (known)
        vt_vmm_handle(handle, number);
    vt_event_after_call(ticks);
    return result;
}

VT_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr) {
    VT_ENTER_DRIVER(cuMemRetainAllocationHandle);
    uint64_t ticks = vt_event_before_call(false);
    uint64_t number = vt_vmm_hold_address((uint64_t)(uintptr_t)addr);
    CUresult result = real(handle, addr);
    if (number && result == CUDA_SUCCESS && handle)
        vt_vmm_handle(*handle, number);
    else
        drop(&call, ticks, number);
    vt_event_after_call(ticks);
    return result;
}

VT_EXPORT CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
                            CUmemGenericAllocationHandle handle, unsigned long long flags) {
    VT_ENTER_DRIVER(cuMemMap);
    uint64_t ticks = vt_event_before_call(false);
    uint64_t number = vt_vmm_hold_handle(handle);
    CUresult result = real(ptr, size, offset, handle, flags);
    if (number && result == CUDA_SUCCESS) {
        vt_vmm_mapped(ptr, size, number);
        vt_event_map(&call, 0, vt_vmm_device(number), ptr, size, number);
    } else {
        drop(&call, ticks, number);
    }
    vt_event_after_call(ticks);
    return result;
}

VT_EXPORT CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
    VT_ENTER_DRIVER(cuMemUnmap);
    uint64_t ticks = vt_event_before_call(false), at = ptr, number;
    CUresult result = real(ptr, size);
    bool any = false;
    for (; result == CUDA_SUCCESS && vt_vmm_unmapped(&at, ptr + size, &number); any = true)
        drop(&call, ticks, number);
    if (any)
        vt_event_map(&call, ticks, VT_DEVICE_UNKNOWN, ptr, size, 0);
    vt_event_after_call(ticks);
    return result;
}

static void referred(const struct vt_call *call, CUresult result,
                     const CUmemGenericAllocationHandle *handle) {
    if (result != CUDA_SUCCESS || !handle)
        return;
    /* When a process imports memory that it exported itself, it gets the same handle: the memory is already counted,
     * and the handle has one more reference. */
    uint64_t number = vt_vmm_hold_handle(*handle);
    if (number) {
        vt_vmm_handle(*handle, number);
        return;
    }
    number = vt_vmm_made(*handle, 0, VT_DEVICE_UNKNOWN);
    vt_event_object(call, VT_OBJECT_EXTERNAL, number, 0, VT_CONTEXT_UNKNOWN);
}

VT_EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
                                                  void *osHandle,
                                                  CUmemAllocationHandleType shHandleType) {
    VT_ENTER_DRIVER(cuMemImportFromShareableHandle);
    CUresult result = real(handle, osHandle, shHandleType);
    referred(&call, result, handle);
    return result;
}

/* A multicast object covers memory of several devices that is bound to it. */
VT_EXPORT CUresult cuMulticastCreate(CUmemGenericAllocationHandle *mcHandle,
                                     const CUmulticastObjectProp *prop) {
    VT_ENTER_DRIVER(cuMulticastCreate);
    CUresult result = real(mcHandle, prop);
    referred(&call, result, mcHandle);
    return result;
}
