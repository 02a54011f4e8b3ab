/* SPDX-License-Identifier: MIT */
/* Attributes of pointers in the simulated driver: cuPointerGetAttribute and related functions. */
#include "pool.h"

#include <string.h>

static bool on_host(const struct sim_block *block) {
    return block->kind == VRAMTRACE_SIM_HOST || block->kind == VRAMTRACE_SIM_REGISTERED;
}

/* One attribute; CUDA_ERROR_INVALID_VALUE and nothing written when the pointer has none such. */
static CUresult get(void *value, CUpointer_attribute attribute, CUdeviceptr address) {
    struct sim_block *block = sim_block_at((uintptr_t)address);
    switch (attribute) { /* those that also exist for unknown memory */
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        if (block == NULL)
            return CUDA_ERROR_INVALID_VALUE;
        *(unsigned int *)value = block->kind == VRAMTRACE_SIM_MANAGED;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned int *)value = block != NULL && block->owner != SIM_OWNER_RESERVED;
        return CUDA_SUCCESS;
    default:
        break;
    }
    if (block == NULL || block->owner == SIM_OWNER_RESERVED)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_context *context = block->context != NULL ? block->context : block->device->primary;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)value = (CUcontext)(void *)context;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned int *)value = on_host(block) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)value = address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!on_host(block) && block->kind != VRAMTRACE_SIM_MANAGED)
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)value = (void *)(uintptr_t)address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *(unsigned int *)value = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)value = block->id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)value = block->device->ordinal;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(unsigned int *)value =
            block->owner == SIM_OWNER_DRIVER && block->kind == VRAMTRACE_SIM_LINEAR;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)value = block->start;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)value = block->bytes;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(unsigned long long *)value = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(CUmemAccess_flags *)value = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(CUmemoryPool *)value =
            block->owner == SIM_OWNER_POOL ? (CUmemoryPool)block->parent : NULL;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *(size_t *)value = block->bytes;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *(void **)value = (void *)block->start;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        *(unsigned long long *)value = block->id;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address) {
    SIM_ENTER();
    return value != NULL ? get(value, attribute, address) : CUDA_ERROR_INVALID_VALUE;
}

/* How many bytes an attribute's value has, to say "nothing" by zeroes for unknown memory. */
static size_t size_of(CUpointer_attribute attribute) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return 4;
    default:
        return 8;
    }
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **values,
                                CUdeviceptr address) {
    SIM_ENTER();
    if (attributes == NULL || values == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        if (values[i] == NULL)
            return CUDA_ERROR_INVALID_VALUE;
        if (get(values[i], attributes[i], address) == CUDA_SUCCESS)
            continue;
        memset(values[i], 0, size_of(attributes[i]));
        if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            *(int *)values[i] = CU_DEVICE_INVALID;
    }
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                               CUdeviceptr address) {
    SIM_ENTER();
    if (value == NULL || sim_block_at((uintptr_t)address) == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute attribute,
                                CUdeviceptr address, size_t bytes) {
    SIM_ENTER();
    struct sim_block *block = sim_block_at((uintptr_t)address);
    if (data == NULL || size == 0 || bytes == 0 || block == NULL ||
        block->kind != VRAMTRACE_SIM_MANAGED)
        return CUDA_ERROR_INVALID_VALUE;
    memset(data, 0, size);
    if (size == 4 && (attribute == CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION ||
                      attribute == CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION)) {
        bool there =
            attribute == CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION && block->charged != 0;
        *(int *)data = there ? block->device->ordinal : CU_DEVICE_INVALID;
    }
    return CUDA_SUCCESS;
}
