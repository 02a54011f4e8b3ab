/* SPDX-License-Identifier: MIT */
/* cuMemset* of the simulated driver: 8, 16 and 32 bits wide, straight and pitched. */
#include "graph.h"

#include <string.h>

static void fill_row(unsigned char *row, unsigned value, size_t element, size_t count) {
    if (element == 1) {
        memset(row, (int)value, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(row + i * element, &value, element); /* little-endian: the low bytes come first */
}

CUresult sim_fill(const struct sim_fill *fill) {
    if (fill->width == 0 || fill->height == 0)
        return CUDA_SUCCESS;
    if (fill->to % fill->element != 0 || fill->width > SIZE_MAX / fill->element ||
        (fill->height > 1 && (fill->pitch < fill->width * fill->element ||
                              fill->height - 1 > (SIZE_MAX / 2) / fill->pitch)))
        return CUDA_ERROR_INVALID_VALUE;
    size_t bytes = (fill->height - 1) * fill->pitch + fill->width * fill->element;
    unsigned char *start = sim_memory_range(fill->to, bytes, true);
    if (start == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t y = 0; y < fill->height; y++)
        fill_row(start + y * fill->pitch, fill->value, fill->element, fill->width);
    return CUDA_SUCCESS;
}

static CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, size_t element, size_t width,
                     size_t height, CUstream handle, bool async) {
    SIM_ENTER_CONTEXT(context);
    const struct sim_fill wanted = {.to = to,
                                    .pitch = pitch,
                                    .element = element,
                                    .width = width,
                                    .height = height,
                                    .value = value};
    if (async) {
        struct sim_stream *stream = sim_stream_get(handle, context);
        if (stream == NULL)
            return CUDA_ERROR_INVALID_HANDLE;
        if (stream->capture != NULL)
            return sim_graph_capture_fill(stream, &wanted);
    }
    return sim_fill(&wanted);
}

#define FILL(bits, type)                                                                           \
    static CUresult cuMemsetD##bits##_v2_on(CUdeviceptr to, type value, size_t count) {            \
        return fill(to, 0, value, sizeof value, count, 1, NULL, false);                            \
    }                                                                                              \
    static CUresult cuMemsetD##bits##Async_on(CUdeviceptr to, type value, size_t count,            \
                                              CUstream stream) {                                   \
        return fill(to, 0, value, sizeof value, count, 1, stream, true);                           \
    }                                                                                              \
    static CUresult cuMemsetD2D##bits##_v2_on(CUdeviceptr to, size_t pitch, type value,            \
                                              size_t width, size_t height) {                       \
        return fill(to, pitch, value, sizeof value, width, height, NULL, false);                   \
    }                                                                                              \
    static CUresult cuMemsetD2D##bits##Async_on(CUdeviceptr to, size_t pitch, type value,          \
                                                size_t width, size_t height, CUstream stream) {    \
        return fill(to, pitch, value, sizeof value, width, height, stream, true);                  \
    }                                                                                              \
    SIM_TWINS(cuMemsetD##bits##_v2, _ptds, (CUdeviceptr to, type value, size_t count),             \
              (to, value, count), (to, value, count))                                              \
    SIM_TWINS(cuMemsetD##bits##Async, _ptsz,                                                       \
              (CUdeviceptr to, type value, size_t count, CUstream stream),                         \
              (to, value, count, stream), (to, value, count, SIM_PT(stream)))                      \
    SIM_TWINS(cuMemsetD2D##bits##_v2, _ptds,                                                       \
              (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height),             \
              (to, pitch, value, width, height), (to, pitch, value, width, height))                \
    SIM_TWINS(                                                                                     \
        cuMemsetD2D##bits##Async, _ptsz,                                                           \
        (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, CUstream stream),  \
        (to, pitch, value, width, height, stream),                                                 \
        (to, pitch, value, width, height, SIM_PT(stream)))                                         \
    CUresult cuMemsetD##bits(CUdeviceptr_v1 to, type value, unsigned int count) {                  \
        return fill(to, 0, value, sizeof value, count, 1, NULL, false);                            \
    }                                                                                              \
    CUresult cuMemsetD2D##bits(CUdeviceptr_v1 to, unsigned int pitch, type value,                  \
                               unsigned int width, unsigned int height) {                          \
        return fill(to, pitch, value, sizeof value, width, height, NULL, false);                   \
    }

FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned int)
