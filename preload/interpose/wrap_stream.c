/* SPDX-License-Identifier: MIT */
/*
 * Streams: each stream's device (where its stream-ordered memory is), and captures into a graph. Recording or awaiting
 * an event matters only during a capture, which other streams join that way. At other times it costs one read.
 */
#include "state/state.h"
#include "base/base.h"
#include "wrap.h"

/* CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL: the event becomes a graph node, and no stream joins the capture. */
#define EXTERNAL 1u

static CUresult made(CUresult result, const CUstream *stream, unsigned device) {
    if (result == CUDA_SUCCESS && stream)
        vt_pool_stream_made(*stream, device);
    return result;
}

VT_EXPORT CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags) {
    VT_ENTER_DRIVER(cuStreamCreate);
    return made(real(phStream, Flags), phStream, vt_context_device(vt_context_current()));
}

VT_EXPORT CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags,
                                              int priority) {
    VT_ENTER_DRIVER(cuStreamCreateWithPriority);
    return made(real(phStream, flags, priority), phStream, vt_context_device(vt_context_current()));
}

VT_EXPORT CUresult cuGreenCtxStreamCreate(CUstream *phStream, CUgreenCtx greenCtx,
                                          unsigned int flags, int priority) {
    VT_ENTER_DRIVER(cuGreenCtxStreamCreate);
    return made(real(phStream, greenCtx, flags, priority), phStream,
                vt_context_device(vt_context_green(greenCtx)));
}

/* Call before the driver's function, because the driver may give the handle to another thread's stream at once. If the
 * call fails, we only lose the stream's device. */
static void destroy_begins(CUstream stream) {
    vt_pool_stream_gone(stream);
    if (VT_UNLIKELY(vt_get(&vt_graph_captures)))
        vt_graph_capture_end(vt_graph_stream(stream, false), NULL);
}

#define DESTROY(name)                                                                              \
    VT_EXPORT CUresult name(CUstream hStream) {                                                    \
        VT_ENTER_DRIVER(name);                                                                     \
        destroy_begins(hStream);                                                                   \
        return real(hStream);                                                                      \
    }
DESTROY(cuStreamDestroy)
DESTROY(cuStreamDestroy_v2)

static CUresult begun(CUresult result, CUstream stream, bool per_thread, CUgraph into) {
    if (result == CUDA_SUCCESS)
        vt_graph_capture_begin(vt_graph_stream(stream, per_thread), into);
    return result;
}

#define BEGIN_CAPTURE(name, per_thread)                                                            \
    VT_EXPORT CUresult name(CUstream hStream) {                                                    \
        VT_ENTER_DRIVER(name);                                                                     \
        return begun(real(hStream), hStream, per_thread, NULL);                                    \
    }
BEGIN_CAPTURE(cuStreamBeginCapture, false)
BEGIN_CAPTURE(cuStreamBeginCapture_ptsz, true)

#define CAPTURE(name, per_thread)                                                                  \
    VT_EXPORT CUresult name(CUstream hStream, CUstreamCaptureMode mode) {                          \
        VT_ENTER_DRIVER(name);                                                                     \
        return begun(real(hStream, mode), hStream, per_thread, NULL);                              \
    }
CAPTURE(cuStreamBeginCapture_v2, false)
CAPTURE(cuStreamBeginCapture_v2_ptsz, true)

#define CAPTURE_TO_GRAPH(name, per_thread)                                                         \
    VT_EXPORT CUresult name(CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,     \
                            const CUgraphEdgeData *dependencyData, size_t numDependencies,         \
                            CUstreamCaptureMode mode) {                                            \
        VT_ENTER_DRIVER(name);                                                                     \
        return begun(real(hStream, hGraph, dependencies, dependencyData, numDependencies, mode),   \
                     hStream, per_thread, hGraph);                                                 \
    }
CAPTURE_TO_GRAPH(cuStreamBeginCaptureToGraph, false)
CAPTURE_TO_GRAPH(cuStreamBeginCaptureToGraph_ptsz, true)

/* Even a failed call ends the capture, unless the call was not allowed to end it. */
static CUresult ended(CUresult result, CUstream stream, bool per_thread, const CUgraph *graph) {
    if (result == CUDA_SUCCESS ||
        (result != CUDA_ERROR_ILLEGAL_STATE && result != CUDA_ERROR_INVALID_VALUE &&
         result != CUDA_ERROR_INVALID_HANDLE && result != CUDA_ERROR_STREAM_CAPTURE_UNMATCHED &&
         result != CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD))
        vt_graph_capture_end(vt_graph_stream(stream, per_thread),
                             result == CUDA_SUCCESS && graph ? *graph : NULL);
    return result;
}

#define END_CAPTURE(name, per_thread)                                                              \
    VT_EXPORT CUresult name(CUstream hStream, CUgraph *phGraph) {                                  \
        VT_ENTER_DRIVER(name);                                                                     \
        return ended(real(hStream, phGraph), hStream, per_thread, phGraph);                        \
    }
END_CAPTURE(cuStreamEndCapture, false)
END_CAPTURE(cuStreamEndCapture_ptsz, true)

static CUresult recorded(CUresult result, CUevent event, CUstream stream, bool per_thread) {
    if (VT_UNLIKELY(vt_get(&vt_graph_captures)) && result == CUDA_SUCCESS)
        vt_graph_event_recorded(event, vt_graph_stream(stream, per_thread));
    return result;
}

#define RECORD(name, per_thread)                                                                   \
    VT_EXPORT CUresult name(CUevent hEvent, CUstream hStream) {                                    \
        VT_ENTER_DRIVER(name);                                                                     \
        return recorded(real(hEvent, hStream), hEvent, hStream, per_thread);                       \
    }
RECORD(cuEventRecord, false)
RECORD(cuEventRecord_ptsz, true)

#define RECORD_WITH_FLAGS(name, per_thread)                                                        \
    VT_EXPORT CUresult name(CUevent hEvent, CUstream hStream, unsigned int flags) {                \
        VT_ENTER_DRIVER(name);                                                                     \
        CUresult result = real(hEvent, hStream, flags);                                            \
        return flags & EXTERNAL ? result : recorded(result, hEvent, hStream, per_thread);          \
    }
RECORD_WITH_FLAGS(cuEventRecordWithFlags, false)
RECORD_WITH_FLAGS(cuEventRecordWithFlags_ptsz, true)

static CUresult waited(CUresult result, CUstream stream, bool per_thread, CUevent event,
                       unsigned flags) {
    if (VT_UNLIKELY(vt_get(&vt_graph_captures)) && result == CUDA_SUCCESS && !(flags & EXTERNAL))
        vt_graph_event_waited(vt_graph_stream(stream, per_thread), event);
    return result;
}

#define WAIT(name, per_thread)                                                                     \
    VT_EXPORT CUresult name(CUstream hStream, CUevent hEvent, unsigned int Flags) {                \
        VT_ENTER_DRIVER(name);                                                                     \
        return waited(real(hStream, hEvent, Flags), hStream, per_thread, hEvent, Flags);           \
    }
WAIT(cuStreamWaitEvent, false)
WAIT(cuStreamWaitEvent_ptsz, true)
