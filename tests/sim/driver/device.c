/* SPDX-License-Identifier: MIT */
/*
 * Attributes of the simulated devices: those of a mid-size data-centre GPU of compute capability
 * 8.0, enough for programs that choose a code path by them.
 */
#include "driver.h"

#include <stdio.h>
#include <string.h>

#define A(name) [CU_DEVICE_ATTRIBUTE_##name]

static const int attributes[CU_DEVICE_ATTRIBUTE_MAX] = {
    A(MAX_THREADS_PER_BLOCK) = 1024,
    A(MAX_BLOCK_DIM_X) = 1024,
    A(MAX_BLOCK_DIM_Y) = 1024,
    A(MAX_BLOCK_DIM_Z) = 64,
    A(MAX_GRID_DIM_X) = 2147483647,
    A(MAX_GRID_DIM_Y) = 65535,
    A(MAX_GRID_DIM_Z) = 65535,
    A(MAX_SHARED_MEMORY_PER_BLOCK) = 49152,
    A(TOTAL_CONSTANT_MEMORY) = 65536,
    A(WARP_SIZE) = 32,
    A(MAX_PITCH) = 2147483647,
    A(MAX_REGISTERS_PER_BLOCK) = 65536,
    A(CLOCK_RATE) = 1410000,
    A(TEXTURE_ALIGNMENT) = 512,
    A(GPU_OVERLAP) = 1,
    A(MULTIPROCESSOR_COUNT) = SIM_MULTIPROCESSORS,
    A(CAN_MAP_HOST_MEMORY) = 1,
    A(MAXIMUM_TEXTURE1D_WIDTH) = 131072,
    A(MAXIMUM_TEXTURE2D_WIDTH) = 131072,
    A(MAXIMUM_TEXTURE2D_HEIGHT) = 65536,
    A(MAXIMUM_TEXTURE3D_WIDTH) = 16384,
    A(MAXIMUM_TEXTURE3D_HEIGHT) = 16384,
    A(MAXIMUM_TEXTURE3D_DEPTH) = 16384,
    A(MAXIMUM_TEXTURE2D_LAYERED_WIDTH) = 32768,
    A(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT) = 32768,
    A(MAXIMUM_TEXTURE2D_LAYERED_LAYERS) = 2048,
    A(SURFACE_ALIGNMENT) = 512,
    A(CONCURRENT_KERNELS) = 1,
    A(ECC_ENABLED) = 1,
    A(MEMORY_CLOCK_RATE) = 1215000,
    A(GLOBAL_MEMORY_BUS_WIDTH) = 5120,
    A(L2_CACHE_SIZE) = 41943040,
    A(MAX_THREADS_PER_MULTIPROCESSOR) = 2048,
    A(ASYNC_ENGINE_COUNT) = 3,
    A(UNIFIED_ADDRESSING) = 1,
    A(MAXIMUM_TEXTURE1D_LAYERED_WIDTH) = 32768,
    A(MAXIMUM_TEXTURE1D_LAYERED_LAYERS) = 2048,
    A(MAXIMUM_TEXTURE2D_GATHER_WIDTH) = 32768,
    A(MAXIMUM_TEXTURE2D_GATHER_HEIGHT) = 32768,
    A(MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE) = 8192,
    A(MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE) = 8192,
    A(MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE) = 32768,
    A(TEXTURE_PITCH_ALIGNMENT) = 32,
    A(MAXIMUM_TEXTURECUBEMAP_WIDTH) = 32768,
    A(MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH) = 32768,
    A(MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS) = 2046,
    A(MAXIMUM_SURFACE1D_WIDTH) = 32768,
    A(MAXIMUM_SURFACE2D_WIDTH) = 131072,
    A(MAXIMUM_SURFACE2D_HEIGHT) = 65536,
    A(MAXIMUM_SURFACE3D_WIDTH) = 16384,
    A(MAXIMUM_SURFACE3D_HEIGHT) = 16384,
    A(MAXIMUM_SURFACE3D_DEPTH) = 16384,
    A(MAXIMUM_SURFACE1D_LAYERED_WIDTH) = 32768,
    A(MAXIMUM_SURFACE1D_LAYERED_LAYERS) = 2048,
    A(MAXIMUM_SURFACE2D_LAYERED_WIDTH) = 32768,
    A(MAXIMUM_SURFACE2D_LAYERED_HEIGHT) = 32768,
    A(MAXIMUM_SURFACE2D_LAYERED_LAYERS) = 2048,
    A(MAXIMUM_SURFACECUBEMAP_WIDTH) = 32768,
    A(MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH) = 32768,
    A(MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS) = 2046,
    A(MAXIMUM_TEXTURE2D_LINEAR_WIDTH) = 131072,
    A(MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) = 65000,
    A(MAXIMUM_TEXTURE2D_LINEAR_PITCH) = 2097120,
    A(MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH) = 32768,
    A(MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT) = 32768,
    A(COMPUTE_CAPABILITY_MAJOR) = 8,
    A(COMPUTE_CAPABILITY_MINOR) = 0,
    A(MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH) = 32768,
    A(STREAM_PRIORITIES_SUPPORTED) = 1,
    A(GLOBAL_L1_CACHE_SUPPORTED) = 1,
    A(LOCAL_L1_CACHE_SUPPORTED) = 1,
    A(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) = 167936,
    A(MAX_REGISTERS_PER_MULTIPROCESSOR) = 65536,
    A(MANAGED_MEMORY) = 1,
    A(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO) = 2,
    A(CONCURRENT_MANAGED_ACCESS) = 1,
    A(COMPUTE_PREEMPTION_SUPPORTED) = 1,
    A(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM) = 1,
    A(CAN_USE_STREAM_MEM_OPS_V1) = 1,
    A(CAN_USE_64_BIT_STREAM_MEM_OPS_V1) = 1,
    A(CAN_USE_STREAM_WAIT_VALUE_NOR_V1) = 1,
    A(COOPERATIVE_LAUNCH) = 1,
    A(COOPERATIVE_MULTI_DEVICE_LAUNCH) = 1,
    A(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) = 166912,
    A(CAN_FLUSH_REMOTE_WRITES) = 0,
    A(HOST_REGISTER_SUPPORTED) = 1,
    A(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) = 1,
    A(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED) = 1,
    A(GENERIC_COMPRESSION_SUPPORTED) = 1,
    A(MAX_BLOCKS_PER_MULTIPROCESSOR) = 32,
    A(MAX_PERSISTING_L2_CACHE_SIZE) = 26214400,
    A(MAX_ACCESS_POLICY_WINDOW_SIZE) = 134213632,
    A(RESERVED_SHARED_MEMORY_PER_BLOCK) = 1024,
    A(SPARSE_CUDA_ARRAY_SUPPORTED) = 1,
    A(READ_ONLY_HOST_REGISTER_SUPPORTED) = 1,
    A(TIMELINE_SEMAPHORE_INTEROP_SUPPORTED) = 1,
    A(MEMORY_POOLS_SUPPORTED) = 1,
    A(MEMPOOL_SUPPORTED_HANDLE_TYPES) = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
    A(DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED) = 1,
    A(CAN_USE_64_BIT_STREAM_MEM_OPS) = 1,
    A(CAN_USE_STREAM_WAIT_VALUE_NOR) = 1,
    A(IPC_EVENT_SUPPORTED) = 1,
    A(MEM_SYNC_DOMAIN_COUNT) = 1,
    A(UNIFIED_FUNCTION_POINTERS) = 1,
    A(MULTICAST_SUPPORTED) = 1,
    A(NUMA_ID) = -1,
    A(HOST_NUMA_ID) = 0,
    A(HOST_MEMORY_POOLS_SUPPORTED) = 1,
};

#undef A

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice ordinal) {
    SIM_ENTER();
    struct sim_device *device = sim_device_get(ordinal);
    if (value == NULL || attribute < 1)
        return CUDA_ERROR_INVALID_VALUE;
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
        *value = device->physical + 1;
    else /* one that a newer driver would know is absent here */
        *value = attribute < CU_DEVICE_ATTRIBUTE_MAX ? attributes[attribute] : 0;
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
    if (version == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *version = SIM_DRIVER_VERSION; /* also works before cuInit */
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    SIM_ENTER();
    if (count == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *count = sim.device_count;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *out, int ordinal) {
    SIM_ENTER();
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_device_get(ordinal) == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    *out = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    SIM_ENTER();
    if (name == NULL || length <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_device_get(device) == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)length, "%s", sim.name);
    return CUDA_SUCCESS;
}

/* The same from run to run, and different for every device: "vsim", then the physical number. */
static CUresult get_uuid(CUuuid *uuid, CUdevice ordinal) {
    static const unsigned char fixed[16] = {0x76, 0x73, 0x69, 0x6d, 0, 0, 0x40, 0, 0x80};
    SIM_ENTER();
    struct sim_device *device = sim_device_get(ordinal);
    if (uuid == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    memcpy(uuid->bytes, fixed, sizeof fixed);
    uuid->bytes[15] = (char)(device->physical + 1);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    return get_uuid(uuid, device);
}
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    return get_uuid(uuid, device);
}

CUresult cuDeviceGetLuid(char *luid, unsigned int *mask, CUdevice device) {
    SIM_ENTER(); /* an identifier of another operating system */
    (void)luid;
    (void)mask;
    (void)device;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice ordinal) {
    SIM_ENTER();
    struct sim_device *device = sim_device_get(ordinal);
    if (bytes == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    *bytes = device->total;
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(unsigned int *bytes, CUdevice ordinal) {
    SIM_ENTER();
    struct sim_device *device = sim_device_get(ordinal);
    if (bytes == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    *bytes = device->total > UINT32_MAX ? UINT32_MAX : (unsigned int)device->total;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop *properties, CUdevice device) {
    SIM_ENTER();
    if (properties == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_device_get(device) == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    *properties = (CUdevprop){.maxThreadsPerBlock = 1024,
                              .maxThreadsDim = {1024, 1024, 64},
                              .maxGridSize = {2147483647, 65535, 65535},
                              .sharedMemPerBlock = 49152,
                              .totalConstantMemory = 65536,
                              .SIMDWidth = 32,
                              .memPitch = 2147483647,
                              .regsPerBlock = 65536,
                              .clockRate = 1410000,
                              .textureAlign = 512};
    return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    SIM_ENTER();
    if (major == NULL || minor == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_device_get(device) == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    *major = attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR];
    *minor = attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR];
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice ordinal) {
    SIM_ENTER();
    struct sim_device *device = sim_device_get(ordinal);
    if (text == NULL || length < 13)
        return CUDA_ERROR_INVALID_VALUE;
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(text, (size_t)length, "0000:%02X:00.0", (unsigned)device->physical + 1);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *out, const char *text) {
    SIM_ENTER();
    unsigned domain = 0, bus = 0, slot = 0;
    if (out == NULL || text == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3 &&
        sscanf(text, "%x:%x", &bus, &slot) != 2)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < sim.device_count; i++) {
        if ((unsigned)sim.devices[i].physical + 1 == bus) {
            *out = i;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    SIM_ENTER();
    if (can == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_device_get(device) == NULL || sim_device_get(peer) == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    *can = device != peer;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice source,
                                 CUdevice destination) {
    SIM_ENTER();
    if (value == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_device_get(source) == NULL || sim_device_get(destination) == NULL ||
        source == destination)
        return CUDA_ERROR_INVALID_DEVICE;
    *value = attribute != CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *width, CUarray_format format, unsigned channels,
                                            CUdevice device) {
    SIM_ENTER();
    (void)format;
    if (width == NULL || channels == 0 || channels > 4)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_device_get(device) == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    *width = (size_t)1 << 28;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetExecAffinitySupport(int *supported, CUexecAffinityType type, CUdevice device) {
    SIM_ENTER();
    (void)type;
    if (supported == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_device_get(device) == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    *supported = 0;
    return CUDA_SUCCESS;
}

CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                    CUflushGPUDirectRDMAWritesScope scope) {
    SIM_ENTER_CONTEXT(context);
    (void)context;
    (void)target;
    (void)scope;
    return CUDA_SUCCESS;
}
