/* SPDX-License-Identifier: MIT */
/*
 * libcudnn: the handle, tensor descriptors, the old interface's choice of an algorithm (see numb.h). Its
 * recurrent networks are in cudnn_rnn.c, its graphs in cudnn_graph.c.
 */
#include "cudnn.h"

#include <string.h>

enum { LIBRARY_VERSION = 92800, HANDLE_BYTES = 1 << 20, STATES_BYTES = 1 << 20 };

/* As a program sees an algorithm of the old interface. */
struct algorithm {
    int number, status;
    float time;
    size_t memory;
    int deterministic, math, reserved[3];
};

NUMB_API size_t cudnnGetVersion(void);
NUMB_API size_t cudnnGetMaxDeviceVersion(void);
NUMB_API size_t cudnnGetCudartVersion(void);
NUMB_API int cudnnGetProperty(int which, int *value);
NUMB_API void cudnnGetLastErrorString(char *text, size_t room);
NUMB_API int cudnnCreate(void **out);
NUMB_API int cudnnSetStream(void *handle, void *stream);
NUMB_API int cudnnGetStream(void *handle, void **stream);
NUMB_API int cudnnDropoutGetStatesSize(void *handle, size_t *bytes);
NUMB_API int cudnnCreateTensorDescriptor(void **out);
NUMB_API int cudnnCreateFilterDescriptor(void **out);
NUMB_API int cudnnSetTensorNdDescriptorEx(void *tensor, int format, int type, int count,
                                          const int *dims);
NUMB_API int cudnnSetTensor4dDescriptor(void *tensor, int format, int type, int n, int c, int h,
                                        int w);
NUMB_API int cudnnSetFilterNdDescriptor(void *filter, int type, int format, int count,
                                        const int *dims);
NUMB_API int cudnnGetTensorNdDescriptor(void *tensor, int room, int *type, int *count, int *dims,
                                        int *strides);
NUMB_API int cudnnGetFilterNdDescriptor(void *filter, int room, int *type, int *format, int *count,
                                        int *dims);
NUMB_API int cudnnGetTensorSizeInBytes(void *tensor, size_t *bytes);
NUMB_API int cudnnGetFilterSizeInBytes(void *filter, size_t *bytes);

size_t cudnnGetVersion(void) {
    return LIBRARY_VERSION;
}

size_t cudnnGetMaxDeviceVersion(void) {
    return LIBRARY_VERSION;
}

size_t cudnnGetCudartVersion(void) {
    return 13000;
}

int cudnnGetProperty(int which, int *value) {
    const int parts[] = {LIBRARY_VERSION / 10000, LIBRARY_VERSION / 100 % 100,
                         LIBRARY_VERSION % 100};
    *value = which >= 0 && which < 3 ? parts[which] : 0;
    return 0;
}

void cudnnGetLastErrorString(char *text, size_t room) {
    if (room > 0)
        *text = '\0';
}

int cudnnCreate(void **out) {
    struct numb_handle *handle = numb_new(0);
    *out = NULL;
    if (handle == NULL || !numb_allocate(handle, 0, HANDLE_BYTES)) {
        numb_end(handle);
        return numb_device() < 0 ? CUDNN_NOT_INITIALIZED : CUDNN_ALLOC_FAILED;
    }
    *out = handle;
    return 0;
}

int cudnnSetStream(void *handle, void *stream) {
    struct numb_handle *known = numb_handle(handle);
    if (known == NULL)
        return CUDNN_NOT_INITIALIZED;
    known->stream = stream;
    return 0;
}

int cudnnGetStream(void *handle, void **stream) {
    struct numb_handle *known = numb_handle(handle);
    if (known == NULL)
        return CUDNN_NOT_INITIALIZED;
    *stream = known->stream;
    return 0;
}

int cudnnDropoutGetStatesSize(void *handle, size_t *bytes) {
    (void)handle;
    *bytes = STATES_BYTES;
    return 0;
}

/* ---- tensors and filters: what they were set to is read back ---- */

size_t numb_cudnn_size(int type) {
    static const unsigned char sizes[] = {[0] = 4, [1] = 8, [2] = 2, [4] = 4, [9] = 2, [10] = 8};
    return type >= 0 && type < (int)sizeof sizes && sizes[type] != 0 ? sizes[type] : 1;
}

static int create(void **out) {
    struct numb_handle *handle = numb_new(sizeof(struct cudnn_tensor));
    *out = handle;
    return handle != NULL ? 0 : CUDNN_ALLOC_FAILED;
}

int cudnnCreateTensorDescriptor(void **out) {
    return create(out);
}

int cudnnCreateFilterDescriptor(void **out) {
    return create(out);
}

int cudnnSetTensorNdDescriptor(void *tensor, int type, int count, const int *dims,
                               const int *strides) {
    struct numb_handle *known = numb_handle(tensor);
    if (known == NULL || count < 0 || count > CUDNN_DIMENSIONS)
        return CUDNN_BAD_PARAM;
    struct cudnn_tensor *kept = numb_more(known);
    *kept = (struct cudnn_tensor){.type = type, .count = count};
    for (int i = count - 1; i >= 0; i--) {
        int packed = i + 1 < count ? kept->strides[i + 1] * dims[i + 1] : 1;
        kept->dims[i] = dims[i];
        kept->strides[i] = strides != NULL ? strides[i] : packed;
    }
    return 0;
}

int cudnnSetTensorNdDescriptorEx(void *tensor, int format, int type, int count, const int *dims) {
    (void)format;
    return cudnnSetTensorNdDescriptor(tensor, type, count, dims, NULL);
}

int cudnnSetTensor4dDescriptor(void *tensor, int format, int type, int n, int c, int h, int w) {
    (void)format;
    return cudnnSetTensorNdDescriptor(tensor, type, 4, (int[]){n, c, h, w}, NULL);
}

int cudnnSetFilterNdDescriptor(void *filter, int type, int format, int count, const int *dims) {
    int result = cudnnSetTensorNdDescriptor(filter, type, count, dims, NULL);
    if (result == 0)
        numb_handle(filter)->mode[0] = format;
    return result;
}

int cudnnGetTensorNdDescriptor(void *tensor, int room, int *type, int *count, int *dims,
                               int *strides) {
    struct numb_handle *known = numb_handle(tensor);
    if (known == NULL)
        return CUDNN_BAD_PARAM;
    struct cudnn_tensor *kept = numb_more(known);
    *type = kept->type;
    *count = kept->count;
    for (int i = 0; i < kept->count && i < room; i++) {
        dims[i] = kept->dims[i];
        if (strides != NULL)
            strides[i] = kept->strides[i];
    }
    return 0;
}

int cudnnGetFilterNdDescriptor(void *filter, int room, int *type, int *format, int *count,
                               int *dims) {
    int result = cudnnGetTensorNdDescriptor(filter, room, type, count, dims, NULL);
    if (result == 0)
        *format = numb_handle(filter)->mode[0];
    return result;
}

int cudnnGetTensorSizeInBytes(void *tensor, size_t *bytes) {
    struct numb_handle *known = numb_handle(tensor);
    if (known == NULL)
        return CUDNN_BAD_PARAM;
    struct cudnn_tensor *kept = numb_more(known);
    *bytes = numb_cudnn_size(kept->type);
    for (int i = 0; i < kept->count; i++)
        *bytes *= (size_t)kept->dims[i];
    return 0;
}

int cudnnGetFilterSizeInBytes(void *filter, size_t *bytes) {
    return cudnnGetTensorSizeInBytes(filter, bytes);
}

/* ---- the old interface: one algorithm, which needs no workspace ---- */

static int one(int *count, struct algorithm *algorithms) {
    memset(algorithms, 0, sizeof *algorithms);
    *count = 1;
    return 0;
}

#define GET(name)                                                                                  \
    NUMB_API int name(void *handle, void *a, void *b, void *c, void *d, int room, int *count,      \
                      struct algorithm *algorithms);                                               \
    int name(void *handle, void *a, void *b, void *c, void *d, int room, int *count,               \
             struct algorithm *algorithms) {                                                       \
        (void)handle, (void)a, (void)b, (void)c, (void)d, (void)room;                              \
        return one(count, algorithms);                                                             \
    }
#define FIND(name)                                                                                 \
    NUMB_API int name(void *handle, void *a, void *ap, void *b, void *bp, void *c, void *d,        \
                      void *dp, int room, int *count, struct algorithm *algorithms, void *space,   \
                      size_t bytes);                                                               \
    int name(void *handle, void *a, void *ap, void *b, void *bp, void *c, void *d, void *dp,       \
             int room, int *count, struct algorithm *algorithms, void *space, size_t bytes) {      \
        (void)handle, (void)a, (void)ap, (void)b, (void)bp, (void)c, (void)d, (void)dp;            \
        (void)room, (void)space, (void)bytes;                                                      \
        return one(count, algorithms);                                                             \
    }
GET(cudnnGetConvolutionForwardAlgorithm_v7)
GET(cudnnGetConvolutionBackwardDataAlgorithm_v7)
GET(cudnnGetConvolutionBackwardFilterAlgorithm_v7)
FIND(cudnnFindConvolutionForwardAlgorithmEx)
FIND(cudnnFindConvolutionBackwardDataAlgorithmEx)
FIND(cudnnFindConvolutionBackwardFilterAlgorithmEx)
