/* SPDX-License-Identifier: MIT */
/* Graphs in the simulated runtime call the driver's. */
#include "runtime.h"

#define NODE cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count

RT_FORWARD(cudaGraphCreate, (cudaGraph_t * out, unsigned int flags), graphCreate, (out, flags))
RT_FORWARD(cudaGraphDestroy, (cudaGraph_t graph), graphDestroy, (graph))
RT_FORWARD(cudaGraphClone, (cudaGraph_t * out, cudaGraph_t graph), graphClone, (out, graph))
RT_FORWARD(cudaGraphAddEmptyNode, (NODE), graphAddEmptyNode, (out, graph, before, count))
RT_FORWARD(cudaGraphAddChildGraphNode, (NODE, cudaGraph_t child), graphAddChildGraphNode,
           (out, graph, before, count, child))
RT_FORWARD(cudaGraphAddMemAllocNode, (NODE, struct cudaMemAllocNodeParams *params),
           graphAddMemAllocNode,
           (out, graph, before, count, (CUDA_MEM_ALLOC_NODE_PARAMS *)(void *)params))
RT_FORWARD(cudaGraphAddMemFreeNode, (NODE, void *address), graphAddMemFreeNode,
           (out, graph, before, count, RT_ADDRESS(address)))
RT_FORWARD(cudaGraphMemAllocNodeGetParams,
           (cudaGraphNode_t node, struct cudaMemAllocNodeParams *params),
           graphMemAllocNodeGetParams, (node, (CUDA_MEM_ALLOC_NODE_PARAMS *)(void *)params))
RT_FORWARD(cudaGraphMemFreeNodeGetParams, (cudaGraphNode_t node, void *out),
           graphMemFreeNodeGetParams, (node, out))
RT_FORWARD(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *type),
           graphNodeGetType, (node, (CUgraphNodeType *)(void *)type))
RT_FORWARD(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
           graphGetNodes, (graph, nodes, count))
RT_FORWARD(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
           graphGetRootNodes, (graph, nodes, count))
RT_FORWARD(cudaGraphNodeFindInClone,
           (cudaGraphNode_t * out, cudaGraphNode_t node, cudaGraph_t clone), graphNodeFindInClone,
           (out, node, clone))
RT_FORWARD(cudaGraphDestroyNode, (cudaGraphNode_t node), graphDestroyNode, (node))

/* Memory's nodes and conditions, whose parameters are laid out alike in both interfaces. */
static cudaError_t add_any(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before,
                           const cudaGraphEdgeData *data, size_t count,
                           struct cudaGraphNodeParams *params) {
    RT_ENTER_CONTEXT();
    if (params == NULL)
        return rt_fail(cudaErrorInvalidValue);
    return rt_result(rt.graphAddNode(out, graph, before,
                                     (const CUgraphEdgeData *)(const void *)data, count,
                                     (CUgraphNodeParams *)(void *)params));
}

static cudaError_t edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                         cudaGraphEdgeData *data, size_t *count) {
    RT_ENTER_CONTEXT();
    return rt_result(rt.graphGetEdges(graph, from, to, (CUgraphEdgeData *)(void *)data, count));
}

static cudaError_t depend(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                          const cudaGraphEdgeData *data, size_t count) {
    RT_ENTER_CONTEXT();
    return rt_result(rt.graphAddDependencies(graph, from, to,
                                             (const CUgraphEdgeData *)(const void *)data, count));
}

#define NODE_V2                                                                                    \
    cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before,                        \
        const cudaGraphEdgeData *data, size_t count, struct cudaGraphNodeParams *params
#define EDGES_V2                                                                                   \
    cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data,        \
        size_t *count
#define DEPEND_V2                                                                                  \
    cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,                     \
        const cudaGraphEdgeData *data, size_t count

#if SIM_CUDART == 12
cudaError_t cudaGraphAddNode(NODE, struct cudaGraphNodeParams *params) {
    return add_any(out, graph, before, NULL, count, params);
}

cudaError_t cudaGraphAddNode_v2(NODE_V2) {
    return add_any(out, graph, before, data, count, params);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              size_t *count) {
    return edges(graph, from, to, NULL, count);
}

cudaError_t cudaGraphGetEdges_v2(EDGES_V2) {
    return edges(graph, from, to, data, count);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, size_t count) {
    return depend(graph, from, to, NULL, count);
}

cudaError_t cudaGraphAddDependencies_v2(DEPEND_V2) {
    return depend(graph, from, to, data, count);
}
#else
cudaError_t cudaGraphAddNode(NODE_V2) {
    return add_any(out, graph, before, data, count, params);
}
cudaError_t cudaGraphGetEdges(EDGES_V2) {
    return edges(graph, from, to, data, count);
}
cudaError_t cudaGraphAddDependencies(DEPEND_V2) {
    return depend(graph, from, to, data, count);
}
#endif

/* ---- run ---- */

RT_FORWARD(cudaGraphInstantiate,
           (cudaGraphExec_t * out, cudaGraph_t graph, unsigned long long flags),
           graphInstantiateWithFlags, (out, graph, flags))
RT_FORWARD(cudaGraphInstantiateWithFlags,
           (cudaGraphExec_t * out, cudaGraph_t graph, unsigned long long flags),
           graphInstantiateWithFlags, (out, graph, flags))
RT_FORWARD_TWINS(cudaGraphInstantiateWithParams, _ptsz,
                 (cudaGraphExec_t * out, cudaGraph_t graph, cudaGraphInstantiateParams *params),
                 graphInstantiateWithParams,
                 (out, graph, (CUDA_GRAPH_INSTANTIATE_PARAMS *)(void *)params))
RT_FORWARD(cudaGraphExecDestroy, (cudaGraphExec_t exec), graphExecDestroy, (exec))
RT_FORWARD(cudaGraphExecGetFlags, (cudaGraphExec_t exec, unsigned long long *flags),
           graphExecGetFlags, (exec, (cuuint64_t *)(void *)flags))
RT_FORWARD(cudaGraphExecUpdate,
           (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info),
           graphExecUpdate, (exec, graph, (CUgraphExecUpdateResultInfo *)(void *)info))
RT_FORWARD_TWINS(cudaGraphLaunch, _ptsz, (cudaGraphExec_t exec, cudaStream_t s), graphLaunch,
                 (exec, s))
RT_FORWARD_TWINS(cudaGraphUpload, _ptsz, (cudaGraphExec_t exec, cudaStream_t s), graphUpload,
                 (exec, s))
