/* SPDX-License-Identifier: MIT */
/* Execution of graphs in the simulated driver: instantiation, launches, and the memory of
 * allocation nodes. See graph.h. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

struct sim_graph_memory *sim_graph_memory_new(struct sim_device *device, size_t bytes) {
    struct sim_block *block;
    struct sim_graph_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL)
        return NULL;
    /* A block is made for its address; it becomes memory at a launch. */
    if (sim_memory_alloc(NULL, device, bytes, VRAMTRACE_SIM_GRAPH, SIM_OWNER_GRAPH, false,
                         &block) != CUDA_SUCCESS) {
        free(memory);
        return NULL;
    }
    memory->references = 1;
    memory->start = block->start;
    memory->bytes = bytes;
    memory->span = block->span;
    memory->device = device;
    memory->props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    memory->props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    memory->props.location.id = device->ordinal;
    block->arena = NULL; /* the address stays the node's */
    sim_memory_release(block);
    return memory;
}

void sim_graph_memory_put(struct sim_graph_memory *memory) {
    if (--memory->references > 0)
        return;
    sim_arena_give(&memory->device->arena, memory->start, memory->span, true);
    free(memory);
}

static size_t used_bytes(const struct sim_device *device) {
    return (size_t)device->kind_bytes[VRAMTRACE_SIM_GRAPH];
}

/* Puts memory behind the address. The reserve grows by granules and stays until it is trimmed. */
static CUresult make_live(struct sim_graph_memory *memory) {
    struct sim_device *device = memory->device;
    if (memory->live != NULL)
        return CUDA_ERROR_INVALID_VALUE; /* launched again before the last one's was freed */
    size_t wanted = used_bytes(device) + memory->bytes;
    if (wanted > device->graph_reserved) {
        size_t target = (wanted + SIM_GRANULE - 1) / SIM_GRANULE * SIM_GRANULE;
        if (!sim_charge(device, target - device->graph_reserved)) {
            sim_pool_give_back(device, target - device->graph_reserved);
            target = wanted;
            if (!sim_charge(device, target - device->graph_reserved))
                return CUDA_ERROR_OUT_OF_MEMORY;
        }
        device->graph_reserved = target;
        if (target > device->graph_reserved_high)
            device->graph_reserved_high = target;
    }
    struct sim_block *block = calloc(1, sizeof *block);
    if (block == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    block->start = memory->start;
    block->bytes = memory->bytes;
    block->span = memory->span;
    block->owner = SIM_OWNER_GRAPH;
    block->kind = VRAMTRACE_SIM_GRAPH;
    block->device = device;
    block->parent = memory;
    block->id = ++sim.next_id;
    sim_block_insert(block);
    sim_count(device, VRAMTRACE_SIM_GRAPH, (int64_t)block->bytes, 1);
    if (used_bytes(device) > device->graph_used_high)
        device->graph_used_high = used_bytes(device);
    memory->live = block;
    memory->references++;
    return CUDA_SUCCESS;
}

CUresult sim_graph_free_block(struct sim_block *block) {
    struct sim_graph_memory *memory = block->parent;
    memory->live = NULL;
    sim_memory_release(block);
    sim_graph_memory_put(memory);
    return CUDA_SUCCESS;
}

CUresult sim_graph_alloc_node(struct sim_node *node, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    struct sim_device *device = params->poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE
                                    ? sim_device_get(params->poolProps.location.id)
                                    : NULL;
    if (device == NULL || params->bytesize == 0 ||
        params->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    node->memory = sim_graph_memory_new(device, params->bytesize);
    if (node->memory == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    node->memory->props = params->poolProps;
    params->dptr = node->memory->start;
    return CUDA_SUCCESS;
}

/* ---- instantiate ---- */

static void drop_exec(struct sim_object *object) {
    struct sim_exec *exec = (struct sim_exec *)object;
    sim_object_drop(exec->graph); /* allocations without a free stay allocated */
    sim_object_free(object);
}

static CUresult instantiate(CUgraphExec *out, CUgraph handle, cuuint64_t flags) {
    SIM_ENTER();
    struct sim_graph *graph = sim_object_get(handle, SIM_OBJECT_GRAPH);
    if (out == NULL || graph == NULL || (flags & ~(cuuint64_t)15) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_exec *exec = sim_object_new(sizeof *exec, SIM_OBJECT_EXEC, NULL, drop_exec);
    if (exec == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec->graph = sim_graph_new();
    if (exec->graph == NULL || !sim_graph_copy_into(exec->graph, graph)) {
        if (exec->graph != NULL)
            sim_object_drop(exec);
        else
            sim_object_free(&exec->object);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    exec->graph->is_child = true;
    exec->flags = flags;
    *out = (CUgraphExec)(void *)exec;
    return CUDA_SUCCESS;
}

static CUresult instantiate_logged(CUgraphExec *out, CUgraph graph, CUgraphNode *error, char *log,
                                   size_t size) {
    if (error != NULL)
        *error = NULL;
    if (log != NULL && size != 0)
        *log = '\0';
    return instantiate(out, graph, 0);
}

CUresult cuGraphInstantiate(CUgraphExec *out, CUgraph graph, CUgraphNode *error, char *log,
                            size_t size) {
    return instantiate_logged(out, graph, error, log, size);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *out, CUgraph graph, CUgraphNode *error, char *log,
                               size_t size) {
    return instantiate_logged(out, graph, error, log, size);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph graph, unsigned long long flags) {
    return instantiate(out, graph, flags);
}

static CUresult cuGraphInstantiateWithParams_on(CUgraphExec *out, CUgraph graph,
                                                CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = instantiate(out, graph, params->flags);
    params->hErrNode_out = NULL;
    params->result_out =
        result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

SIM_TWINS(cuGraphInstantiateWithParams, _ptsz,
          (CUgraphExec * out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
          (out, graph, params), (out, graph, params))

CUresult cuGraphExecDestroy(CUgraphExec handle) {
    SIM_ENTER();
    struct sim_exec *exec = sim_object_get(handle, SIM_OBJECT_EXEC);
    if (exec == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    sim_object_drop(exec);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t *flags) {
    SIM_ENTER();
    struct sim_exec *exec = sim_object_get(handle, SIM_OBJECT_EXEC);
    if (exec == NULL || flags == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_SUCCESS;
}

/* An update takes the new graph's work when it has the same shape. */
static CUgraphExecUpdateResult update(struct sim_exec *exec, struct sim_graph *graph) {
    if (graph->count != exec->graph->count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < graph->count; i++) {
        struct sim_node *now = exec->graph->nodes[i], *next = graph->nodes[i];
        if (now->type != next->type)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (now->memory != NULL || now->bodies != NULL)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    }
    for (size_t i = 0; i < graph->count; i++) {
        struct sim_node *now = exec->graph->nodes[i], *next = graph->nodes[i];
        now->copy = next->copy;
        now->fill = next->fill;
        now->host = next->host;
        now->kernel = next->kernel;
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static CUresult exec_update(CUgraphExec exec_handle, CUgraph graph_handle,
                            CUgraphExecUpdateResult *out) {
    SIM_ENTER();
    struct sim_exec *exec = sim_object_get(exec_handle, SIM_OBJECT_EXEC);
    struct sim_graph *graph = sim_object_get(graph_handle, SIM_OBJECT_GRAPH);
    if (exec == NULL || graph == NULL || out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out = update(exec, graph);
    return *out == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS
                                                : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error,
                           CUgraphExecUpdateResult *out) {
    if (error != NULL)
        *error = NULL;
    return exec_update(exec, graph, out);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
    if (info == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    info->errorNode = info->errorFromNode = NULL;
    return exec_update(exec, graph, &info->result);
}

/* ---- launch ---- */

static CUresult free_node(const struct sim_node *node) {
    struct sim_block *block = sim_block_starting((uintptr_t)node->freed);
    if (block == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return block->owner == SIM_OWNER_GRAPH || block->owner == SIM_OWNER_POOL
               ? sim_pool_free(block)
               : CUDA_ERROR_INVALID_VALUE;
}

static CUresult run(struct sim_graph *graph) {
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < graph->count && result == CUDA_SUCCESS; i++) {
        struct sim_node *node = graph->nodes[i];
        switch (node->type) {
        case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
            result = make_live(node->memory);
            break;
        case CU_GRAPH_NODE_TYPE_MEM_FREE:
            result = free_node(node);
            break;
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            result = sim_copy_shape(&node->copy);
            break;
        case CU_GRAPH_NODE_TYPE_MEMSET:
            result = sim_fill(&node->fill);
            break;
        case CU_GRAPH_NODE_TYPE_HOST: {
            CUDA_HOST_NODE_PARAMS host = node->host;
            sim_unlock_for_callback();
            host.fn(host.userData);
            sim_relock();
            break;
        }
        case CU_GRAPH_NODE_TYPE_GRAPH:
            result = run(node->child);
            break;
        case CU_GRAPH_NODE_TYPE_CONDITIONAL: {
            struct sim_graph *body = sim_graph_chosen(node);
            result = body != NULL ? run(body) : CUDA_SUCCESS;
            break;
        }
        default: /* kernels are accepted and not run */
            break;
        }
    }
    return result;
}

/* Frees allocations that an earlier launch left. */
static void free_leftovers(struct sim_graph *graph) {
    for (size_t i = 0; i < graph->count; i++) {
        struct sim_graph_memory *memory = graph->nodes[i]->memory;
        if (memory != NULL && memory->live != NULL)
            sim_graph_free_block(memory->live);
    }
}

static CUresult cuGraphLaunch_on(CUgraphExec handle, CUstream stream_handle) {
    SIM_ENTER_CONTEXT(context);
    struct sim_exec *exec = sim_object_get(handle, SIM_OBJECT_EXEC);
    struct sim_stream *stream = sim_stream_get(stream_handle, context);
    if (exec == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture != NULL)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if ((exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0)
        free_leftovers(exec->graph);
    sim_steps_launched();
    return run(exec->graph);
}

static CUresult cuGraphUpload_on(CUgraphExec handle, CUstream stream) {
    SIM_ENTER_CONTEXT(context);
    if (sim_stream_get(stream, context) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    return sim_object_get(handle, SIM_OBJECT_EXEC) != NULL ? CUDA_SUCCESS
                                                           : CUDA_ERROR_INVALID_VALUE;
}

SIM_TWINS(cuGraphLaunch, _ptsz, (CUgraphExec exec, CUstream s), (exec, s), (exec, SIM_PT(s)))
SIM_TWINS(cuGraphUpload, _ptsz, (CUgraphExec exec, CUstream s), (exec, s), (exec, SIM_PT(s)))

/* ---- the device's graph memory ---- */

CUresult cuDeviceGraphMemTrim(CUdevice ordinal) {
    SIM_ENTER();
    struct sim_device *device = sim_device_get(ordinal);
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    size_t keep = (used_bytes(device) + SIM_GRANULE - 1) / SIM_GRANULE * SIM_GRANULE;
    if (device->graph_reserved > keep) {
        sim_refund(device, device->graph_reserved - keep);
        device->graph_reserved = keep;
    }
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute,
                                      void *value) {
    SIM_ENTER();
    struct sim_device *device = sim_device_get(ordinal);
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    const cuuint64_t values[] = {[CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT] = used_bytes(device),
                                 [CU_GRAPH_MEM_ATTR_USED_MEM_HIGH] = device->graph_used_high,
                                 [CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT] = device->graph_reserved,
                                 [CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH] =
                                     device->graph_reserved_high};
    if (value == NULL || (size_t)attribute >= sizeof values / sizeof *values)
        return CUDA_ERROR_INVALID_VALUE;
    *(cuuint64_t *)value = values[attribute];
    return CUDA_SUCCESS;
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute,
                                      void *value) {
    SIM_ENTER();
    struct sim_device *device = sim_device_get(ordinal);
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    if (value == NULL || *(cuuint64_t *)value != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
        device->graph_used_high = used_bytes(device);
    else if (attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        device->graph_reserved_high = device->graph_reserved;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}
