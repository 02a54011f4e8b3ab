/* SPDX-License-Identifier: MIT */
/*
 * Graphs: state/graph.c stores the nodes that allocate and free; from these nodes a launch is recorded. An allocation
 * carries the API name and stack of the call that added its node, because that code asked for the memory; the launch
 * may be anywhere. Executables are recorded as objects: each holds device memory of an unknown size.
 *
 * Not wrapped: cuGraphClone and cuGraphAddChildGraphNode (a graph with memory nodes cannot be cloned),
 * cuGraphDestroyNode (memory nodes cannot be removed), cuGraphUpload (reserves, but does not allocate),
 * cuDeviceGraphMemTrim and cuDeviceSetGraphMemAttribute (they change the untracked reserve).
 */
#include "state/state.h"
#include "base/base.h"
#include "wrap.h"

#include <string.h>

static void added_alloc(const struct vt_call *call, CUresult result, CUgraph graph,
                        const CUmemPoolProps *props, uint64_t address, uint64_t size) {
    struct vt_pool pool = vt_pool_of(props->allocType, &props->location);
    struct vt_live what = {.address = result == CUDA_SUCCESS ? address : 0,
                           .size = size,
                           .context = VT_CONTEXT_UNKNOWN,
                           .kind = VT_KIND_GRAPH,
                           .device = (uint8_t)pool.device};
    if (result != CUDA_SUCCESS) {
        vt_ask_allocated(call, result, what);
        return;
    }
    what.stack = vt_event_stack(call, &what.hook);
    vt_graph_alloc_node(graph, &what);
}

VT_EXPORT CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                          const CUgraphNode *dependencies, size_t numDependencies,
                                          CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams) {
    VT_ENTER_DRIVER(cuGraphAddMemAllocNode);
    CUresult result = real(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
    if (nodeParams)
        added_alloc(&call, result, hGraph, &nodeParams->poolProps, nodeParams->dptr,
                    nodeParams->bytesize);
    return result;
}

VT_EXPORT CUresult cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                         const CUgraphNode *dependencies, size_t numDependencies,
                                         CUdeviceptr dptr) {
    VT_ENTER_DRIVER(cuGraphAddMemFreeNode);
    CUresult result = real(phGraphNode, hGraph, dependencies, numDependencies, dptr);
    if (result == CUDA_SUCCESS)
        vt_graph_free_node(hGraph, dptr);
    return result;
}

/* Handles a node's parameters by type. A child graph that is moved into the parent brings its memory nodes; a copied
 * child graph has none. Headers before 12.9 do not define the ownership field, so it is read by offset, after the
 * graph's handle. */
static void added(const struct vt_call *call, CUresult result, CUgraph graph,
                  const CUgraphNodeParams *params) {
    if (!params)
        return;
    if (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
        added_alloc(call, result, graph, &params->alloc.poolProps, params->alloc.dptr,
                    params->alloc.bytesize);
    } else if (result == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
        vt_graph_free_node(graph, params->free.dptr);
    } else if (result == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_GRAPH) {
        struct {
            CUgraph graph;
            int owner; /* 0: copied; 1: moved */
        } child;
        memcpy(&child, &params->alloc, sizeof child);
        if (child.owner == 1)
            vt_graph_child_moved(graph, child.graph);
    }
}

VT_EXPORT CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                  const CUgraphNode *dependencies, size_t numDependencies,
                                  CUgraphNodeParams *nodeParams) {
    VT_ENTER_DRIVER(cuGraphAddNode);
    CUresult result = real(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
    added(&call, result, hGraph, nodeParams);
    return result;
}

#define ADD_NODE(name)                                                                             \
    VT_EXPORT CUresult name(CUgraphNode *phGraphNode, CUgraph hGraph,                              \
                            const CUgraphNode *dependencies,                                       \
                            const CUgraphEdgeData *dependencyData, size_t numDependencies,         \
                            CUgraphNodeParams *nodeParams) {                                       \
        VT_ENTER_DRIVER(name);                                                                     \
        CUresult result =                                                                          \
            real(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams);  \
        added(&call, result, hGraph, nodeParams);                                                  \
        return result;                                                                             \
    }
ADD_NODE(cuGraphAddNode_v2)
ADD_NODE(cuGraphAddNode_v3)

static CUresult made(const struct vt_call *call, CUresult result, const CUgraphExec *exec,
                     CUgraph graph) {
    if (result == CUDA_SUCCESS && exec && vt_get(&vt_graph_any))
        vt_graph_instantiated(*exec, graph);
    return vt_object_made(call, result, VT_OBJECT_GRAPH, exec);
}

#define INSTANTIATE(name)                                                                          \
    VT_EXPORT CUresult name(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,    \
                            char *logBuffer, size_t bufferSize) {                                  \
        VT_ENTER_DRIVER(name);                                                                     \
        return made(&call, real(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize),          \
                    phGraphExec, hGraph);                                                          \
    }
INSTANTIATE(cuGraphInstantiate)
INSTANTIATE(cuGraphInstantiate_v2)

VT_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                               unsigned long long flags) {
    VT_ENTER_DRIVER(cuGraphInstantiateWithFlags);
    return made(&call, real(phGraphExec, hGraph, flags), phGraphExec, hGraph);
}

#define INSTANTIATE_WITH_PARAMS(name)                                                              \
    VT_EXPORT CUresult name(CUgraphExec *phGraphExec, CUgraph hGraph,                              \
                            CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams) {                    \
        VT_ENTER_DRIVER(name);                                                                     \
        return made(&call, real(phGraphExec, hGraph, instantiateParams), phGraphExec, hGraph);     \
    }
INSTANTIATE_WITH_PARAMS(cuGraphInstantiateWithParams)
INSTANTIATE_WITH_PARAMS(cuGraphInstantiateWithParams_ptsz)

/* Memory that a destroyed executable allocated stays allocated until it is freed. */
VT_EXPORT CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
    VT_ENTER_DRIVER(cuGraphExecDestroy);
    const struct vt_graph_end end = vt_graph_exec_ends(hGraphExec);
    CUresult result = real(hGraphExec);
    vt_graph_exec_ended(hGraphExec, &end, result != CUDA_SUCCESS);
    return vt_object_gone(&call, result, VT_OBJECT_GRAPH, (uint64_t)(uintptr_t)hGraphExec);
}

VT_EXPORT CUresult cuGraphDestroy(CUgraph hGraph) {
    VT_ENTER_DRIVER(cuGraphDestroy);
    const struct vt_graph_end end = vt_graph_ends(hGraph);
    CUresult result = real(hGraph);
    vt_graph_ended(hGraph, &end, result != CUDA_SUCCESS);
    return result;
}

struct launch {
    const struct vt_call *call;
    uint64_t ticks; /* before the launch */
    struct vt_live refused;
};

/* The address may still be live from the previous launch. The executable then frees its own leftovers first; otherwise
 * the driver would have refused the launch. */
static void allocated(const struct vt_live *what, void *data) {
    const struct launch *launch = data;
    if (vt_live_known(what->address, VT_KIND_GRAPH))
        vt_event_freed(launch->call, launch->ticks, what->address, VT_KIND_GRAPH);
    vt_ask_allocated(launch->call, CUDA_SUCCESS, *what);
}

static void freed(uint64_t address, void *data) {
    const struct launch *launch = data;
    if (vt_live_known(address, VT_KIND_GRAPH))
        vt_event_freed(launch->call, launch->ticks, address, VT_KIND_GRAPH);
}

static void would_allocate(const struct vt_live *what, void *data) {
    struct launch *launch = data;
    uint64_t sum = launch->refused.size + what->size;
    launch->refused = *what;
    launch->refused.address = 0;
    launch->refused.size = sum;
}

static void would_free(uint64_t address, void *data) {
    (void)address;
    (void)data;
}

/* A launch only increments a counter, which the next allocation or the end of the log writes. */
static CUresult counted(CUresult result) {
    if (result == CUDA_SUCCESS)
        vt_add(&vt_graph_launches.count, 1);
    return result;
}

static CUresult launched(const struct vt_call *call, CUresult (*real)(CUgraphExec, CUstream),
                         CUgraphExec exec, CUstream stream) {
    struct launch launch = {.call = call, .ticks = vt_event_before_call(false)};
    CUresult result = counted(real(exec, stream));
    if (result == CUDA_SUCCESS) {
        vt_graph_launch(exec, allocated, freed, &launch);
    } else if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        vt_graph_launch(exec, would_allocate, would_free, &launch);
        if (launch.refused.size)
            vt_ask_allocated(call, result, launch.refused);
    }
    vt_event_after_call(launch.ticks);
    return result;
}

#define LAUNCH(name)                                                                               \
    VT_EXPORT CUresult name(CUgraphExec hGraph, CUstream hStream) {                                \
        VT_ENTER_DRIVER(name);                                                                     \
        return vt_get(&vt_graph_any) ? launched(&call, real, hGraph, hStream)                      \
                                     : counted(real(hGraph, hStream));                             \
    }
LAUNCH(cuGraphLaunch)
LAUNCH(cuGraphLaunch_ptsz)
