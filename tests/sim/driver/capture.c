/* SPDX-License-Identifier: MIT */
/* Streams of the simulated driver, recorded into graphs. See graph.h. */
#include "graph.h"

#include <stdlib.h>

/* Streams on which a capture began and has not ended. */
struct active {
    struct active *next;
    struct sim_stream *origin;
};
static struct active *captures;

static struct sim_stream *find_origin(unsigned long long id) {
    for (struct active *it = captures; it != NULL; it = it->next) {
        if (it->origin->capture_id == id)
            return it->origin;
    }
    return NULL;
}

/* ---- begin and end ---- */

static CUresult begin(CUstream handle, struct sim_graph *graph, CUstreamCaptureMode mode) {
    SIM_ENTER_CONTEXT(context);
    struct sim_stream *stream = sim_stream_get(handle, context);
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (handle == NULL || handle == CU_STREAM_LEGACY)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture != NULL)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    struct active *active = calloc(1, sizeof *active);
    stream->to_graph = graph != NULL;
    stream->capture = graph != NULL ? graph : sim_graph_new();
    if (active == NULL || stream->capture == NULL) {
        stream->capture = NULL;
        free(active);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    active->origin = stream;
    active->next = captures;
    captures = active;
    stream->origin = stream;
    stream->joined = NULL;
    stream->tail = NULL;
    stream->capture_id = ++sim.next_id;
    return CUDA_SUCCESS;
}

static void end(struct sim_stream *origin) {
    for (struct active **it = &captures; *it != NULL; it = &(*it)->next) {
        if ((*it)->origin == origin) {
            struct active *gone = *it;
            *it = gone->next;
            free(gone);
            break;
        }
    }
    for (struct sim_stream *it = origin, *next; it != NULL; it = next) {
        next = it->joined;
        it->capture = NULL;
        it->origin = it->joined = NULL;
        it->tail = NULL;
        it->capture_id = 0;
    }
}

void sim_graph_join_capture(struct sim_stream *stream, unsigned long long id) {
    struct sim_stream *origin = find_origin(id);
    if (origin == NULL || stream->capture != NULL)
        return;
    stream->capture = origin->capture;
    stream->capture_id = id;
    stream->origin = origin;
    stream->tail = origin->tail;
    stream->joined = origin->joined;
    origin->joined = stream;
}

void sim_graph_abandon_capture(struct sim_stream *stream) {
    if (stream->capture == NULL)
        return;
    if (stream->origin == stream) {
        struct sim_graph *graph = stream->to_graph ? NULL : stream->capture;
        end(stream);
        if (graph != NULL)
            sim_object_drop(graph);
        return;
    }
    for (struct sim_stream *it = stream->origin; it != NULL; it = it->joined) {
        if (it->joined == stream)
            it->joined = stream->joined;
    }
}

static CUresult cuStreamBeginCapture_on(CUstream stream) {
    return begin(stream, NULL, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static CUresult cuStreamBeginCapture_v2_on(CUstream stream, CUstreamCaptureMode mode) {
    return begin(stream, NULL, mode);
}

static CUresult cuStreamBeginCaptureToGraph_on(CUstream stream, CUgraph handle,
                                               const CUgraphNode *before,
                                               const CUgraphEdgeData *data, size_t count,
                                               CUstreamCaptureMode mode) {
    SIM_ENTER();
    struct sim_graph *graph = sim_object_get(handle, SIM_OBJECT_GRAPH);
    (void)data;
    if (graph == NULL || (before == NULL && count != 0))
        return CUDA_ERROR_INVALID_VALUE;
    return begin(stream, graph, mode);
}

static CUresult cuStreamEndCapture_on(CUstream handle, CUgraph *out) {
    SIM_ENTER_CONTEXT(context);
    struct sim_stream *stream = sim_stream_get(handle, context);
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (out == NULL && !stream->to_graph) /* of a graph of its own the program needs no handle */
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture == NULL)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (stream->origin != stream)
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    if (out != NULL)
        *out = (CUgraph)(void *)stream->capture;
    end(stream);
    return CUDA_SUCCESS;
}

static CUresult cuStreamIsCapturing_on(CUstream handle, CUstreamCaptureStatus *status) {
    SIM_ENTER_CONTEXT(context);
    struct sim_stream *stream = sim_stream_get(handle, context);
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (status == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *status =
        stream->capture != NULL ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static CUresult cuStreamGetCaptureInfo_v3_on(CUstream handle, CUstreamCaptureStatus *status,
                                             cuuint64_t *id, CUgraph *graph,
                                             const CUgraphNode **nodes,
                                             const CUgraphEdgeData **data, size_t *count) {
    SIM_ENTER_CONTEXT(context);
    struct sim_stream *stream = sim_stream_get(handle, context);
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (status == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *status =
        stream->capture != NULL ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    if (stream->capture == NULL)
        return CUDA_SUCCESS;
    if (id != NULL)
        *id = stream->capture_id;
    if (graph != NULL)
        *graph = (CUgraph)(void *)stream->capture;
    if (nodes != NULL)
        *nodes = (const CUgraphNode *)(const void *)&stream->tail;
    if (data != NULL)
        *data = NULL;
    if (count != NULL)
        *count = stream->tail != NULL;
    return CUDA_SUCCESS;
}

static CUresult cuStreamGetCaptureInfo_on(CUstream s, CUstreamCaptureStatus *status,
                                          cuuint64_t *id) {
    return cuStreamGetCaptureInfo_v3_on(s, status, id, NULL, NULL, NULL, NULL);
}

static CUresult cuStreamGetCaptureInfo_v2_on(CUstream s, CUstreamCaptureStatus *status,
                                             cuuint64_t *id, CUgraph *graph,
                                             const CUgraphNode **nodes, size_t *count) {
    return cuStreamGetCaptureInfo_v3_on(s, status, id, graph, nodes, NULL, count);
}

/* A stream of captured work has one last node here, so a set of them keeps the last. */
static CUresult cuStreamUpdateCaptureDependencies_on(CUstream handle, CUgraphNode *nodes,
                                                     size_t count, unsigned int flags) {
    SIM_ENTER_CONTEXT(context);
    struct sim_stream *stream = sim_stream_get(handle, context);
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture == NULL)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (flags > 1 || (nodes == NULL && count != 0))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        struct sim_node *node = sim_object_get(nodes[i], SIM_OBJECT_NODE);
        if (node == NULL || node->graph != stream->capture)
            return CUDA_ERROR_INVALID_VALUE;
        stream->tail = node;
    }
    if (count == 0 && flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        stream->tail = NULL;
    return CUDA_SUCCESS;
}

static CUresult cuStreamUpdateCaptureDependencies_v2_on(CUstream handle, CUgraphNode *nodes,
                                                        const CUgraphEdgeData *data, size_t count,
                                                        unsigned int flags) {
    (void)data;
    return cuStreamUpdateCaptureDependencies_on(handle, nodes, count, flags);
}

SIM_TWINS(cuStreamBeginCapture, _ptsz, (CUstream s), (s), (SIM_PT(s)))
SIM_TWINS(cuStreamBeginCapture_v2, _ptsz, (CUstream s, CUstreamCaptureMode mode), (s, mode),
          (SIM_PT(s), mode))
SIM_TWINS(cuStreamBeginCaptureToGraph, _ptsz,
          (CUstream s, CUgraph graph, const CUgraphNode *before, const CUgraphEdgeData *data,
           size_t count, CUstreamCaptureMode mode),
          (s, graph, before, data, count, mode), (SIM_PT(s), graph, before, data, count, mode))
SIM_TWINS(cuStreamEndCapture, _ptsz, (CUstream s, CUgraph *out), (s, out), (SIM_PT(s), out))
SIM_TWINS(cuStreamIsCapturing, _ptsz, (CUstream s, CUstreamCaptureStatus *status), (s, status),
          (SIM_PT(s), status))
SIM_TWINS(cuStreamGetCaptureInfo, _ptsz,
          (CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id), (s, status, id),
          (SIM_PT(s), status, id))
SIM_TWINS(cuStreamGetCaptureInfo_v2, _ptsz,
          (CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
           const CUgraphNode **nodes, size_t *count),
          (s, status, id, graph, nodes, count), (SIM_PT(s), status, id, graph, nodes, count))
SIM_TWINS(cuStreamGetCaptureInfo_v3, _ptsz,
          (CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
           const CUgraphNode **nodes, const CUgraphEdgeData **data, size_t *count),
          (s, status, id, graph, nodes, data, count),
          (SIM_PT(s), status, id, graph, nodes, data, count))
SIM_TWINS(cuStreamUpdateCaptureDependencies, _ptsz,
          (CUstream s, CUgraphNode *nodes, size_t count, unsigned int flags),
          (s, nodes, count, flags), (SIM_PT(s), nodes, count, flags))
SIM_TWINS(cuStreamUpdateCaptureDependencies_v2, _ptsz,
          (CUstream s, CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count,
           unsigned int flags),
          (s, nodes, data, count, flags), (SIM_PT(s), nodes, data, count, flags))

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    static __thread CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
    SIM_ENTER();
    if (mode == NULL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode before = current;
    current = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

/* ---- recorded calls ---- */

static CUresult record(struct sim_stream *stream, CUgraphNodeType type, struct sim_node **out) {
    struct sim_node *before = stream->tail;
    if (!sim_graph_takes(stream->capture, type))
        return CUDA_ERROR_NOT_SUPPORTED;
    struct sim_node *node = sim_graph_add(stream->capture, type, &before, before != NULL);
    if (node == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stream->tail = node;
    *out = node;
    return CUDA_SUCCESS;
}

CUresult sim_graph_capture_alloc(CUdeviceptr *out, size_t bytes, struct sim_stream *stream) {
    struct sim_node *node;
    struct sim_graph_memory *memory = sim_graph_memory_new(stream->device, bytes);
    if (memory == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = record(stream, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &node);
    if (result != CUDA_SUCCESS) {
        sim_graph_memory_put(memory);
        return result;
    }
    node->memory = memory;
    *out = memory->start;
    return CUDA_SUCCESS;
}

CUresult sim_graph_capture_free(CUdeviceptr address, struct sim_stream *stream) {
    struct sim_node *node;
    CUresult result = record(stream, CU_GRAPH_NODE_TYPE_MEM_FREE, &node);
    if (result == CUDA_SUCCESS)
        node->freed = address;
    return result;
}

CUresult sim_graph_capture_copy(struct sim_stream *stream, const CUDA_MEMCPY3D *copy) {
    struct sim_node *node;
    CUresult result = record(stream, CU_GRAPH_NODE_TYPE_MEMCPY, &node);
    if (result == CUDA_SUCCESS)
        node->copy = *copy;
    return result;
}

CUresult sim_graph_capture_fill(struct sim_stream *stream, const struct sim_fill *fill) {
    struct sim_node *node;
    CUresult result = record(stream, CU_GRAPH_NODE_TYPE_MEMSET, &node);
    if (result == CUDA_SUCCESS)
        node->fill = *fill;
    return result;
}

CUresult sim_graph_capture_host(struct sim_stream *stream, CUhostFn function, void *data) {
    struct sim_node *node;
    CUresult result = record(stream, CU_GRAPH_NODE_TYPE_HOST, &node);
    if (result == CUDA_SUCCESS)
        node->host = (CUDA_HOST_NODE_PARAMS){.fn = function, .userData = data};
    return result;
}

CUresult sim_graph_capture_kernel(struct sim_stream *stream) {
    struct sim_node *node;
    return record(stream, CU_GRAPH_NODE_TYPE_KERNEL, &node);
}
