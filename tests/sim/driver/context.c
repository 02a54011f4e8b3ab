/* SPDX-License-Identifier: MIT */
/*
 * Contexts of the simulated driver: the current one of each thread, primary ones with their
 * reference count, and destruction, which frees all memory except that of cuMemCreate and of pools.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

#define STACK_ROOM 64

/* The thread's stack of current contexts; malloc'd so that an idle thread costs a pointer. A thread that
 * ends may still call the driver in a destructor, so it is not freed then: all are kept in a list, and
 * LeakSanitizer, in a program, finds a pointer to each. */
struct context_stack {
    struct context_stack *before;
    struct sim_context *contexts[STACK_ROOM];
};
static struct context_stack *all_stacks; /* atomic */
static __thread struct sim_context **stack;
static __thread size_t depth;

struct sim_context *sim_context_current(void) {
    return depth > 0 ? stack[depth - 1] : NULL;
}

static bool push(struct sim_context *context) {
    struct context_stack *made = stack == NULL ? calloc(1, sizeof *made) : NULL;
    if (made != NULL) {
        stack = made->contexts;
        made->before = __atomic_load_n(&all_stacks, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&all_stacks, &made->before, made, false,
                                            __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            ;
    }
    if (stack == NULL || depth == STACK_ROOM)
        return false;
    stack[depth++] = context;
    return true;
}

static void set_current(struct sim_context *context) {
    if (context == NULL)
        depth -= depth > 0;
    else if (depth > 0)
        stack[depth - 1] = context;
    else
        push(context);
}

struct sim_context *sim_context_of(CUcontext handle) {
    for (struct sim_context *it = sim.contexts; it != NULL; it = it->next) {
        if ((const void *)it == (const void *)handle)
            return it;
    }
    return NULL;
}

/* Old clients call the 13.0 variants with the arguments of the old ones, so the register of a context may contain
 * anything. */
struct sim_context *sim_context_or_current(CUcontext handle) {
    struct sim_context *context = sim_context_of(handle);
    return context != NULL && context->live ? context : sim_context_current();
}

static void start_life(struct sim_context *context, unsigned flags) {
    static const size_t defaults[] = {[CU_LIMIT_STACK_SIZE] = 1024,
                                      [CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20,
                                      [CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20,
                                      [CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2,
                                      [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
                                      [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 128};
    memset(context->limits, 0, sizeof context->limits);
    memcpy(context->limits, defaults, sizeof defaults);
    context->live = true;
    context->flags = flags;
    context->id = ++sim.next_id;
    context->peers = 0;
}

static CUresult create(struct sim_device *device, unsigned flags, struct sim_context **out) {
    struct sim_context *context = calloc(1, sizeof *context);
    if (context == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!sim_charge(device, sim.context_bytes)) {
        free(context);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    context->charged = sim.context_bytes;
    context->device = device;
    context->api_version = 3020;
    start_life(context, flags);
    context->next = sim.contexts;
    sim.contexts = context;
    *out = context;
    return CUDA_SUCCESS;
}

void sim_context_destroy(struct sim_context *context) {
    sim_object_drop_all(context);
    sim_memory_release_all(context);
    sim_refund(context->device, context->charged);
    context->charged = 0;
    context->live = false;
    context->references = 0;
}

static CUresult create_and_push(CUcontext *out, unsigned int flags, CUdevice ordinal) {
    SIM_ENTER();
    struct sim_context *context;
    struct sim_device *device = sim_device_get(ordinal);
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    if (out == NULL || (flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = create(device, flags, &context);
    if (result != CUDA_SUCCESS)
        return result;
    push(context);
    *out = (CUcontext)(void *)context;
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate(CUcontext *out, unsigned int flags, CUdevice device) {
    return create_and_push(out, flags, device);
}

CUresult cuCtxCreate_v2(CUcontext *out, unsigned int flags, CUdevice device) {
    return create_and_push(out, flags, device);
}

CUresult cuCtxCreate_v3(CUcontext *out, CUexecAffinityParam *params, int count, unsigned int flags,
                        CUdevice device) {
    (void)params;
    (void)count;
    return create_and_push(out, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *params, unsigned int flags,
                        CUdevice device) {
    (void)params;
    return create_and_push(out, flags, device);
}

static CUresult destroy(CUcontext handle) {
    SIM_ENTER();
    struct sim_context *context = sim_context_of(handle);
    if (context == NULL || !context->live)
        return context == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (context->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    sim_context_destroy(context);
    if (sim_context_current() == context)
        set_current(NULL);
    return CUDA_SUCCESS;
}

CUresult cuCtxDestroy(CUcontext context) {
    return destroy(context);
}
CUresult cuCtxDestroy_v2(CUcontext context) {
    return destroy(context);
}

/* Attach and detach date from CUDA 2: a use count that is 1 when a context is made. */
CUresult cuCtxAttach(CUcontext *out, unsigned int flags) {
    SIM_ENTER_CONTEXT(context);
    if (out == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    context->references++;
    *out = (CUcontext)(void *)context;
    return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext handle) {
    SIM_ENTER_CONTEXT(current);
    struct sim_context *context = sim_context_of(handle);
    if (context != current)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context->references > 0) {
        context->references--;
    } else if (!context->primary) {
        sim_context_destroy(context);
        set_current(NULL);
    }
    return CUDA_SUCCESS;
}

static CUresult pop(CUcontext *out) {
    SIM_ENTER();
    struct sim_context *context = sim_context_current();
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    depth--;
    if (out != NULL)
        *out = (CUcontext)(void *)context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *out) {
    return pop(out);
}
CUresult cuCtxPopCurrent_v2(CUcontext *out) {
    return pop(out);
}

static CUresult push_handle(CUcontext handle) {
    SIM_ENTER();
    struct sim_context *context = sim_context_of(handle);
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->live)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return push(context) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuCtxPushCurrent(CUcontext context) {
    return push_handle(context);
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
    return push_handle(context);
}

CUresult cuCtxSetCurrent(CUcontext handle) {
    SIM_ENTER();
    struct sim_context *context = sim_context_of(handle);
    if (handle != NULL && context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context != NULL && !context->live)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    set_current(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *out) {
    SIM_ENTER();
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUcontext)(void *)sim_context_current();
    return CUDA_SUCCESS;
}

static CUresult get_device(CUdevice *out, struct sim_context *context) {
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    *out = context->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *out) {
    SIM_ENTER_CONTEXT(context);
    return get_device(out, context);
}

CUresult cuCtxGetDevice_v2(CUdevice *out, CUcontext handle) {
    SIM_ENTER();
    return get_device(out, sim_context_or_current(handle));
}

static CUresult synchronize(struct sim_context *context) {
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    sim_pool_settle(context->device);
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void) {
    SIM_ENTER_CONTEXT(context);
    return synchronize(context);
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
    SIM_ENTER();
    return synchronize(sim_context_or_current(handle));
}

/* ---- the primary context ---- */

CUresult sim_primary_retain(struct sim_device *device) {
    if (device->primary == NULL) {
        CUresult result = create(device, 0, &device->primary);
        if (result != CUDA_SUCCESS)
            return result;
        device->primary->primary = true;
    } else if (!device->primary->live) {
        if (!sim_charge(device, sim.context_bytes))
            return CUDA_ERROR_OUT_OF_MEMORY;
        device->primary->charged = sim.context_bytes;
        start_life(device->primary, device->primary->flags);
    }
    device->primary->references++;
    return CUDA_SUCCESS;
}

void sim_primary_release(struct sim_device *device) {
    struct sim_context *context = device->primary;
    if (context->references > 0 && --context->references == 0 && context->live)
        sim_context_destroy(context);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice ordinal) {
    SIM_ENTER();
    struct sim_device *device = sim_device_get(ordinal);
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_primary_retain(device);
    if (result == CUDA_SUCCESS)
        *out = (CUcontext)(void *)device->primary;
    return result;
}

static CUresult primary_release(CUdevice ordinal, bool reset) {
    SIM_ENTER();
    struct sim_device *device = sim_device_get(ordinal);
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    struct sim_context *context = device->primary;
    if (reset) { /* whoever retained it still has to release it, and the next retain revives it */
        if (context != NULL && context->live) {
            int references = context->references;
            sim_context_destroy(context);
            context->references = references;
        }
        return CUDA_SUCCESS;
    }
    if (context == NULL || context->references == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    sim_primary_release(device);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    return primary_release(device, false);
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    return primary_release(device, false);
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) {
    return primary_release(device, true);
}
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    return primary_release(device, true);
}

static CUresult primary_set_flags(CUdevice ordinal, unsigned int flags) {
    SIM_ENTER();
    struct sim_device *device = sim_device_get(ordinal);
    struct sim_context *context;
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    if ((flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (device->primary == NULL) { /* remembered until someone retains it */
        CUresult result = create(device, flags, &context);
        if (result != CUDA_SUCCESS)
            return result;
        context->primary = true;
        sim_context_destroy(context);
        device->primary = context;
    }
    device->primary->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
    return primary_set_flags(device, flags);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
    return primary_set_flags(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned int *flags, int *active) {
    SIM_ENTER();
    struct sim_device *device = sim_device_get(ordinal);
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    if (flags == NULL || active == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = device->primary != NULL ? device->primary->flags : 0;
    *active = device->primary != NULL && device->primary->live;
    return CUDA_SUCCESS;
}

/* ---- what a context is asked and told ---- */

CUresult cuCtxGetFlags(unsigned int *flags) {
    SIM_ENTER_CONTEXT(context);
    if (flags == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = context->flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned int flags) {
    SIM_ENTER_CONTEXT(context);
    if ((flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long *id) {
    SIM_ENTER();
    struct sim_context *context = handle == NULL ? sim_context_current() : sim_context_of(handle);
    if (context == NULL || !context->live)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (id == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *id = context->id;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int *version) {
    SIM_ENTER();
    struct sim_context *context = handle == NULL ? sim_context_current() : sim_context_of(handle);
    if (context == NULL || !context->live)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (version == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *version = context->api_version;
    return CUDA_SUCCESS;
}

/* The heap and the stack of kernels are device memory that no call returns: growing one is charged like the context
 * itself, and counted nowhere. */
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    SIM_ENTER_CONTEXT(context);
    if ((unsigned)limit >= SIM_LIMITS || limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE || limit == CU_LIMIT_PRINTF_FIFO_SIZE) {
        size_t before = context->limits[limit];
        if (value > before) {
            if (!sim_charge(context->device, value - before))
                return CUDA_ERROR_OUT_OF_MEMORY;
            context->charged += value - before;
        } else {
            size_t less = before - value < context->charged ? before - value : context->charged;
            sim_refund(context->device, less);
            context->charged -= less;
        }
    }
    context->limits[limit] = value;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
    SIM_ENTER_CONTEXT(context);
    if (value == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if ((unsigned)limit >= SIM_LIMITS || limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *value = context->limits[limit];
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
    SIM_ENTER_CONTEXT(context);
    if (config == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *config = context->cache;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    SIM_ENTER_CONTEXT(context);
    context->cache = config;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config) {
    SIM_ENTER_CONTEXT(context);
    if (config == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *config = context->shared;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
    SIM_ENTER_CONTEXT(context);
    context->shared = config;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    SIM_ENTER_CONTEXT(context);
    (void)context;
    if (least != NULL)
        *least = 0;
    if (greatest != NULL)
        *greatest = -5;
    return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache(void) {
    SIM_ENTER_CONTEXT(context);
    (void)context;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetExecAffinity(CUexecAffinityParam *affinity, CUexecAffinityType type) {
    SIM_ENTER_CONTEXT(context);
    (void)context;
    (void)type;
    return affinity == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
    SIM_ENTER_CONTEXT(context);
    struct sim_context *other = sim_context_of(peer);
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (other == NULL || !other->live)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (other->device == context->device)
        return CUDA_ERROR_INVALID_DEVICE;
    uint64_t bit = (uint64_t)1 << other->device->ordinal;
    if ((context->peers & bit) != 0)
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    context->peers |= bit;
    return CUDA_SUCCESS;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    SIM_ENTER_CONTEXT(context);
    struct sim_context *other = sim_context_of(peer);
    if (other == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    uint64_t bit = (uint64_t)1 << other->device->ordinal;
    if ((context->peers & bit) == 0)
        return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    context->peers &= ~bit;
    return CUDA_SUCCESS;
}
