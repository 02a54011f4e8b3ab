/* SPDX-License-Identifier: MIT */
/*
 * libcusolver: handles, and what they read back (see numb.h).
 */
#include "numb.h"

enum { NOT_INITIALIZED = 1, ALLOC_FAILED = 2, HANDLE_BYTES = 128 << 10 };

NUMB_API int cusolverDnCreate(void **out);
NUMB_API int cusolverSpCreate(void **out);
NUMB_API int cusolverDnSetStream(void *handle, void *stream);
NUMB_API int cusolverDnGetStream(void *handle, void **stream);
NUMB_API int cusolverGetVersion(int *version);

static int create(void **out) {
    struct numb_handle *handle = numb_new(0);
    *out = NULL;
    if (handle == NULL || !numb_allocate(handle, 0, HANDLE_BYTES)) {
        numb_end(handle);
        return ALLOC_FAILED;
    }
    *out = handle;
    return 0;
}

int cusolverDnCreate(void **out) {
    return create(out);
}

int cusolverSpCreate(void **out) {
    return create(out);
}

int cusolverDnSetStream(void *handle, void *stream) {
    struct numb_handle *known = numb_handle(handle);
    if (known == NULL)
        return NOT_INITIALIZED;
    known->stream = stream;
    return 0;
}

int cusolverDnGetStream(void *handle, void **stream) {
    struct numb_handle *known = numb_handle(handle);
    if (known == NULL)
        return NOT_INITIALIZED;
    *stream = known->stream;
    return 0;
}

int cusolverGetVersion(int *version) {
    *version = NUMB_MAJOR == 12 ? 11705 : 12200;
    return 0;
}
