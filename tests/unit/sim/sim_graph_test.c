/* SPDX-License-Identifier: MIT */
/*
 * Graphs of the simulated GPU that programs build by hand: copies of every shape as nodes, nodes
 * changed before and after instantiation, nodes that run on a condition.
 */
#include "sim_test.h"

/* clang-format off */
CUresult cuGraphCreate(CUgraph *, unsigned int);
CUresult cuGraphDestroy(CUgraph);
CUresult cuGraphClone(CUgraph *, CUgraph);
CUresult cuGraphGetNodes(CUgraph, CUgraphNode *, size_t *);
CUresult cuGraphDestroyNode(CUgraphNode);
CUresult cuGraphNodeFindInClone(CUgraphNode *, CUgraphNode, CUgraph);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long);
CUresult cuGraphLaunch(CUgraphExec, CUstream);
CUresult cuGraphExecDestroy(CUgraphExec);
CUresult cuGraphAddNode_v2(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *);
CUresult cuGraphAddMemAllocNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUDA_MEM_ALLOC_NODE_PARAMS *);
CUresult cuGraphAddHostNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_HOST_NODE_PARAMS *);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphAddMemcpyNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMCPY3D *, CUcontext);
CUresult cuGraphAddMemsetNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMSET_NODE_PARAMS *, CUcontext);
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode, CUDA_MEMCPY3D *);
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode, const CUDA_MEMCPY3D *);
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec, CUgraphNode, const CUDA_MEMCPY3D *, CUcontext);
CUresult cuGraphMemsetNodeGetParams(CUgraphNode, CUDA_MEMSET_NODE_PARAMS *);
CUresult cuGraphMemsetNodeSetParams(CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *);
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec, CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *, CUcontext);
CUresult cuGraphHostNodeGetParams(CUgraphNode, CUDA_HOST_NODE_PARAMS *);
CUresult cuGraphExecHostNodeSetParams(CUgraphExec, CUgraphNode, const CUDA_HOST_NODE_PARAMS *);
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *, CUgraph, CUcontext, unsigned int, unsigned int);
CUresult cuStreamBeginCaptureToGraph(CUstream, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUstreamCaptureMode);
/* clang-format on */

/* ---- copies as nodes ---- */

static void memcpy_nodes_of(struct runtime rt) {
    void *device;
    char in[8] = "0123456", out[8] = "", rows[2][4] = {"ab", "cd"}, changed[8] = "changed";
    cudaGraph_t graph;
    cudaGraphNode_t up, down;
    cudaGraphExec_t exec;
    FUNCTION(rt, cudaMalloc, (void **, size_t));
    FUNCTION(rt, cudaFree, (void *));
    FUNCTION(rt, cudaGraphCreate, (cudaGraph_t *, unsigned));
    FUNCTION(rt, cudaGraphDestroy, (cudaGraph_t));
    FUNCTION(rt, cudaGraphInstantiateWithFlags,
             (cudaGraphExec_t *, cudaGraph_t, unsigned long long));
    FUNCTION(rt, cudaGraphLaunch, (cudaGraphExec_t, cudaStream_t));
    FUNCTION(rt, cudaGraphExecDestroy, (cudaGraphExec_t));
    FUNCTION(rt, cudaGraphAddMemcpyNode,
             (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t,
              const struct cudaMemcpy3DParms *));
    FUNCTION(rt, cudaGraphAddMemcpyNode1D,
             (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, void *, const void *,
              size_t, enum cudaMemcpyKind));
    FUNCTION(rt, cudaGraphMemcpyNodeSetParams, (cudaGraphNode_t, const struct cudaMemcpy3DParms *));
    FUNCTION(rt, cudaGraphExecMemcpyNodeSetParams,
             (cudaGraphExec_t, cudaGraphNode_t, const struct cudaMemcpy3DParms *));
    FUNCTION(rt, cudaGraphExecMemcpyNodeSetParams1D,
             (cudaGraphExec_t, cudaGraphNode_t, void *, const void *, size_t, enum cudaMemcpyKind));
    OK(cudaMalloc(&device, 8));
    OK(cudaGraphCreate(&graph, 0));
    struct cudaMemcpy3DParms copy = {.srcPtr = {in, 8, 8, 1},
                                     .dstPtr = {device, 8, 8, 1},
                                     .extent = {8, 1, 1},
                                     .kind = cudaMemcpyHostToDevice};
    OK(cudaGraphAddMemcpyNode(&up, graph, NULL, 0, &copy));
    ANSWERS(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(&down, graph, NULL, 0, NULL));
    OK(cudaGraphAddMemcpyNode1D(&down, graph, &up, 1, out, device, 8, cudaMemcpyDeviceToHost));
    OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, NULL));
    EXPECT(strcmp(out, "0123456") == 0);

    /* An executable has nodes of its own: the graph's may change and it does not, and the reverse. */
    copy.srcPtr.ptr = changed;
    OK(cudaGraphMemcpyNodeSetParams(up, &copy));
    OK(cudaGraphLaunch(exec, NULL));
    EXPECT(strcmp(out, "0123456") == 0);
    copy = (struct cudaMemcpy3DParms){.srcPtr = {rows, 4, 4, 2},
                                      .dstPtr = {device, 2, 2, 2},
                                      .extent = {2, 2, 1},
                                      .kind = cudaMemcpyHostToDevice};
    OK(cudaGraphExecMemcpyNodeSetParams(exec, up, &copy));
    OK(cudaGraphExecMemcpyNodeSetParams1D(exec, down, out, device, 4, cudaMemcpyDeviceToHost));
    OK(cudaGraphLaunch(exec, NULL));
    EXPECT(strcmp(out, "abcd456") == 0);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, NULL));
    EXPECT(strcmp(out, "changed") == 0);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    ANSWERS(cudaErrorInvalidValue, cudaGraphMemcpyNodeSetParams(up, &copy));
    OK(cudaFree(device));
}

static void memcpy_nodes_body(void) {
    memcpy_nodes_of(open_runtime("12"));
    memcpy_nodes_of(open_runtime("13"));
}

static void memcpy_nodes(void **state) {
    (void)state;
    in_child(NULL, memcpy_nodes_body);
}

/* ---- nodes changed ---- */

static void add_to(void *data) {
    ++*(int *)data;
}

static void changed_nodes_body(void) {
    CUDA_MEMCPY3D copy, found_copy;
    CUDA_MEMSET_NODE_PARAMS fill = {.elementSize = 1, .width = 4, .height = 1, .value = 'x'}, seen;
    CUDA_HOST_NODE_PARAMS host = {.fn = add_to}, found_host;
    CUDA_KERNEL_NODE_PARAMS kernel = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1};
    CUgraph graph, child, clone;
    CUgraphNode filled, called, launched, inside, copied;
    CUgraphExec exec;
    CUdeviceptr device;
    int here = 0, there = 0;
    char out[5] = "";
    CUcontext context = new_context(0);
    OK(cuMemAlloc_v2(&device, 4));
    OK(cuGraphCreate(&child, 0));
    fill.dst = device;
    OK(cuGraphAddMemsetNode(&inside, child, NULL, 0, &fill, context));
    OK(cuGraphCreate(&graph, 0));
    host.userData = &here;
    OK(cuGraphAddHostNode(&called, graph, NULL, 0, &host));
    OK(cuGraphAddKernelNode_v2(&launched, graph, NULL, 0, &kernel));
    OK(cuGraphAddMemsetNode(&filled, graph, NULL, 0, &fill, context));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    EXPECT(here == 1);

    host.userData = &there;
    OK(cuGraphExecHostNodeSetParams(exec, called, &host));
    OK(cuGraphHostNodeGetParams(called, &found_host));
    EXPECT(found_host.fn == add_to && found_host.userData == &here);
    fill.value = 'y';
    OK(cuGraphExecMemsetNodeSetParams(exec, filled, &fill, context));
    OK(cuGraphMemsetNodeGetParams(filled, &seen));
    EXPECT(seen.value == 'x' && seen.dst == device && seen.width == 4 && seen.elementSize == 1);
    OK(cuGraphKernelNodeSetParams_v2(launched, &kernel));
    OK(cuGraphExecKernelNodeSetParams_v2(exec, launched, &kernel));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuMemcpyDtoH_v2(out, device, 4));
    EXPECT(here == 1 && there == 1 && strcmp(out, "yyyy") == 0);

    /* Nodes of the wrong type, of another graph, already removed; wrong parameters. */
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphExecHostNodeSetParams(exec, filled, &host));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemsetNodeSetParams(exec, inside, &fill, context));
    fill.elementSize = 3;
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphMemsetNodeSetParams(filled, &fill));
    fill.elementSize = 1;
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphMemcpyNodeGetParams(filled, &found_copy));
    memset(&copy, 0, sizeof copy);
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphMemcpyNodeSetParams(filled, &copy));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams(exec, called, &copy, context));
    OK(cuGraphMemsetNodeSetParams(filled, &fill)); /* the graph's own, now like the executable's */
    OK(cuGraphDestroyNode(called));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphExecHostNodeSetParams(exec, called, &host));

    /* A clone's node is another one, found by the original. */
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphNodeFindInClone(&copied, filled, clone));
    EXPECT(copied != filled);
    OK(cuGraphMemsetNodeGetParams(copied, &seen));
    EXPECT(seen.value == 'y');
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeFindInClone(&copied, inside, clone));
    OK(cuGraphDestroy(clone));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(child));
}

static void changed_nodes(void **state) {
    (void)state;
    in_child(NULL, changed_nodes_body);
}

/* ---- conditions ---- */

/* A graph of one conditional node, each of whose bodies writes its own letter. What a launch leaves
 * of "....": the bodies that ran. */
static const char *ran(CUgraphConditionalNodeType type, unsigned size, unsigned value,
                       unsigned flags, CUdeviceptr device, CUcontext context) {
    static char out[5];
    CUgraph graph;
    CUgraphNode node, inside;
    CUgraphExec exec;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    OK(cuMemsetD8_v2(device, '.', 4));
    OK(cuGraphCreate(&graph, 0));
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = context;
    OK(cuGraphConditionalHandleCreate(&params.conditional.handle, graph, context, value, flags));
    OK(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params));
    for (unsigned i = 0; i < size; i++) {
        CUDA_MEMSET_NODE_PARAMS fill = {
            .dst = device + i, .elementSize = 1, .width = 1, .height = 1, .value = 'a' + i};
        OK(cuGraphAddMemsetNode(&inside, params.conditional.phGraph_out[i], NULL, 0, &fill,
                                context));
    }
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphDestroy(graph)); /* the executable has bodies of its own */
    OK(cuGraphLaunch(exec, NULL));
    OK(cuMemcpyDtoH_v2(out, device, 4));
    OK(cuGraphExecDestroy(exec));
    return out;
}

#define RAN(expected, ...) EXPECT(strcmp(ran(__VA_ARGS__, device, context), expected) == 0)

static void conditions_body(void) {
    CUdeviceptr device, refused;
    CUgraph graph, other;
    CUgraphNode node;
    CUgraphConditionalHandle handle, foreign;
    CUstream stream;
    size_t count = 0;
    CUcontext context = new_context(0);
    OK(cuMemAlloc_v2(&device, 4));
    RAN("....", CU_GRAPH_COND_TYPE_IF, 1, 0, CU_GRAPH_COND_ASSIGN_DEFAULT);
    RAN("a...", CU_GRAPH_COND_TYPE_IF, 1, 7, CU_GRAPH_COND_ASSIGN_DEFAULT);
    RAN(".b..", CU_GRAPH_COND_TYPE_IF, 2, 0, CU_GRAPH_COND_ASSIGN_DEFAULT);
    RAN("a...", CU_GRAPH_COND_TYPE_WHILE, 1, 1, CU_GRAPH_COND_ASSIGN_DEFAULT); /* once */
    RAN("....", CU_GRAPH_COND_TYPE_WHILE, 1, 0, CU_GRAPH_COND_ASSIGN_DEFAULT);
    RAN("..c.", CU_GRAPH_COND_TYPE_SWITCH, 4, 2, CU_GRAPH_COND_ASSIGN_DEFAULT);
    RAN("....", CU_GRAPH_COND_TYPE_SWITCH, 4, 4, CU_GRAPH_COND_ASSIGN_DEFAULT);
    /* No default: a kernel would say, and none runs. */
    RAN("....", CU_GRAPH_COND_TYPE_IF, 2, 1, 0);
    RAN("....", CU_GRAPH_COND_TYPE_SWITCH, 4, 0, 0);

    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphCreate(&other, 0));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate(NULL, graph, context, 0, 0));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate(&handle, NULL, context, 0, 0));
    ANSWERS(CUDA_ERROR_INVALID_VALUE,
            cuGraphConditionalHandleCreate(&handle, graph, context, 0, 2));
    OK(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0));
    OK(cuGraphConditionalHandleCreate(&foreign, other, context, 0, 0));
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = foreign;
    params.conditional.size = 1;
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params));
    params.conditional.handle = handle;
    params.conditional.size = 3; /* an IF has one body or two */
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params));
    params.conditional.size = 1;
    OK(cuGraphGetNodes(graph, NULL, &count));
    EXPECT(count == 0); /* a refused call left no node */
    OK(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params));

    /* Bodies are their node's; they take no memory, whether by a node or by a captured call. */
    CUgraph body = params.conditional.phGraph_out[0];
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}},
        .bytesize = MIB};
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(body));
    ANSWERS(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddMemAllocNode(&node, body, NULL, 0, &alloc));
    OK(cuStreamCreate(&stream, 0));
    OK(cuStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ANSWERS(CUDA_ERROR_NOT_SUPPORTED, cuMemAllocAsync(&refused, MIB, stream));
    OK(cuMemcpyHtoDAsync_v2(device, "in", 3, stream));
    OK(cuStreamEndCapture(stream, NULL)); /* the program has the graph already */
    OK(cuGraphGetNodes(body, NULL, &count));
    EXPECT(count == 1 && vramtrace_sim_live_bytes(0) == 4);
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(other));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphGetNodes(body, NULL, &count));
}

static void conditions(void **state) {
    (void)state;
    in_child(NULL, conditions_body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memcpy_nodes),
        cmocka_unit_test(changed_nodes),
        cmocka_unit_test(conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
