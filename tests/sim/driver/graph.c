/* SPDX-License-Identifier: MIT */
/* Graphs of the simulated driver: creation, cloning, nodes and edges. See graph.h. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

static void drop_node(struct sim_object *object) {
    struct sim_node *node = (struct sim_node *)object;
    if (node->memory != NULL)
        sim_graph_memory_put(node->memory);
    if (node->child != NULL)
        sim_object_drop(node->child);
    sim_graph_drop_bodies(node);
    free(node->before);
    sim_object_free(object);
}

static void drop_graph(struct sim_object *object) {
    struct sim_graph *graph = (struct sim_graph *)object;
    for (size_t i = 0; i < graph->count; i++)
        sim_object_drop(graph->nodes[i]);
    free(graph->nodes);
    sim_graph_drop_handles(graph);
    sim_object_free(object);
}

struct sim_graph *sim_graph_new(void) {
    return sim_object_new(sizeof(struct sim_graph), SIM_OBJECT_GRAPH, NULL, drop_graph);
}

static bool depend(struct sim_node *node, struct sim_node *const *before, size_t count) {
    if (count == 0)
        return true;
    struct sim_node **list = realloc(node->before, (node->before_count + count) * sizeof *list);
    if (list == NULL)
        return false;
    memcpy(list + node->before_count, before, count * sizeof *list);
    node->before = list;
    node->before_count += count;
    return true;
}

struct sim_node *sim_graph_add(struct sim_graph *graph, CUgraphNodeType type,
                               struct sim_node *const *before, size_t before_count) {
    if (graph->count == graph->room) {
        size_t room = graph->room != 0 ? 2 * graph->room : 16;
        struct sim_node **nodes = realloc(graph->nodes, room * sizeof *nodes);
        if (nodes == NULL)
            return NULL;
        graph->nodes = nodes;
        graph->room = room;
    }
    struct sim_node *node = sim_object_new(sizeof *node, SIM_OBJECT_NODE, NULL, drop_node);
    if (node == NULL || !depend(node, before, before_count)) {
        if (node != NULL)
            sim_object_drop(node);
        return NULL;
    }
    node->graph = graph;
    node->type = type;
    graph->nodes[graph->count++] = node;
    return node;
}

bool sim_graph_copy_into(struct sim_graph *to, const struct sim_graph *from) {
    for (size_t i = 0; i < from->count; i++) {
        const struct sim_node *old = from->nodes[i];
        struct sim_node *node = sim_graph_add(to, old->type, NULL, 0);
        if (node == NULL)
            return false;
        struct sim_node kept = *node;
        *node = *old;
        node->object = kept.object;
        node->graph = to;
        node->origin = old->object.id;
        node->before = NULL;
        node->before_count = 0;
        node->child = NULL;
        node->bodies = NULL;
        if (node->memory != NULL)
            node->memory->references++;
        for (size_t j = 0; j < old->before_count; j++) {
            for (size_t k = 0; k < i; k++) {
                if (from->nodes[k] == old->before[j])
                    depend(node, &to->nodes[k], 1);
            }
        }
        if (old->child != NULL) {
            node->child = sim_graph_new();
            if (node->child == NULL || !sim_graph_copy_into(node->child, old->child))
                return false;
            node->child->is_child = true;
        }
        if (!sim_graph_copy_bodies(node, old))
            return false;
    }
    return true;
}

/* ---- graphs ---- */

static struct sim_graph *graph_of(CUgraph handle) {
    return sim_object_get(handle, SIM_OBJECT_GRAPH);
}

static struct sim_node *node_of(CUgraphNode handle) {
    return sim_object_get(handle, SIM_OBJECT_NODE);
}

CUresult cuGraphCreate(CUgraph *out, unsigned int flags) {
    SIM_ENTER();
    if (out == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUgraph)(void *)sim_graph_new();
    return *out != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuGraphDestroy(CUgraph handle) {
    SIM_ENTER();
    struct sim_graph *graph = graph_of(handle);
    if (graph == NULL || graph->is_child)
        return CUDA_ERROR_INVALID_VALUE;
    sim_object_drop(graph);
    return CUDA_SUCCESS;
}

static bool has_memory_nodes(const struct sim_graph *graph) {
    for (size_t i = 0; i < graph->count; i++) {
        if (graph->nodes[i]->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
            graph->nodes[i]->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
            return true;
    }
    return false;
}

/* An address can be allocated by one node only, so graphs with memory nodes cannot be cloned. */
static CUresult clone(struct sim_graph **out, const struct sim_graph *graph) {
    if (has_memory_nodes(graph))
        return CUDA_ERROR_NOT_SUPPORTED;
    *out = sim_graph_new();
    if (*out == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!sim_graph_copy_into(*out, graph)) {
        sim_object_drop(*out);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph *out, CUgraph original) {
    SIM_ENTER();
    struct sim_graph *graph = graph_of(original), *copy;
    if (out == NULL || graph == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = clone(&copy, graph);
    if (result == CUDA_SUCCESS)
        *out = (CUgraph)(void *)copy;
    return result;
}

/* ---- adding nodes ---- */

bool sim_graph_takes(const struct sim_graph *graph, CUgraphNodeType type) {
    return !graph->is_body || type == CU_GRAPH_NODE_TYPE_KERNEL ||
           type == CU_GRAPH_NODE_TYPE_EMPTY || type == CU_GRAPH_NODE_TYPE_GRAPH ||
           type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
           type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

CUresult sim_graph_add_checked(CUgraphNode *out, CUgraph handle, const CUgraphNode *before,
                               size_t count, CUgraphNodeType type, struct sim_node **node) {
    struct sim_graph *graph = graph_of(handle);
    if (out == NULL || graph == NULL || (before == NULL && count != 0))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        struct sim_node *it = node_of(before[i]);
        if (it == NULL || it->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (!sim_graph_takes(graph, type))
        return CUDA_ERROR_NOT_SUPPORTED;
    *node = sim_graph_add(graph, type, (struct sim_node *const *)(const void *)before, count);
    if (*node == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = (CUgraphNode)(void *)*node;
    return CUDA_SUCCESS;
}

void sim_graph_remove(struct sim_node *node) {
    struct sim_graph *graph = node->graph;
    size_t kept = 0;
    for (size_t i = 0; i < graph->count; i++) {
        struct sim_node *it = graph->nodes[i];
        if (it == node)
            continue;
        graph->nodes[kept++] = it;
        size_t edges = 0;
        for (size_t j = 0; j < it->before_count; j++) {
            if (it->before[j] != node)
                it->before[edges++] = it->before[j];
        }
        it->before_count = edges;
    }
    graph->count = kept;
    sim_object_drop(node);
}

#define ADD_NODE(type)                                                                             \
    SIM_ENTER();                                                                                   \
    struct sim_node *node;                                                                         \
    CUresult result = sim_graph_add_checked(out, graph, before, count, type, &node);               \
    if (result != CUDA_SUCCESS)                                                                    \
    return result

#define ADD_PARAMS CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t count

CUresult cuGraphAddEmptyNode(ADD_PARAMS) {
    ADD_NODE(CU_GRAPH_NODE_TYPE_EMPTY);
    return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode(ADD_PARAMS, const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    ADD_NODE(CU_GRAPH_NODE_TYPE_KERNEL);
    memcpy(&node->kernel, params, sizeof *params); /* a prefix of the v2 layout */
    return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode_v2(ADD_PARAMS, const CUDA_KERNEL_NODE_PARAMS *params) {
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    ADD_NODE(CU_GRAPH_NODE_TYPE_KERNEL);
    node->kernel = *params;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddMemcpyNode(ADD_PARAMS, const CUDA_MEMCPY3D *params, CUcontext context) {
    (void)context;
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    ADD_NODE(CU_GRAPH_NODE_TYPE_MEMCPY);
    node->copy = *params;
    return CUDA_SUCCESS;
}

CUresult sim_graph_fill_of(const CUDA_MEMSET_NODE_PARAMS *params, struct sim_fill *fill) {
    if (params == NULL ||
        (params->elementSize != 1 && params->elementSize != 2 && params->elementSize != 4))
        return CUDA_ERROR_INVALID_VALUE;
    *fill = (struct sim_fill){.to = params->dst,
                              .pitch = params->pitch,
                              .element = params->elementSize,
                              .width = params->width,
                              .height = params->height,
                              .value = params->value};
    return CUDA_SUCCESS;
}

CUresult cuGraphAddMemsetNode(ADD_PARAMS, const CUDA_MEMSET_NODE_PARAMS *params,
                              CUcontext context) {
    struct sim_fill fill;
    (void)context;
    if (sim_graph_fill_of(params, &fill) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    ADD_NODE(CU_GRAPH_NODE_TYPE_MEMSET);
    node->fill = fill;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddHostNode(ADD_PARAMS, const CUDA_HOST_NODE_PARAMS *params) {
    if (params == NULL || params->fn == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    ADD_NODE(CU_GRAPH_NODE_TYPE_HOST);
    node->host = *params;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddChildGraphNode(ADD_PARAMS, CUgraph child_handle) {
    SIM_ENTER();
    struct sim_node *node;
    struct sim_graph *child = graph_of(child_handle), *copy;
    if (child == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = clone(&copy, child);
    if (result != CUDA_SUCCESS)
        return result;
    result = sim_graph_add_checked(out, graph, before, count, CU_GRAPH_NODE_TYPE_GRAPH, &node);
    if (result != CUDA_SUCCESS) {
        sim_object_drop(copy);
        return result;
    }
    copy->is_child = true;
    node->child = copy;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddEventRecordNode(ADD_PARAMS, CUevent event) {
    ADD_NODE(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    node->event = event;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddEventWaitNode(ADD_PARAMS, CUevent event) {
    ADD_NODE(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    node->event = event;
    return CUDA_SUCCESS;
}

static CUresult add_alloc(ADD_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    ADD_NODE(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    result = sim_graph_alloc_node(node, params);
    if (result != CUDA_SUCCESS)
        sim_graph_remove(node);
    return result;
}

static CUresult add_free(ADD_PARAMS, CUdeviceptr address) {
    if (address == 0)
        return CUDA_ERROR_INVALID_VALUE;
    ADD_NODE(CU_GRAPH_NODE_TYPE_MEM_FREE);
    node->freed = address;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddMemAllocNode(ADD_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    return add_alloc(out, graph, before, count, params);
}

CUresult cuGraphAddMemFreeNode(ADD_PARAMS, CUdeviceptr address) {
    return add_free(out, graph, before, count, address);
}

/* The one call for every type: memory's, conditions, and nodes that do nothing here. */
static CUresult add_any(ADD_PARAMS, CUgraphNodeParams *params) {
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
        /* Both versions of these parameters have one layout. */
        CUDA_MEM_ALLOC_NODE_PARAMS plain;
        memcpy(&plain, &params->alloc, sizeof plain);
        CUresult result = add_alloc(out, graph, before, count, &plain);
        params->alloc.dptr = result == CUDA_SUCCESS ? plain.dptr : params->alloc.dptr;
        return result;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return add_free(out, graph, before, count, params->free.dptr);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return sim_graph_add_condition(out, graph, before, count, &params->conditional);
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_KERNEL: {
        ADD_NODE(params->type);
        return CUDA_SUCCESS;
    }
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult cuGraphAddNode(ADD_PARAMS, CUgraphNodeParams *params) {
    return add_any(out, graph, before, count, params);
}

CUresult cuGraphAddNode_v2(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                           const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *params) {
    (void)edges;
    return add_any(out, graph, before, count, params);
}

CUresult cuGraphAddNode_v3(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                           const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *params) {
    (void)edges;
    return add_any(out, graph, before, count, params);
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
    SIM_ENTER();
    struct sim_node *node = node_of(handle);
    if (node == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        return CUDA_ERROR_NOT_SUPPORTED;
    sim_graph_remove(node);
    return CUDA_SUCCESS;
}

/* ---- asking ---- */

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *type) {
    SIM_ENTER();
    struct sim_node *node = node_of(handle);
    if (node == NULL || type == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *type = node->type;
    return CUDA_SUCCESS;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    SIM_ENTER();
    struct sim_node *node = node_of(handle);
    if (node == NULL || params == NULL || node->memory == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *params = (CUDA_MEM_ALLOC_NODE_PARAMS){.poolProps = node->memory->props,
                                           .bytesize = node->memory->bytes,
                                           .dptr = node->memory->start};
    return CUDA_SUCCESS;
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr *out) {
    SIM_ENTER();
    struct sim_node *node = node_of(handle);
    if (node == NULL || out == NULL || node->type != CU_GRAPH_NODE_TYPE_MEM_FREE)
        return CUDA_ERROR_INVALID_VALUE;
    *out = node->freed;
    return CUDA_SUCCESS;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *out) {
    SIM_ENTER();
    struct sim_node *node = node_of(handle);
    if (node == NULL || out == NULL || node->child == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUgraph)(void *)node->child;
    return CUDA_SUCCESS;
}

static CUresult list_nodes(CUgraph handle, CUgraphNode *nodes, size_t *count, bool roots) {
    SIM_ENTER();
    struct sim_graph *graph = graph_of(handle);
    if (graph == NULL || count == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    size_t found = 0;
    for (size_t i = 0; i < graph->count; i++) {
        if (roots && graph->nodes[i]->before_count != 0)
            continue;
        if (nodes != NULL && found < *count)
            nodes[found] = (CUgraphNode)(void *)graph->nodes[i];
        found++;
    }
    if (nodes != NULL) {
        for (size_t i = found; i < *count; i++)
            nodes[i] = NULL;
    }
    if (nodes == NULL || found < *count)
        *count = found;
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    return list_nodes(graph, nodes, count, false);
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    return list_nodes(graph, nodes, count, true);
}

static CUresult list_edges(CUgraph handle, CUgraphNode *from, CUgraphNode *to,
                           CUgraphEdgeData *data, size_t *count) {
    SIM_ENTER();
    struct sim_graph *graph = graph_of(handle);
    if (graph == NULL || count == NULL || (from == NULL) != (to == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    size_t found = 0;
    for (size_t i = 0; i < graph->count; i++) {
        for (size_t j = 0; j < graph->nodes[i]->before_count; j++, found++) {
            if (from == NULL || found >= *count)
                continue;
            from[found] = (CUgraphNode)(void *)graph->nodes[i]->before[j];
            to[found] = (CUgraphNode)(void *)graph->nodes[i];
            if (data != NULL)
                memset(&data[found], 0, sizeof *data);
        }
    }
    if (from == NULL || found < *count)
        *count = found;
    return CUDA_SUCCESS;
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count) {
    return list_edges(graph, from, to, NULL, count);
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                            CUgraphEdgeData *data, size_t *count) {
    return list_edges(graph, from, to, data, count);
}

static CUresult add_edges(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                          size_t count) {
    SIM_ENTER();
    struct sim_graph *graph = graph_of(handle);
    if (graph == NULL || ((from == NULL || to == NULL) && count != 0))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        struct sim_node *before = node_of(from[i]), *after = node_of(to[i]);
        if (before == NULL || after == NULL || before->graph != graph || after->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
        if (!depend(after, &before, 1))
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t count) {
    return add_edges(graph, from, to, count);
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *data, size_t count) {
    (void)data;
    return add_edges(graph, from, to, count);
}
