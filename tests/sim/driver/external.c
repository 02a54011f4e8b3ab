/* SPDX-License-Identifier: MIT */
/*
 * Imported memory in the simulated driver: IPC handles, external memory, pools of another process.
 * It is new memory here, not the bytes of the exporter; what matters is that it has addresses, is
 * freed by its own functions, and uses nothing of a device.
 */
#include "array.h"
#include "pool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What an opaque handle says inside. */
struct note {
    char magic[8];
    int pid;
    int device;
    uint64_t address, bytes;
};
#define MAGIC "vt-sim1"

static void write_note(void *out, size_t room, const struct sim_block *block) {
    struct note note = {.magic = MAGIC,
                        .pid = getpid(),
                        .device = block->device->physical,
                        .address = block->start,
                        .bytes = block->bytes};
    memset(out, 0, room);
    memcpy(out, &note, sizeof note);
}

/* An imported range, freed with the context. */
static struct sim_block *import(struct sim_context *context, size_t bytes, unsigned uses) {
    struct sim_block *block = calloc(1, sizeof *block);
    size_t span = (bytes + 4095) & ~(size_t)4095;
    void *start = block != NULL ? mmap(NULL, span, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                : MAP_FAILED;
    if (start == MAP_FAILED) {
        free(block);
        return NULL;
    }
    block->start = (uintptr_t)start;
    block->bytes = bytes;
    block->span = span;
    block->owner = SIM_OWNER_IMPORTED;
    block->kind = VRAMTRACE_SIM_IMPORTED;
    block->device = context->device;
    block->context = context;
    block->uses = uses;
    block->id = ++sim.next_id;
    sim_block_insert(block);
    sim_count(block->device, VRAMTRACE_SIM_IMPORTED, (int64_t)bytes, 1);
    return block;
}

/* ---- IPC ---- */

CUresult cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr address) {
    SIM_ENTER_CONTEXT(context);
    (void)context;
    struct sim_block *block = sim_block_at((uintptr_t)address);
    if (out == NULL || block == NULL || block->owner != SIM_OWNER_DRIVER ||
        block->kind != VRAMTRACE_SIM_LINEAR)
        return CUDA_ERROR_INVALID_VALUE;
    write_note(out, sizeof *out, block);
    return CUDA_SUCCESS;
}

struct search {
    const struct note *note;
    struct sim_block *found;
};

static void find_opened(struct sim_block *block, void *data) {
    struct search *search = data;
    if (block->uses != 0 && block->owner == SIM_OWNER_IMPORTED &&
        block->offset == search->note->address && block->flags == (unsigned)search->note->pid)
        search->found = block;
}

static CUresult ipc_open(CUdeviceptr *out, const CUipcMemHandle *handle, unsigned int flags) {
    SIM_ENTER_CONTEXT(context);
    struct note note;
    memcpy(&note, handle, sizeof note);
    if (out == NULL || flags > CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS ||
        memcmp(note.magic, MAGIC, sizeof note.magic) != 0 || note.bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (note.pid == getpid())
        return CUDA_ERROR_INVALID_CONTEXT; /* only another process may open it */
    struct search search = {.note = &note};
    sim_block_each(find_opened, &search);
    if (search.found != NULL) {
        search.found->uses++; /* opened again: the same address */
    } else {
        search.found = import(context, note.bytes, 1);
        if (search.found == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        search.found->offset = note.address;
        search.found->flags = (unsigned)note.pid;
    }
    *out = search.found->start;
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *out, CUipcMemHandle handle, unsigned int flags) {
    return ipc_open(out, &handle, flags);
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *out, CUipcMemHandle handle, unsigned int flags) {
    return ipc_open(out, &handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
    SIM_ENTER_CONTEXT(context);
    (void)context;
    struct sim_block *block = sim_block_starting((uintptr_t)address);
    if (block == NULL || block->owner != SIM_OWNER_IMPORTED || block->uses == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (--block->uses == 0)
        sim_memory_release(block);
    return CUDA_SUCCESS;
}

/* ---- external memory ---- */

struct sim_external {
    struct sim_object object;
    int file; /* ours from the import on; -1: the handle was none */
    size_t bytes;
};

static void drop_external(struct sim_object *object) {
    struct sim_external *external = (struct sim_external *)object;
    if (external->file >= 0)
        close(external->file);
    sim_object_free(object);
}

CUresult cuImportExternalMemory(CUexternalMemory *out,
                                const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc) {
    SIM_ENTER_CONTEXT(context);
    if (out == NULL || desc == NULL || desc->size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    bool is_file = desc->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    if (is_file && fcntl(desc->handle.fd, F_GETFD) < 0)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!is_file && desc->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct sim_external *external =
        sim_object_new(sizeof *external, SIM_OBJECT_EXTERNAL_MEMORY, context, drop_external);
    if (external == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    external->file = is_file ? desc->handle.fd : -1;
    external->bytes = desc->size;
    *out = (CUexternalMemory)(void *)external;
    return CUDA_SUCCESS;
}

CUresult cuDestroyExternalMemory(CUexternalMemory handle) {
    SIM_ENTER();
    struct sim_external *external = sim_object_get(handle, SIM_OBJECT_EXTERNAL_MEMORY);
    if (external == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_drop(external); /* buffers mapped from it are freed by the program */
    return CUDA_SUCCESS;
}

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *out, CUexternalMemory handle,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc) {
    SIM_ENTER_CONTEXT(context);
    struct sim_external *external = sim_object_get(handle, SIM_OBJECT_EXTERNAL_MEMORY);
    if (external == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (out == NULL || desc == NULL || desc->size == 0 || desc->offset > external->bytes ||
        desc->size > external->bytes - desc->offset)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_block *block = import(context, desc->size, 0);
    if (block == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = block->start;
    return CUDA_SUCCESS;
}

CUresult
cuExternalMemoryGetMappedMipmappedArray(CUmipmappedArray *out, CUexternalMemory handle,
                                        const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc) {
    SIM_ENTER_CONTEXT(context);
    struct sim_mipmap *chain;
    if (sim_object_get(handle, SIM_OBJECT_EXTERNAL_MEMORY) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (out == NULL || desc == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_mipmap_new(context, &desc->arrayDesc, desc->numLevels, true, &chain);
    if (result == CUDA_SUCCESS)
        *out = (CUmipmappedArray)(void *)chain;
    return result;
}

/* ---- pools ---- */

CUresult cuMemPoolExportToShareableHandle(void *out, CUmemoryPool handle,
                                          CUmemAllocationHandleType type,
                                          unsigned long long flags) {
    SIM_ENTER();
    struct sim_pool *pool = sim_object_get(handle, SIM_OBJECT_POOL);
    if (out == NULL || pool == NULL || flags != 0 || pool->imported ||
        (pool->props.handleTypes & type) == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_NOT_SUPPORTED;
    int file = memfd_create("vramtrace-sim-pool", MFD_CLOEXEC);
    const struct note note = {.magic = MAGIC, .pid = getpid(), .device = pool->device->physical};
    if (file < 0 || write(file, &note, sizeof note) != (ssize_t)sizeof note) {
        if (file >= 0)
            close(file);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *(int *)out = file;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *out, void *os_handle,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags) {
    SIM_ENTER();
    struct note note;
    if (out == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (pread((int)(intptr_t)os_handle, &note, sizeof note, 0) != (ssize_t)sizeof note ||
        memcmp(note.magic, MAGIC, sizeof note.magic) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_context *context = sim_context_current();
    struct sim_pool *pool = sim_pool_import(context != NULL ? context->device : &sim.devices[0]);
    if (pool == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = (CUmemoryPool)(void *)pool;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *out, CUdeviceptr address) {
    SIM_ENTER();
    struct sim_block *block = sim_block_starting((uintptr_t)address);
    if (out == NULL || block == NULL || block->owner != SIM_OWNER_POOL)
        return CUDA_ERROR_INVALID_VALUE;
    write_note(out, sizeof *out, block);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolImportPointer(CUdeviceptr *out, CUmemoryPool handle,
                                CUmemPoolPtrExportData *data) {
    SIM_ENTER_CONTEXT(context);
    struct note note;
    struct sim_pool *pool = sim_object_get(handle, SIM_OBJECT_POOL);
    if (out == NULL || data == NULL || pool == NULL || !pool->imported)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&note, data, sizeof note);
    if (memcmp(note.magic, MAGIC, sizeof note.magic) != 0 || note.bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_block *block = import(context, note.bytes, 0);
    if (block == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = block->start;
    return CUDA_SUCCESS;
}
