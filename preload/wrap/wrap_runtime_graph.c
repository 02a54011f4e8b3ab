/* SPDX-License-Identifier: MIT */
/*
 * The runtime's names for graphs, as labels (see wrap_runtime.c). cudaGraphAddNode has two
 * prototypes: CUDA 13's takes edge data, which CUDA 12 has as cudaGraphAddNode_v2.
 */
#include "wrap_runtime.h"

EXPORT(cudaGraphAddMemAllocNode);
VT_EXPORT cudaError_t OURS(cudaGraphAddMemAllocNode)(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                     const cudaGraphNode_t *pDependencies,
                                                     size_t numDependencies,
                                                     struct cudaMemAllocNodeParams *nodeParams) {
    ENTER(cudaGraphAddMemAllocNode);
    return labelled(&label, real(pGraphNode, graph, pDependencies, numDependencies, nodeParams));
}

EXPORT(cudaGraphAddMemFreeNode);
VT_EXPORT cudaError_t OURS(cudaGraphAddMemFreeNode)(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                    const cudaGraphNode_t *pDependencies,
                                                    size_t numDependencies, void *dptr) {
    ENTER(cudaGraphAddMemFreeNode);
    return labelled(&label, real(pGraphNode, graph, pDependencies, numDependencies, dptr));
}

#if VT_CUDART >= 13
EXPORT(cudaGraphAddNode);
#endif
VT_EXPORT cudaError_t OURS(cudaGraphAddNode)(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t *pDependencies,
                                             const cudaGraphEdgeData *dependencyData,
                                             size_t numDependencies,
                                             struct cudaGraphNodeParams *nodeParams) {
    ENTER(cudaGraphAddNode);
    return labelled(&label, real(pGraphNode, graph, pDependencies, dependencyData, numDependencies,
                                 nodeParams));
}

#if VT_CUDART <= 12
EXPORT_AS(cudaGraphAddNode_12, cudaGraphAddNode);
#endif
VT_EXPORT cudaError_t OURS(cudaGraphAddNode_12)(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                const cudaGraphNode_t *pDependencies,
                                                size_t numDependencies,
                                                struct cudaGraphNodeParams *nodeParams) {
    ENTER(cudaGraphAddNode_12);
    return labelled(&label, real(pGraphNode, graph, pDependencies, numDependencies, nodeParams));
}

#if VT_CUDART <= 12
EXPORT(cudaGraphAddNode_v2);
#endif
VT_EXPORT cudaError_t OURS(cudaGraphAddNode_v2)(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                const cudaGraphNode_t *pDependencies,
                                                const cudaGraphEdgeData *dependencyData,
                                                size_t numDependencies,
                                                struct cudaGraphNodeParams *nodeParams) {
    ENTER(cudaGraphAddNode_v2);
    return labelled(&label, real(pGraphNode, graph, pDependencies, dependencyData, numDependencies,
                                 nodeParams));
}

EXPORT(cudaGraphInstantiate);
VT_EXPORT cudaError_t OURS(cudaGraphInstantiate)(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                                 unsigned long long flags) {
    ENTER(cudaGraphInstantiate);
    return labelled(&label, real(pGraphExec, graph, flags));
}

EXPORT(cudaGraphInstantiateWithFlags);
VT_EXPORT cudaError_t OURS(cudaGraphInstantiateWithFlags)(cudaGraphExec_t *pGraphExec,
                                                          cudaGraph_t graph,
                                                          unsigned long long flags) {
    ENTER(cudaGraphInstantiateWithFlags);
    return labelled(&label, real(pGraphExec, graph, flags));
}

EXPORT(cudaGraphInstantiateWithParams);
VT_EXPORT cudaError_t OURS(cudaGraphInstantiateWithParams)(
    cudaGraphExec_t *pGraphExec, cudaGraph_t graph, cudaGraphInstantiateParams *instantiateParams) {
    ENTER(cudaGraphInstantiateWithParams);
    return labelled(&label, real(pGraphExec, graph, instantiateParams));
}

EXPORT(cudaGraphInstantiateWithParams_ptsz);
VT_EXPORT cudaError_t OURS(cudaGraphInstantiateWithParams_ptsz)(
    cudaGraphExec_t *pGraphExec, cudaGraph_t graph, cudaGraphInstantiateParams *instantiateParams) {
    ENTER(cudaGraphInstantiateWithParams_ptsz);
    return labelled(&label, real(pGraphExec, graph, instantiateParams));
}

EXPORT(cudaGraphLaunch);
VT_EXPORT cudaError_t OURS(cudaGraphLaunch)(cudaGraphExec_t graphExec, cudaStream_t stream) {
    ENTER(cudaGraphLaunch);
    return labelled(&label, real(graphExec, stream));
}

EXPORT(cudaGraphLaunch_ptsz);
VT_EXPORT cudaError_t OURS(cudaGraphLaunch_ptsz)(cudaGraphExec_t graphExec, cudaStream_t stream) {
    ENTER(cudaGraphLaunch_ptsz);
    return labelled(&label, real(graphExec, stream));
}

EXPORT(cudaGraphExecDestroy);
VT_EXPORT cudaError_t OURS(cudaGraphExecDestroy)(cudaGraphExec_t graphExec) {
    ENTER(cudaGraphExecDestroy);
    return labelled(&label, real(graphExec));
}
