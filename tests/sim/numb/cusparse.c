/* SPDX-License-Identifier: MIT */
/*
 * libcusparse: a handle, and what it reads back (see numb.h).
 */
#include "numb.h"

enum { NOT_INITIALIZED = 1, ALLOC_FAILED = 2, POINTER_MODE = 0, HANDLE_BYTES = 64 << 10 };

NUMB_API int cusparseCreate(void **out);
NUMB_API int cusparseSetStream(void *handle, void *stream);
NUMB_API int cusparseGetStream(void *handle, void **stream);
NUMB_API int cusparseSetPointerMode(void *handle, int mode);
NUMB_API int cusparseGetPointerMode(void *handle, int *mode);
NUMB_API int cusparseGetVersion(void *handle, int *version);

int cusparseCreate(void **out) {
    struct numb_handle *handle = numb_new(0);
    *out = NULL;
    if (handle == NULL || !numb_allocate(handle, 0, HANDLE_BYTES)) {
        numb_end(handle);
        return ALLOC_FAILED;
    }
    *out = handle;
    return 0;
}

int cusparseSetStream(void *handle, void *stream) {
    struct numb_handle *known = numb_handle(handle);
    if (known == NULL)
        return NOT_INITIALIZED;
    known->stream = stream;
    return 0;
}

int cusparseGetStream(void *handle, void **stream) {
    struct numb_handle *known = numb_handle(handle);
    if (known == NULL)
        return NOT_INITIALIZED;
    *stream = known->stream;
    return 0;
}

int cusparseSetPointerMode(void *handle, int mode) {
    struct numb_handle *known = numb_handle(handle);
    if (known == NULL)
        return NOT_INITIALIZED;
    known->mode[POINTER_MODE] = mode;
    return 0;
}

int cusparseGetPointerMode(void *handle, int *mode) {
    struct numb_handle *known = numb_handle(handle);
    if (known == NULL)
        return NOT_INITIALIZED;
    *mode = known->mode[POINTER_MODE];
    return 0;
}

int cusparseGetVersion(void *handle, int *version) {
    (void)handle;
    *version = 12710;
    return 0;
}
