/* SPDX-License-Identifier: MIT */
/*
 * Shared physical memory of the simulated driver: exported as a file descriptor, imported by
 * another process or this one, and bound to multicast objects. Imported memory uses nothing of a
 * device.
 */
#include "vmm.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Copies the written parts of a piece of a file; holes stay holes. */
static bool copy_bytes(int to, int from, size_t offset, size_t size) {
    char buffer[65536];
    size_t at = offset, end = offset + size;
    while (at < end) {
        off_t data = lseek(from, (off_t)at, SEEK_DATA);
        if (data < 0 || (size_t)data >= end)
            return true;
        at = (size_t)data;
        size_t want = end - at < sizeof buffer ? end - at : sizeof buffer;
        ssize_t got = pread(from, buffer, want, (off_t)at);
        if (got <= 0 || pwrite(to, buffer, (size_t)got, (off_t)(at - offset)) != got)
            return false;
        at += (size_t)got;
    }
    return true;
}

static void remap(struct sim_block *block, void *data) {
    struct sim_physical *physical = data;
    if (block->owner == SIM_OWNER_MAPPED && block->parent == physical)
        mmap((void *)block->start, block->bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED | MAP_NORESERVE, physical->file, (off_t)block->offset);
}

/* An exported piece moves into a file of its own, under the addresses that it is mapped at. */
static bool own_file(struct sim_physical *physical) {
    size_t offset;
    if (physical->file >= 0)
        return true;
    int from = sim_physical_file(physical, &offset);
    int file = memfd_create("vramtrace-sim-shared", MFD_CLOEXEC);
    if (file < 0)
        return false;
    if (!sim_file_grow(file, physical->size) || !copy_bytes(file, from, offset, physical->size)) {
        close(file);
        return false;
    }
    physical->file = file;
    sim_block_each(remap, physical);
    return true;
}

CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
    SIM_ENTER();
    struct sim_physical *physical = sim_physical_get(handle);
    if (out == NULL || physical == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || physical->multicast)
        return CUDA_ERROR_NOT_SUPPORTED;
    if ((physical->props.requestedHandleTypes & type) == 0)
        return CUDA_ERROR_INVALID_VALUE; /* must have been asked for at its making */
    if (!own_file(physical))
        return CUDA_ERROR_OUT_OF_MEMORY;
    int file = fcntl(physical->file, F_DUPFD_CLOEXEC, 0);
    if (file < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *(int *)out = file;
    return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *out, void *os_handle,
                                        CUmemAllocationHandleType type) {
    SIM_ENTER();
    struct stat wanted, known;
    int file = (int)(intptr_t)os_handle;
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (fstat(file, &wanted) != 0 || wanted.st_size <= 0 ||
        (size_t)wanted.st_size % SIM_GRANULE != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (struct sim_physical *it = sim_physicals; it != NULL; it = it->next) {
        if (it->file >= 0 && fstat(it->file, &known) == 0 && known.st_ino == wanted.st_ino &&
            known.st_dev == wanted.st_dev) {
            it->handles++; /* memory that this process has already */
            *out = (uintptr_t)it;
            return CUDA_SUCCESS;
        }
    }
    struct sim_context *context = sim_context_current();
    struct sim_device *device = context != NULL ? context->device : &sim.devices[0];
    int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    struct sim_physical *physical =
        own >= 0 ? sim_physical_new(device, (size_t)wanted.st_size, VRAMTRACE_SIM_IMPORTED) : NULL;
    if (physical == NULL) {
        if (own >= 0)
            close(own);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    physical->file = own;
    physical->props = (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = type,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->ordinal}};
    sim_count(device, VRAMTRACE_SIM_IMPORTED, (int64_t)physical->size, 1);
    *out = (uintptr_t)physical;
    return CUDA_SUCCESS;
}

/* ---- multicast: addresses for memory that lies elsewhere ---- */

CUresult cuMulticastGetGranularity(size_t *granularity, const CUmulticastObjectProp *prop,
                                   CUmulticastGranularity_flags option) {
    SIM_ENTER();
    (void)option;
    if (granularity == NULL || prop == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *granularity = SIM_GRANULE;
    return CUDA_SUCCESS;
}

CUresult cuMulticastCreate(CUmemGenericAllocationHandle *out, const CUmulticastObjectProp *prop) {
    SIM_ENTER();
    if (out == NULL || prop == NULL || prop->flags != 0 || prop->numDevices == 0 ||
        prop->size == 0 || prop->size % SIM_GRANULE != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_physical *object =
        sim_physical_new(&sim.devices[0], prop->size, VRAMTRACE_SIM_IMPORTED);
    if (object == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    object->multicast = true;
    *out = (uintptr_t)object;
    return CUDA_SUCCESS;
}

static struct sim_physical *multicast_of(CUmemGenericAllocationHandle handle) {
    struct sim_physical *object = sim_physical_get(handle);
    return object != NULL && object->multicast ? object : NULL;
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice device) {
    SIM_ENTER();
    if (multicast_of(handle) == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_device_get(device) != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult bind(struct sim_physical *object, size_t offset, struct sim_physical *memory,
                     size_t memory_offset, size_t size) {
    if (object == NULL || memory == NULL || memory->multicast || size == 0 ||
        offset > object->size || size > object->size - offset || memory_offset > memory->size ||
        size > memory->size - memory_offset)
        return CUDA_ERROR_INVALID_VALUE;
    if (object->bound == NULL) { /* reads through the object use the first one */
        object->bound = memory;
        memory->uses++;
    }
    return CUDA_SUCCESS;
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, size_t offset,
                            CUmemGenericAllocationHandle memory, size_t memory_offset, size_t size,
                            unsigned long long flags) {
    SIM_ENTER();
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return bind(multicast_of(handle), offset, sim_physical_get(memory), memory_offset, size);
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, size_t offset,
                             CUdeviceptr address, size_t size, unsigned long long flags) {
    SIM_ENTER();
    struct sim_block *block = sim_block_at((uintptr_t)address);
    if (flags != 0 || block == NULL || block->owner != SIM_OWNER_MAPPED)
        return CUDA_ERROR_INVALID_VALUE;
    return bind(multicast_of(handle), offset, block->parent,
                block->offset + (uintptr_t)address - block->start, size);
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice device, size_t offset,
                           size_t size) {
    SIM_ENTER();
    struct sim_physical *object = multicast_of(handle);
    (void)offset;
    (void)size;
    if (object == NULL || object->bound == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_device_get(device) == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    struct sim_physical *memory = object->bound;
    object->bound = NULL;
    memory->uses--;
    sim_physical_settle(memory);
    return CUDA_SUCCESS;
}
