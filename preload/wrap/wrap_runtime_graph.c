/* SPDX-License-Identifier: MIT */
/*
 * The runtime's names for graphs, as labels (see wrap_runtime.c). cudaGraphAddNode has two
 * prototypes: CUDA 13's takes edge data, which CUDA 12 has as cudaGraphAddNode_v2.
 */
#include "wrap_runtime.h"

LABEL(cudaGraphAddMemAllocNode,
      (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
       size_t numDependencies, struct cudaMemAllocNodeParams *nodeParams),
      (pGraphNode, graph, pDependencies, numDependencies, nodeParams));
LABEL(cudaGraphAddMemFreeNode,
      (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
       size_t numDependencies, void *dptr),
      (pGraphNode, graph, pDependencies, numDependencies, dptr));

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

LABEL(cudaGraphInstantiate,
      (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, unsigned long long flags),
      (pGraphExec, graph, flags));
LABEL(cudaGraphInstantiateWithFlags,
      (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, unsigned long long flags),
      (pGraphExec, graph, flags));
LABEL(cudaGraphInstantiateWithParams,
      (cudaGraphExec_t * pGraphExec, cudaGraph_t graph,
       cudaGraphInstantiateParams *instantiateParams),
      (pGraphExec, graph, instantiateParams));
LABEL(cudaGraphInstantiateWithParams_ptsz,
      (cudaGraphExec_t * pGraphExec, cudaGraph_t graph,
       cudaGraphInstantiateParams *instantiateParams),
      (pGraphExec, graph, instantiateParams));
LABEL(cudaGraphLaunch, (cudaGraphExec_t graphExec, cudaStream_t stream), (graphExec, stream));
LABEL(cudaGraphLaunch_ptsz, (cudaGraphExec_t graphExec, cudaStream_t stream), (graphExec, stream));
LABEL(cudaGraphExecDestroy, (cudaGraphExec_t graphExec), (graphExec));
