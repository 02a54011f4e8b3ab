/* SPDX-License-Identifier: MIT */
/*
 * libcudnn's recurrent networks: where their weights lie, and how much room they need (see numb.h).
 * Programs place their parameters by this, so the sizes follow from the network. All of a layer's
 * matrices come first, gate by gate, those of its input before the recurrent ones; then all biases.
 */
#include "cudnn.h"

#include <string.h>

enum { CELL_LSTM = 2, CELL_GRU = 3, NO_BIAS = 0, SKIP_INPUT = 1 };

/* Behind a descriptor of a network, as cudnnSetRNNDescriptor_v8 set it. */
struct rnn {
    int cell, bias, bidirectional, input_mode, type;
    int input, hidden, projected, layers;
};

/* Behind a descriptor of a network's data. */
struct sequence {
    int longest, batch, vector;
};

NUMB_API int cudnnCreateRNNDescriptor(void **out);
NUMB_API int cudnnSetRNNDescriptor_v8(void *rnn, int algorithm, int cell, int bias, int direction,
                                      int input_mode, int type, int precision, int math,
                                      int32_t input, int32_t hidden, int32_t projected,
                                      int32_t layers, void *dropout, uint32_t flags);
NUMB_API int cudnnCreateRNNDataDescriptor(void **out);
NUMB_API int cudnnSetRNNDataDescriptor(void *data, int type, int layout, int longest, int batch,
                                       int vector, const int *lengths, void *padding);
NUMB_API int cudnnGetRNNWeightSpaceSize(void *handle, void *rnn, size_t *bytes);
NUMB_API int cudnnGetRNNTempSpaceSizes(void *handle, void *rnn, int mode, void *data,
                                       size_t *workspace, size_t *reserve);
NUMB_API int cudnnGetRNNWeightParams(void *handle, void *rnn, int32_t layer, size_t bytes,
                                     const void *weights, int32_t number, void *matrix,
                                     void **matrix_address, void *bias, void **bias_address);

int cudnnCreateRNNDescriptor(void **out) {
    *out = numb_new(sizeof(struct rnn));
    return *out != NULL ? 0 : CUDNN_ALLOC_FAILED;
}

int cudnnCreateRNNDataDescriptor(void **out) {
    *out = numb_new(sizeof(struct sequence));
    return *out != NULL ? 0 : CUDNN_ALLOC_FAILED;
}

int cudnnSetRNNDescriptor_v8(void *rnn, int algorithm, int cell, int bias, int direction,
                             int input_mode, int type, int precision, int math, int32_t input,
                             int32_t hidden, int32_t projected, int32_t layers, void *dropout,
                             uint32_t flags) {
    struct numb_handle *known = numb_handle(rnn);
    (void)algorithm, (void)precision, (void)math, (void)dropout, (void)flags;
    if (known == NULL)
        return CUDNN_BAD_PARAM;
    *(struct rnn *)numb_more(known) = (struct rnn){.cell = cell,
                                                   .bias = bias,
                                                   .bidirectional = direction,
                                                   .input_mode = input_mode,
                                                   .type = type,
                                                   .input = input,
                                                   .hidden = hidden,
                                                   .projected = projected,
                                                   .layers = layers};
    return 0;
}

int cudnnSetRNNDataDescriptor(void *data, int type, int layout, int longest, int batch, int vector,
                              const int *lengths, void *padding) {
    struct numb_handle *known = numb_handle(data);
    (void)type, (void)layout, (void)lengths, (void)padding;
    if (known == NULL)
        return CUDNN_BAD_PARAM;
    *(struct sequence *)numb_more(known) =
        (struct sequence){.longest = longest, .batch = batch, .vector = vector};
    return 0;
}

/* ---- the shape of the weights ---- */

static int gates_of(const struct rnn *rnn) {
    return rnn->cell == CELL_LSTM ? 4 : rnn->cell == CELL_GRU ? 3 : 1;
}

static int directions_of(const struct rnn *rnn) {
    return rnn->bidirectional ? 2 : 1;
}

static int outputs_of(const struct rnn *rnn) {
    return rnn->projected != 0 && rnn->projected != rnn->hidden ? rnn->projected : rnn->hidden;
}

/* The matrices of a layer and direction: a gate's input, a gate's recurrence, then the projection. */
static int matrices_of(const struct rnn *rnn) {
    return 2 * gates_of(rnn) + (outputs_of(rnn) != rnn->hidden);
}

static void shape_of(const struct rnn *rnn, int layer, int number, int *rows, int *columns) {
    int gates = gates_of(rnn);
    *rows = rnn->hidden;
    *columns = outputs_of(rnn);
    if (number >= 2 * gates) {
        *rows = outputs_of(rnn);
        *columns = rnn->hidden;
    } else if (number < gates) {
        bool first = layer < directions_of(rnn);
        *columns = first ? rnn->input : outputs_of(rnn) * directions_of(rnn);
        if (first && rnn->input_mode == SKIP_INPUT)
            *rows = *columns = 0;
    }
}

/* Elements before a matrix; `layer` after the last: all of them. */
static size_t before_matrix(const struct rnn *rnn, int layer, int number) {
    size_t sum = 0;
    int rows, columns;
    for (int l = 0; l <= layer; l++)
        for (int n = 0; n < matrices_of(rnn) && (l < layer || n < number); n++) {
            shape_of(rnn, l, n, &rows, &columns);
            sum += (size_t)rows * (size_t)columns;
        }
    return sum;
}

/* The biases of a layer and direction: two sets, or only one of them. */
static int biases_of(const struct rnn *rnn) {
    return rnn->bias == NO_BIAS ? 0 : 2 * gates_of(rnn);
}

int cudnnGetRNNWeightSpaceSize(void *handle, void *rnn, size_t *bytes) {
    struct numb_handle *known = numb_handle(rnn);
    (void)handle;
    if (known == NULL)
        return CUDNN_BAD_PARAM;
    const struct rnn *shape = numb_more(known);
    int layers = shape->layers * directions_of(shape);
    *bytes = numb_cudnn_size(shape->type) *
             (before_matrix(shape, layers, 0) +
              (size_t)layers * (size_t)biases_of(shape) * (size_t)shape->hidden);
    return 0;
}

/* A training pass keeps every gate of every step; the workspace holds one layer's. */
int cudnnGetRNNTempSpaceSizes(void *handle, void *rnn, int mode, void *data, size_t *workspace,
                              size_t *reserve) {
    struct numb_handle *known = numb_handle(rnn), *sequence = numb_handle(data);
    (void)handle;
    if (known == NULL || sequence == NULL)
        return CUDNN_BAD_PARAM;
    const struct rnn *shape = numb_more(known);
    const struct sequence *steps = numb_more(sequence);
    size_t layer = (size_t)steps->longest * (size_t)steps->batch * (size_t)shape->hidden *
                   (size_t)gates_of(shape) * numb_cudnn_size(shape->type);
    if (workspace != NULL)
        *workspace = layer;
    if (reserve != NULL)
        *reserve = mode == 0 ? 0 : layer * (size_t)(shape->layers * directions_of(shape));
    return 0;
}

static void tell(void *tensor, void **address, const struct rnn *shape, int rows, int columns,
                 const char *at) {
    if (tensor != NULL && at != NULL)
        cudnnSetTensorNdDescriptor(tensor, shape->type, 3, (int[]){1, rows, columns}, NULL);
    if (address != NULL)
        *address = (void *)(uintptr_t)at;
}

int cudnnGetRNNWeightParams(void *handle, void *rnn, int32_t layer, size_t bytes,
                            const void *weights, int32_t number, void *matrix,
                            void **matrix_address, void *bias, void **bias_address) {
    struct numb_handle *known = numb_handle(rnn);
    int rows, columns;
    (void)handle, (void)bytes;
    if (known == NULL)
        return CUDNN_BAD_PARAM;
    const struct rnn *shape = numb_more(known);
    size_t size = numb_cudnn_size(shape->type);
    const char *at = NULL, *bias_at = NULL;
    shape_of(shape, layer, number, &rows, &columns);
    if (number < matrices_of(shape)) /* else: a projection that is not there */
        at = (const char *)weights + before_matrix(shape, layer, number) * size;
    if (number < biases_of(shape)) {
        size_t biases = (size_t)layer * (size_t)biases_of(shape) + (size_t)number;
        size_t matrices = before_matrix(shape, shape->layers * directions_of(shape), 0);
        bias_at = (const char *)weights + (matrices + biases * (size_t)shape->hidden) * size;
    }
    tell(matrix, matrix_address, shape, rows, columns, at);
    tell(bias, bias_address, shape, shape->hidden, 1, bias_at);
    return 0;
}
