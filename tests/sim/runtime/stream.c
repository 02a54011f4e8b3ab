/* SPDX-License-Identifier: MIT */
/* Streams, events and stream capture in the simulated runtime. */
#include "runtime.h"

RT_FORWARD(cudaStreamCreate, (cudaStream_t * out), streamCreate, (out, 0))
RT_FORWARD(cudaStreamCreateWithFlags, (cudaStream_t * out, unsigned int flags), streamCreate,
           (out, flags))
RT_FORWARD(cudaStreamCreateWithPriority, (cudaStream_t * out, unsigned int flags, int priority),
           streamCreateWithPriority, (out, flags, priority))
RT_FORWARD(cudaStreamDestroy, (cudaStream_t stream), streamDestroy, (stream))

RT_FORWARD_TWINS(cudaStreamSynchronize, _ptsz, (cudaStream_t s), streamSynchronize, (s))
RT_FORWARD_TWINS(cudaStreamQuery, _ptsz, (cudaStream_t s), streamQuery, (s))
RT_FORWARD_TWINS(cudaStreamGetFlags, _ptsz, (cudaStream_t s, unsigned int *out), streamGetFlags,
                 (s, out))
RT_FORWARD_TWINS(cudaStreamGetPriority, _ptsz, (cudaStream_t s, int *out), streamGetPriority,
                 (s, out))
RT_FORWARD_TWINS(cudaStreamGetId, _ptsz, (cudaStream_t s, unsigned long long *out), streamGetId,
                 (s, out))
RT_FORWARD_TWINS(cudaStreamGetDevice, _ptsz, (cudaStream_t s, int *out), streamGetDevice, (s, out))
RT_FORWARD_TWINS(cudaStreamWaitEvent, _ptsz,
                 (cudaStream_t s, cudaEvent_t event, unsigned int flags), streamWaitEvent,
                 (s, event, flags))
RT_FORWARD_TWINS(cudaStreamAttachMemAsync, _ptsz,
                 (cudaStream_t s, void *address, size_t length, unsigned int flags),
                 streamAttachMemAsync, (s, RT_ADDRESS(address), length, flags))
RT_FORWARD_TWINS(cudaLaunchHostFunc, _ptsz, (cudaStream_t s, cudaHostFn_t function, void *data),
                 launchHostFunc, (s, function, data))

/* Attributes have the same numbers and layouts in both interfaces. */
RT_FORWARD_TWINS(cudaStreamCopyAttributes, _ptsz, (cudaStream_t to, cudaStream_t from),
                 streamCopyAttributes, (to, from))
RT_FORWARD_TWINS(cudaStreamGetAttribute, _ptsz,
                 (cudaStream_t s, cudaLaunchAttributeID attribute, cudaLaunchAttributeValue *value),
                 streamGetAttribute,
                 (s, (CUstreamAttrID)attribute, (CUstreamAttrValue *)(void *)value))
RT_FORWARD_TWINS(cudaStreamSetAttribute, _ptsz,
                 (cudaStream_t s, cudaLaunchAttributeID attribute,
                  const cudaLaunchAttributeValue *value),
                 streamSetAttribute,
                 (s, (CUstreamAttrID)attribute, (const CUstreamAttrValue *)(const void *)value))

/* The two callback types differ in the name of the error's type only. */
RT_FORWARD_TWINS(cudaStreamAddCallback, _ptsz,
                 (cudaStream_t s, cudaStreamCallback_t callback, void *data, unsigned int flags),
                 streamAddCallback, (s, (CUstreamCallback)(uintptr_t)callback, data, flags))

/* ---- events ---- */

RT_FORWARD(cudaEventCreate, (cudaEvent_t * out), eventCreate, (out, 0))
RT_FORWARD(cudaEventCreateWithFlags, (cudaEvent_t * out, unsigned int flags), eventCreate,
           (out, flags))
RT_FORWARD(cudaEventDestroy, (cudaEvent_t event), eventDestroy, (event))
RT_FORWARD(cudaEventQuery, (cudaEvent_t event), eventQuery, (event))
RT_FORWARD(cudaEventSynchronize, (cudaEvent_t event), eventSynchronize, (event))
RT_FORWARD(cudaEventElapsedTime, (float *ms, cudaEvent_t start, cudaEvent_t end), eventElapsedTime,
           (ms, start, end))
#if SIM_CUDART == 12
RT_FORWARD(cudaEventElapsedTime_v2, (float *ms, cudaEvent_t start, cudaEvent_t end),
           eventElapsedTime, (ms, start, end))
#endif
RT_FORWARD_TWINS(cudaEventRecord, _ptsz, (cudaEvent_t event, cudaStream_t s), eventRecord,
                 (event, s))
RT_FORWARD_TWINS(cudaEventRecordWithFlags, _ptsz,
                 (cudaEvent_t event, cudaStream_t s, unsigned int flags), eventRecordWithFlags,
                 (event, s, flags))

/* ---- capture ---- */

typedef enum cudaStreamCaptureStatus status_t;

static CUstreamCaptureStatus *driver_status(status_t *status) {
    return (CUstreamCaptureStatus *)(void *)status; /* the same numbers in the same room */
}

RT_FORWARD_TWINS(cudaStreamBeginCapture, _ptsz, (cudaStream_t s, enum cudaStreamCaptureMode mode),
                 streamBeginCapture, (s, (CUstreamCaptureMode)mode))
RT_FORWARD_TWINS(cudaStreamBeginCaptureToGraph, _ptsz,
                 (cudaStream_t s, cudaGraph_t graph, const cudaGraphNode_t *before,
                  const cudaGraphEdgeData *data, size_t count, enum cudaStreamCaptureMode mode),
                 streamBeginCaptureToGraph,
                 (s, graph, before, (const CUgraphEdgeData *)(const void *)data, count,
                  (CUstreamCaptureMode)mode))
RT_FORWARD_TWINS(cudaStreamEndCapture, _ptsz, (cudaStream_t s, cudaGraph_t *out), streamEndCapture,
                 (s, out))
RT_FORWARD_TWINS(cudaStreamIsCapturing, _ptsz, (cudaStream_t s, status_t *status),
                 streamIsCapturing, (s, driver_status(status)))
RT_FORWARD(cudaThreadExchangeStreamCaptureMode, (enum cudaStreamCaptureMode * mode),
           threadExchangeStreamCaptureMode, ((CUstreamCaptureMode *)(void *)mode))

#define INFO_V1 cudaStream_t s, status_t *status, unsigned long long *id
#define INFO_V2 INFO_V1, cudaGraph_t *graph, const cudaGraphNode_t **nodes, size_t *count
#define INFO_V3                                                                                    \
    INFO_V1, cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **data,    \
        size_t *count
#define ID   ((cuuint64_t *)(void *)id)
#define DATA ((const CUgraphEdgeData **)(void *)data)

#if SIM_CUDART == 12
RT_FORWARD_TWINS(cudaStreamGetCaptureInfo, _ptsz, (INFO_V1), streamGetCaptureInfo,
                 (s, driver_status(status), ID, NULL, NULL, NULL, NULL))
RT_FORWARD_TWINS(cudaStreamGetCaptureInfo_v2, _ptsz, (INFO_V2), streamGetCaptureInfo,
                 (s, driver_status(status), ID, graph, nodes, NULL, count))
RT_FORWARD_TWINS(cudaStreamGetCaptureInfo_v3, _ptsz, (INFO_V3), streamGetCaptureInfo,
                 (s, driver_status(status), ID, graph, nodes, DATA, count))
RT_FORWARD_TWINS(cudaStreamUpdateCaptureDependencies, _ptsz,
                 (cudaStream_t s, cudaGraphNode_t *nodes, size_t count, unsigned int flags),
                 streamUpdateCaptureDependencies, (s, nodes, NULL, count, flags))
RT_FORWARD_TWINS(cudaStreamUpdateCaptureDependencies_v2, _ptsz,
                 (cudaStream_t s, cudaGraphNode_t *nodes, const cudaGraphEdgeData *data,
                  size_t count, unsigned int flags),
                 streamUpdateCaptureDependencies,
                 (s, nodes, (const CUgraphEdgeData *)(const void *)data, count, flags))
#else
RT_FORWARD_TWINS(cudaStreamGetCaptureInfo, _ptsz, (INFO_V3), streamGetCaptureInfo,
                 (s, driver_status(status), ID, graph, nodes, DATA, count))
RT_FORWARD_TWINS(cudaStreamUpdateCaptureDependencies, _ptsz,
                 (cudaStream_t s, cudaGraphNode_t *nodes, const cudaGraphEdgeData *data,
                  size_t count, unsigned int flags),
                 streamUpdateCaptureDependencies,
                 (s, nodes, (const CUgraphEdgeData *)(const void *)data, count, flags))
#endif
