/* SPDX-License-Identifier: MIT */
/*
 * Getting and setting the parameters of graph nodes in the simulated driver, also in executables
 * and clones, whose nodes are found by the original node. Parameters of kernels are accepted and
 * never used.
 */
#include "graph.h"

static struct sim_node *copy_of(const struct sim_graph *graph, const struct sim_node *original) {
    for (size_t i = 0; i < graph->count; i++) {
        struct sim_node *node = graph->nodes[i], *found = NULL;
        if (node->origin == original->object.id)
            return node;
        if (node->child != NULL)
            found = copy_of(node->child, original);
        for (size_t j = 0; found == NULL && j < node->body_count; j++)
            found = copy_of(node->bodies[j], original);
        if (found != NULL)
            return found;
    }
    return NULL;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode original, CUgraph clone) {
    SIM_ENTER();
    struct sim_node *node = sim_object_get(original, SIM_OBJECT_NODE);
    struct sim_graph *graph = sim_object_get(clone, SIM_OBJECT_GRAPH);
    struct sim_node *found = node != NULL && graph != NULL ? copy_of(graph, node) : NULL;
    if (out == NULL || found == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUgraphNode)(void *)found;
    return CUDA_SUCCESS;
}

/* The program's node, when it is of the type. */
static struct sim_node *own(CUgraphNode handle, CUgraphNodeType type) {
    struct sim_node *node = sim_object_get(handle, SIM_OBJECT_NODE);
    return node != NULL && node->type == type ? node : NULL;
}

/* What an executable has for it. */
static struct sim_node *executed(CUgraphExec exec_handle, CUgraphNode handle,
                                 CUgraphNodeType type) {
    struct sim_exec *exec = sim_object_get(exec_handle, SIM_OBJECT_EXEC);
    struct sim_node *node = own(handle, type);
    return exec != NULL && node != NULL ? copy_of(exec->graph, node) : NULL;
}

/* ---- copies ---- */

static CUresult set_copy(struct sim_node *node, const CUDA_MEMCPY3D *params) {
    if (node == NULL || params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    node->copy = *params;
    return CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D *params) {
    SIM_ENTER();
    struct sim_node *node = own(handle, CU_GRAPH_NODE_TYPE_MEMCPY);
    if (node == NULL || params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *params = node->copy;
    return CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *params) {
    SIM_ENTER();
    return set_copy(own(node, CU_GRAPH_NODE_TYPE_MEMCPY), params);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D *params, CUcontext context) {
    SIM_ENTER();
    (void)context;
    return set_copy(executed(exec, node, CU_GRAPH_NODE_TYPE_MEMCPY), params);
}

/* ---- fills ---- */

static CUresult set_fill(struct sim_node *node, const CUDA_MEMSET_NODE_PARAMS *params) {
    return node != NULL ? sim_graph_fill_of(params, &node->fill) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS *params) {
    SIM_ENTER();
    struct sim_node *node = own(handle, CU_GRAPH_NODE_TYPE_MEMSET);
    if (node == NULL || params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *params = (CUDA_MEMSET_NODE_PARAMS){.dst = node->fill.to,
                                        .pitch = node->fill.pitch,
                                        .value = node->fill.value,
                                        .elementSize = (unsigned)node->fill.element,
                                        .width = node->fill.width,
                                        .height = node->fill.height};
    return CUDA_SUCCESS;
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params) {
    SIM_ENTER();
    return set_fill(own(node, CU_GRAPH_NODE_TYPE_MEMSET), params);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context) {
    SIM_ENTER();
    (void)context;
    return set_fill(executed(exec, node, CU_GRAPH_NODE_TYPE_MEMSET), params);
}

/* ---- the program's functions ---- */

static CUresult set_host(struct sim_node *node, const CUDA_HOST_NODE_PARAMS *params) {
    if (node == NULL || params == NULL || params->fn == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    node->host = *params;
    return CUDA_SUCCESS;
}

CUresult cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS *params) {
    SIM_ENTER();
    struct sim_node *node = own(handle, CU_GRAPH_NODE_TYPE_HOST);
    if (node == NULL || params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *params = node->host;
    return CUDA_SUCCESS;
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params) {
    SIM_ENTER();
    return set_host(own(node, CU_GRAPH_NODE_TYPE_HOST), params);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *params) {
    SIM_ENTER();
    return set_host(executed(exec, node, CU_GRAPH_NODE_TYPE_HOST), params);
}

/* ---- kernels ---- */

static CUresult set_kernel(const struct sim_node *node, const void *params) {
    return node != NULL && params != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    SIM_ENTER();
    return set_kernel(own(node, CU_GRAPH_NODE_TYPE_KERNEL), params);
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params) {
    SIM_ENTER();
    return set_kernel(own(node, CU_GRAPH_NODE_TYPE_KERNEL), params);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    SIM_ENTER();
    return set_kernel(executed(exec, node, CU_GRAPH_NODE_TYPE_KERNEL), params);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *params) {
    SIM_ENTER();
    return set_kernel(executed(exec, node, CU_GRAPH_NODE_TYPE_KERNEL), params);
}
