/* SPDX-License-Identifier: MIT */
/*
 * What the files of the numb libcudnn share.
 */
#ifndef VRAMTRACE_SIM_NUMB_CUDNN_H
#define VRAMTRACE_SIM_NUMB_CUDNN_H

#include "numb.h"

enum { CUDNN_NOT_INITIALIZED = 1001, CUDNN_BAD_PARAM = 2000, CUDNN_ALLOC_FAILED = 4004 };
enum { CUDNN_DIMENSIONS = 12 };

/* Behind the descriptor of a tensor or a filter. */
struct cudnn_tensor {
    int type, count, dims[CUDNN_DIMENSIONS], strides[CUDNN_DIMENSIONS];
};

/* The size of an element. */
size_t numb_cudnn_size(int type);

NUMB_API int cudnnSetTensorNdDescriptor(void *tensor, int type, int count, const int *dims,
                                        const int *strides);

#endif
