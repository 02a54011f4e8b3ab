/* SPDX-License-Identifier: MIT */
/*
 * Streams and events of the simulated driver. All work is complete when a call returns, so streams
 * are always idle; they serve as valid handles, and for capture (capture.c).
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The default streams are not handles: 0 and 1 are the legacy one, 2 is the thread's own. They can
 * be captured as little as the real legacy one (the thread's own can, there). */
static struct sim_stream *default_stream(struct sim_context *context, bool per_thread) {
    static __thread struct sim_stream own;
    static __thread struct sim_stream legacy;
    struct sim_stream *stream = per_thread ? &own : &legacy;
    stream->device = context->device;
    return stream;
}

struct sim_stream *sim_stream_get(CUstream handle, struct sim_context *context) {
    if (handle == NULL || handle == CU_STREAM_LEGACY)
        return default_stream(context, false);
    if (handle == CU_STREAM_PER_THREAD)
        return default_stream(context, true);
    return sim_object_get(handle, SIM_OBJECT_STREAM);
}

static void drop_stream(struct sim_object *object) {
    struct sim_stream *stream = (struct sim_stream *)object;
    sim_graph_abandon_capture(stream);
    sim_object_free(object);
}

static int in_range(int priority) {
    return priority > 0 ? 0 : priority < -5 ? -5 : priority;
}

struct sim_stream *sim_stream_new(struct sim_context *context, unsigned flags, int priority) {
    struct sim_stream *stream =
        sim_object_new(sizeof *stream, SIM_OBJECT_STREAM, context, drop_stream);
    if (stream == NULL)
        return NULL;
    stream->device = context->device;
    stream->flags = flags;
    stream->priority = in_range(priority);
    return stream;
}

static CUresult create(CUstream *out, unsigned flags, int priority) {
    SIM_ENTER_CONTEXT(context);
    if (out == NULL || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_stream *stream = sim_stream_new(context, flags, priority);
    if (stream == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = (CUstream)(void *)stream;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *out, unsigned int flags) {
    return create(out, flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream *out, unsigned int flags, int priority) {
    return create(out, flags, priority);
}

static CUresult destroy_stream(CUstream handle) {
    SIM_ENTER();
    struct sim_stream *stream = sim_object_get(handle, SIM_OBJECT_STREAM);
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_drop(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream) {
    return destroy_stream(stream);
}
CUresult cuStreamDestroy_v2(CUstream stream) {
    return destroy_stream(stream);
}

/* What a call on a stream begins with: the stream, or what to answer. */
#define ENTER_STREAM(stream, handle)                                                               \
    SIM_ENTER_CONTEXT(context);                                                                    \
    struct sim_stream *stream = sim_stream_get(handle, context);                                   \
    if (stream == NULL)                                                                            \
    return CUDA_ERROR_INVALID_HANDLE

static CUresult cuStreamSynchronize_on(CUstream handle) {
    ENTER_STREAM(stream, handle);
    if (stream->capture != NULL)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    sim_pool_settle(stream->device);
    return CUDA_SUCCESS;
}

static CUresult cuStreamQuery_on(CUstream handle) {
    ENTER_STREAM(stream, handle);
    return stream->capture != NULL ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

static CUresult cuStreamGetFlags_on(CUstream handle, unsigned int *flags) {
    ENTER_STREAM(stream, handle);
    if (flags == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = stream->flags;
    return CUDA_SUCCESS;
}

static CUresult cuStreamGetPriority_on(CUstream handle, int *priority) {
    ENTER_STREAM(stream, handle);
    if (priority == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

static CUresult cuStreamGetId_on(CUstream handle, unsigned long long *id) {
    ENTER_STREAM(stream, handle);
    if (id == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *id = stream->object.id != 0 ? stream->object.id : (uintptr_t)handle == 2 ? 2 : 1;
    return CUDA_SUCCESS;
}

static CUresult cuStreamGetDevice_on(CUstream handle, CUdevice *device) {
    ENTER_STREAM(stream, handle);
    if (device == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *device = stream->device->ordinal;
    return CUDA_SUCCESS;
}

static CUresult cuStreamGetCtx_on(CUstream handle, CUcontext *out) {
    ENTER_STREAM(stream, handle);
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUcontext)(void *)(stream->object.context != NULL ? stream->object.context : context);
    return CUDA_SUCCESS;
}

static CUresult cuStreamGetCtx_v2_on(CUstream handle, CUcontext *out, CUgreenCtx *green) {
    if (green == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = cuStreamGetCtx_on(handle, out);
    if (result == CUDA_SUCCESS)
        *green = NULL; /* of no green context */
    return result;
}

static CUresult cuStreamAddCallback_on(CUstream handle, CUstreamCallback callback, void *data,
                                       unsigned int flags) {
    ENTER_STREAM(stream, handle);
    if (callback == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture != NULL)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    sim_unlock_for_callback();
    callback(handle, CUDA_SUCCESS, data);
    sim_relock();
    return CUDA_SUCCESS;
}

static CUresult cuLaunchHostFunc_on(CUstream handle, CUhostFn function, void *data) {
    ENTER_STREAM(stream, handle);
    if (function == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture != NULL)
        return sim_graph_capture_host(stream, function, data);
    sim_unlock_for_callback();
    function(data);
    sim_relock();
    return CUDA_SUCCESS;
}

static CUresult cuStreamAttachMemAsync_on(CUstream handle, CUdeviceptr address, size_t length,
                                          unsigned int flags) {
    ENTER_STREAM(stream, handle);
    (void)length;
    (void)flags;
    struct sim_block *block = sim_block_at((uintptr_t)address);
    return block != NULL && block->kind == VRAMTRACE_SIM_MANAGED ? CUDA_SUCCESS
                                                                 : CUDA_ERROR_INVALID_VALUE;
}

/* ---- attributes: hints for kernels, which do not run; they are kept ---- */

static CUresult cuStreamCopyAttributes_on(CUstream to, CUstream from_handle) {
    ENTER_STREAM(stream, to);
    struct sim_stream *from = sim_stream_get(from_handle, context);
    if (from == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    memmove(stream->attributes, from->attributes, sizeof stream->attributes);
    stream->priority = from->priority;
    return CUDA_SUCCESS;
}

/* Other attributes are of launches and of kernel nodes. */
static bool is_of_streams(CUstreamAttrID attribute) {
    return attribute == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW ||
           attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY ||
           attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY ||
           attribute == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ||
           attribute == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
}

static CUresult cuStreamSetAttribute_on(CUstream handle, CUstreamAttrID attribute,
                                        const CUstreamAttrValue *value) {
    ENTER_STREAM(stream, handle);
    if (value == NULL || !is_of_streams(attribute))
        return CUDA_ERROR_INVALID_VALUE;
    stream->attributes[attribute] = *value;
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        stream->priority = in_range(value->priority);
    return CUDA_SUCCESS;
}

static CUresult cuStreamGetAttribute_on(CUstream handle, CUstreamAttrID attribute,
                                        CUstreamAttrValue *value) {
    ENTER_STREAM(stream, handle);
    if (value == NULL || !is_of_streams(attribute))
        return CUDA_ERROR_INVALID_VALUE;
    *value = stream->attributes[attribute];
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        value->priority = stream->priority;
    if (attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY && value->syncPolicy == 0)
        value->syncPolicy = CU_SYNC_POLICY_AUTO; /* never set */
    return CUDA_SUCCESS;
}

/* ---- words in memory ---- */

/* Waits and writes of words in device memory, as programs use them to signal each other. */
static CUresult write_value(CUstream handle, CUdeviceptr address, cuuint64_t value, size_t bytes) {
    ENTER_STREAM(stream, handle);
    void *target = sim_memory_range(address, bytes, true);
    if (target == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(target, &value, bytes);
    return CUDA_SUCCESS;
}

static CUresult cuStreamWriteValue32_v2_on(CUstream s, CUdeviceptr a, cuuint32_t v, unsigned f) {
    (void)f;
    return write_value(s, a, v, 4);
}

static CUresult cuStreamWriteValue64_v2_on(CUstream s, CUdeviceptr a, cuuint64_t v, unsigned f) {
    (void)f;
    return write_value(s, a, v, 8);
}

SIM_TWINS(cuStreamSynchronize, _ptsz, (CUstream s), (s), (SIM_PT(s)))
SIM_TWINS(cuStreamQuery, _ptsz, (CUstream s), (s), (SIM_PT(s)))
SIM_TWINS(cuStreamGetFlags, _ptsz, (CUstream s, unsigned int *out), (s, out), (SIM_PT(s), out))
SIM_TWINS(cuStreamGetPriority, _ptsz, (CUstream s, int *out), (s, out), (SIM_PT(s), out))
SIM_TWINS(cuStreamGetId, _ptsz, (CUstream s, unsigned long long *out), (s, out), (SIM_PT(s), out))
SIM_TWINS(cuStreamGetDevice, _ptsz, (CUstream s, CUdevice *out), (s, out), (SIM_PT(s), out))
SIM_TWINS(cuStreamGetCtx, _ptsz, (CUstream s, CUcontext *out), (s, out), (SIM_PT(s), out))
SIM_TWINS(cuStreamGetCtx_v2, _ptsz, (CUstream s, CUcontext *out, CUgreenCtx *green),
          (s, out, green), (SIM_PT(s), out, green))
SIM_TWINS(cuStreamAddCallback, _ptsz,
          (CUstream s, CUstreamCallback callback, void *data, unsigned int flags),
          (s, callback, data, flags), (SIM_PT(s), callback, data, flags))
SIM_TWINS(cuLaunchHostFunc, _ptsz, (CUstream s, CUhostFn function, void *data), (s, function, data),
          (SIM_PT(s), function, data))
SIM_TWINS(cuStreamAttachMemAsync, _ptsz,
          (CUstream s, CUdeviceptr address, size_t length, unsigned int flags),
          (s, address, length, flags), (SIM_PT(s), address, length, flags))
SIM_TWINS(cuStreamCopyAttributes, _ptsz, (CUstream to, CUstream from), (to, from),
          (SIM_PT(to), SIM_PT(from)))
SIM_TWINS(cuStreamSetAttribute, _ptsz,
          (CUstream s, CUstreamAttrID attribute, const CUstreamAttrValue *value),
          (s, attribute, value), (SIM_PT(s), attribute, value))
SIM_TWINS(cuStreamGetAttribute, _ptsz,
          (CUstream s, CUstreamAttrID attribute, CUstreamAttrValue *value), (s, attribute, value),
          (SIM_PT(s), attribute, value))
SIM_TWINS(cuStreamWriteValue32_v2, _ptsz, (CUstream s, CUdeviceptr a, cuuint32_t v, unsigned int f),
          (s, a, v, f), (SIM_PT(s), a, v, f))
SIM_TWINS(cuStreamWriteValue64_v2, _ptsz, (CUstream s, CUdeviceptr a, cuuint64_t v, unsigned int f),
          (s, a, v, f), (SIM_PT(s), a, v, f))

/* ---- events ---- */

struct sim_event {
    struct sim_object object;
    unsigned flags;
    bool recorded;
    struct timespec at;
    unsigned long long capture_id; /* recorded in a capture: who waits for it joins that */
};

CUresult cuEventCreate(CUevent *out, unsigned int flags) {
    SIM_ENTER_CONTEXT(context);
    if (out == NULL || (flags & ~7U) != 0 ||
        (flags & (CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING)) == CU_EVENT_INTERPROCESS)
        return CUDA_ERROR_INVALID_VALUE; /* shared events have no times */
    struct sim_event *event = sim_object_new(sizeof *event, SIM_OBJECT_EVENT, context, NULL);
    if (event == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    event->flags = flags;
    *out = (CUevent)(void *)event;
    return CUDA_SUCCESS;
}

static CUresult destroy_event(CUevent handle) {
    SIM_ENTER();
    struct sim_event *event = sim_object_get(handle, SIM_OBJECT_EVENT);
    if (event == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_drop(event);
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
    return destroy_event(event);
}
CUresult cuEventDestroy_v2(CUevent event) {
    return destroy_event(event);
}

static CUresult cuEventRecord_on(CUevent handle, CUstream stream_handle) {
    ENTER_STREAM(stream, stream_handle);
    struct sim_event *event = sim_object_get(handle, SIM_OBJECT_EVENT);
    if (event == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    event->recorded = true;
    event->capture_id = stream->capture != NULL ? stream->capture_id : 0;
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    return CUDA_SUCCESS;
}

static CUresult cuEventRecordWithFlags_on(CUevent event, CUstream stream, unsigned int flags) {
    return flags > 1 ? CUDA_ERROR_INVALID_VALUE : cuEventRecord_on(event, stream);
}

static CUresult cuStreamWaitEvent_on(CUstream stream_handle, CUevent handle, unsigned int flags) {
    ENTER_STREAM(stream, stream_handle);
    struct sim_event *event = sim_object_get(handle, SIM_OBJECT_EVENT);
    if (event == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags > 1)
        return CUDA_ERROR_INVALID_VALUE;
    if (event->capture_id != 0 && stream->capture == NULL)
        sim_graph_join_capture(stream, event->capture_id); /* a fork of the captured work */
    return CUDA_SUCCESS;
}

SIM_TWINS(cuEventRecord, _ptsz, (CUevent event, CUstream s), (event, s), (event, SIM_PT(s)))
SIM_TWINS(cuEventRecordWithFlags, _ptsz, (CUevent event, CUstream s, unsigned int flags),
          (event, s, flags), (event, SIM_PT(s), flags))
SIM_TWINS(cuStreamWaitEvent, _ptsz, (CUstream s, CUevent event, unsigned int flags),
          (s, event, flags), (SIM_PT(s), event, flags))

CUresult cuEventQuery(CUevent handle) {
    SIM_ENTER();
    return sim_object_get(handle, SIM_OBJECT_EVENT) != NULL ? CUDA_SUCCESS
                                                            : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventSynchronize(CUevent handle) {
    SIM_ENTER_CONTEXT(context);
    if (sim_object_get(handle, SIM_OBJECT_EVENT) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_pool_settle(context->device);
    return CUDA_SUCCESS;
}

static CUresult elapsed(float *milliseconds, CUevent start, CUevent end) {
    SIM_ENTER();
    struct sim_event *from = sim_object_get(start, SIM_OBJECT_EVENT);
    struct sim_event *to = sim_object_get(end, SIM_OBJECT_EVENT);
    if (milliseconds == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (from == NULL || to == NULL || !from->recorded || !to->recorded ||
        ((from->flags | to->flags) & CU_EVENT_DISABLE_TIMING) != 0)
        return CUDA_ERROR_INVALID_HANDLE;
    *milliseconds = (float)(to->at.tv_sec - from->at.tv_sec) * 1e3F +
                    (float)(to->at.tv_nsec - from->at.tv_nsec) * 1e-6F;
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) {
    return elapsed(ms, start, end);
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end) {
    return elapsed(ms, start, end);
}

/* ---- events of other processes: nothing is ever under way, so another's event is a new one ----
 * */

struct event_note {
    char magic[8];
    int pid;
    unsigned long long id;
};
#define EVENT_MAGIC "vt-simE"

CUresult cuIpcGetEventHandle(CUipcEventHandle *out, CUevent handle) {
    SIM_ENTER_CONTEXT(context);
    (void)context;
    struct sim_event *event = sim_object_get(handle, SIM_OBJECT_EVENT);
    if (event == NULL || (event->flags & CU_EVENT_INTERPROCESS) == 0)
        return CUDA_ERROR_INVALID_HANDLE;
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct event_note note = {.magic = EVENT_MAGIC, .pid = getpid(), .id = event->object.id};
    memset(out, 0, sizeof *out);
    memcpy(out, &note, sizeof note);
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenEventHandle(CUevent *out, CUipcEventHandle handle) {
    SIM_ENTER_CONTEXT(context);
    struct event_note note;
    memcpy(&note, &handle, sizeof note);
    if (out == NULL || memcmp(note.magic, EVENT_MAGIC, sizeof note.magic) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (note.pid == getpid())
        return CUDA_ERROR_INVALID_CONTEXT; /* only another process may open it */
    struct sim_event *event = sim_object_new(sizeof *event, SIM_OBJECT_EVENT, context, NULL);
    if (event == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    event->flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
    *out = (CUevent)(void *)event;
    return CUDA_SUCCESS;
}
