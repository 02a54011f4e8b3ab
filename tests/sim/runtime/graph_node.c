/* SPDX-License-Identifier: MIT */
/*
 * Graph nodes in the simulated runtime whose parameter types differ from the driver's: adding them,
 * and changing them in a graph or an executable. Everything else is in graph.c.
 */
#include "runtime.h"

#define NODE cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count
#define SET  cudaGraphNode_t node
#define EXEC cudaGraphExec_t exec, cudaGraphNode_t node

static CUcontext current(void) {
    CUcontext context = NULL;
    rt.ctxGetCurrent(&context);
    return context;
}

/* ---- copies ---- */

/* The three functions of one way to describe a copy: `fill` makes the driver's description, or returns an error. */
#define COPY_NODES(suffix, params, fill)                                                           \
    cudaError_t cudaGraphAddMemcpyNode##suffix(NODE, params) {                                     \
        CUDA_MEMCPY3D copy;                                                                        \
        RT_ENTER_CONTEXT();                                                                        \
        cudaError_t error = fill;                                                                  \
        return error != cudaSuccess ? rt_fail(error)                                               \
                                    : rt_result(rt.graphAddMemcpyNode(out, graph, before, count,   \
                                                                      &copy, current()));          \
    }                                                                                              \
    cudaError_t cudaGraphMemcpyNodeSetParams##suffix(SET, params) {                                \
        CUDA_MEMCPY3D copy;                                                                        \
        RT_ENTER_CONTEXT();                                                                        \
        cudaError_t error = fill;                                                                  \
        return error != cudaSuccess ? rt_fail(error)                                               \
                                    : rt_result(rt.graphMemcpyNodeSetParams(node, &copy));         \
    }                                                                                              \
    cudaError_t cudaGraphExecMemcpyNodeSetParams##suffix(EXEC, params) {                           \
        CUDA_MEMCPY3D copy;                                                                        \
        RT_ENTER_CONTEXT();                                                                        \
        cudaError_t error = fill;                                                                  \
        return error != cudaSuccess                                                                \
                   ? rt_fail(error)                                                                \
                   : rt_result(rt.graphExecMemcpyNodeSetParams(exec, node, &copy, current()));     \
    }

static cudaError_t deep(const struct cudaMemcpy3DParms *params, CUDA_MEMCPY3D *copy) {
    return rt_copy_deep(params, copy) ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t straight(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            CUDA_MEMCPY3D *copy) {
    return rt_copy_straight(to, from, bytes, kind, copy) ? cudaSuccess
                                                         : cudaErrorInvalidMemcpyDirection;
}

/* `other` is the end that is not the symbol. */
static cudaError_t symbol_copy(const void *symbol, const void *other, size_t bytes, size_t offset,
                               bool to_symbol, enum cudaMemcpyKind kind, CUDA_MEMCPY3D *copy) {
    CUdeviceptr address;
    size_t size;
    cudaError_t error = rt_symbol_of(symbol, &address, &size);
    if (error != cudaSuccess)
        return error;
    if (offset > size || bytes > size - offset)
        return cudaErrorInvalidValue;
    void *inside = (void *)(uintptr_t)(address + offset);
    return straight(to_symbol ? inside : (void *)(uintptr_t)other, to_symbol ? other : inside,
                    bytes, kind, copy);
}

#define P_DEEP const struct cudaMemcpy3DParms *params
#define P_1D   void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind
#define P_TO   const void *symbol, const void *from, size_t bytes, size_t at, enum cudaMemcpyKind kind
#define P_FROM void *to, const void *symbol, size_t bytes, size_t at, enum cudaMemcpyKind kind

COPY_NODES(, P_DEEP, deep(params, &copy))
COPY_NODES(1D, P_1D, straight(to, from, bytes, kind, &copy))
COPY_NODES(ToSymbol, P_TO, symbol_copy(symbol, from, bytes, at, true, kind, &copy))
COPY_NODES(FromSymbol, P_FROM, symbol_copy(symbol, to, bytes, at, false, kind, &copy))

/* ---- fills and the program's functions: laid out alike in both interfaces ---- */

#define FILL(p) ((const CUDA_MEMSET_NODE_PARAMS *)(const void *)(p))
#define HOST(p) ((const CUDA_HOST_NODE_PARAMS *)(const void *)(p))

RT_FORWARD(cudaGraphAddMemsetNode, (NODE, const struct cudaMemsetParams *params),
           graphAddMemsetNode, (out, graph, before, count, FILL(params), current()))
RT_FORWARD(cudaGraphMemsetNodeGetParams, (SET, struct cudaMemsetParams *params),
           graphMemsetNodeGetParams, (node, (CUDA_MEMSET_NODE_PARAMS *)(void *)params))
RT_FORWARD(cudaGraphMemsetNodeSetParams, (SET, const struct cudaMemsetParams *params),
           graphMemsetNodeSetParams, (node, FILL(params)))
RT_FORWARD(cudaGraphExecMemsetNodeSetParams, (EXEC, const struct cudaMemsetParams *params),
           graphExecMemsetNodeSetParams, (exec, node, FILL(params), current()))
RT_FORWARD(cudaGraphAddHostNode, (NODE, const struct cudaHostNodeParams *params), graphAddHostNode,
           (out, graph, before, count, HOST(params)))
RT_FORWARD(cudaGraphHostNodeGetParams, (SET, struct cudaHostNodeParams *params),
           graphHostNodeGetParams, (node, (CUDA_HOST_NODE_PARAMS *)(void *)params))
RT_FORWARD(cudaGraphHostNodeSetParams, (SET, const struct cudaHostNodeParams *params),
           graphHostNodeSetParams, (node, HOST(params)))
RT_FORWARD(cudaGraphExecHostNodeSetParams, (EXEC, const struct cudaHostNodeParams *params),
           graphExecHostNodeSetParams, (exec, node, HOST(params)))

/* ---- kernels ---- */

static cudaError_t kernel_of(const struct cudaKernelNodeParams *params,
                             CUDA_KERNEL_NODE_PARAMS *kernel) {
    *kernel = (CUDA_KERNEL_NODE_PARAMS){0};
    if (params == NULL)
        return cudaErrorInvalidValue;
    kernel->gridDimX = params->gridDim.x;
    kernel->gridDimY = params->gridDim.y;
    kernel->gridDimZ = params->gridDim.z;
    kernel->blockDimX = params->blockDim.x;
    kernel->blockDimY = params->blockDim.y;
    kernel->blockDimZ = params->blockDim.z;
    kernel->sharedMemBytes = params->sharedMemBytes;
    kernel->kernelParams = params->kernelParams;
    kernel->extra = params->extra;
    return rt_kernel_of(params->func, &kernel->func);
}

cudaError_t cudaGraphAddKernelNode(NODE, const struct cudaKernelNodeParams *params) {
    CUDA_KERNEL_NODE_PARAMS kernel;
    RT_ENTER_CONTEXT();
    cudaError_t error = kernel_of(params, &kernel);
    return error != cudaSuccess
               ? rt_fail(error)
               : rt_result(rt.graphAddKernelNode(out, graph, before, count, &kernel));
}

cudaError_t cudaGraphKernelNodeSetParams(SET, const struct cudaKernelNodeParams *params) {
    CUDA_KERNEL_NODE_PARAMS kernel;
    RT_ENTER_CONTEXT();
    cudaError_t error = kernel_of(params, &kernel);
    return error != cudaSuccess ? rt_fail(error)
                                : rt_result(rt.graphKernelNodeSetParams(node, &kernel));
}

cudaError_t cudaGraphExecKernelNodeSetParams(EXEC, const struct cudaKernelNodeParams *params) {
    CUDA_KERNEL_NODE_PARAMS kernel;
    RT_ENTER_CONTEXT();
    cudaError_t error = kernel_of(params, &kernel);
    return error != cudaSuccess ? rt_fail(error)
                                : rt_result(rt.graphExecKernelNodeSetParams(exec, node, &kernel));
}

/* ---- conditions ---- */

RT_FORWARD(cudaGraphConditionalHandleCreate,
           (cudaGraphConditionalHandle * out, cudaGraph_t graph, unsigned int value,
            unsigned int flags),
           graphConditionalHandleCreate,
           ((CUgraphConditionalHandle *)(void *)out, graph, current(), value, flags))
