/* SPDX-License-Identifier: MIT */
/*
 * libcublas: what its functions do beyond answering success (see numb.h).
 */
#include "numb.h"

enum { NOT_INITIALIZED = 1, ALLOC_FAILED = 3, POINTER_MODE = 0, MATH_MODE, ATOMICS_MODE };
enum { LIBRARY_VERSION = NUMB_MAJOR == 12 ? 120903 : 130401 };

NUMB_API int cublasCreate_v2(void **out);
NUMB_API int cublasSetStream_v2(void *handle, void *stream);
NUMB_API int cublasGetStream_v2(void *handle, void **stream);
NUMB_API int cublasSetPointerMode_v2(void *handle, int mode);
NUMB_API int cublasGetPointerMode_v2(void *handle, int *mode);
NUMB_API int cublasSetMathMode(void *handle, int mode);
NUMB_API int cublasGetMathMode(void *handle, int *mode);
NUMB_API int cublasSetAtomicsMode(void *handle, int mode);
NUMB_API int cublasGetAtomicsMode(void *handle, int *mode);
NUMB_API int cublasGetVersion_v2(void *handle, int *version);
NUMB_API int cublasGetProperty(int which, int *value);
NUMB_API size_t cublasGetCudartVersion(void);

/* What a tracer saw the real one allocate: its own data, and the workspace that it uses until it is
 * given one. */
int cublasCreate_v2(void **out) {
    static const size_t sizes[] = {1024, 128 << 10, 8 << 20};
    struct numb_handle *handle = numb_new(0);
    *out = NULL;
    for (int i = 0; handle != NULL && i < 3; i++)
        if (!numb_allocate(handle, i, sizes[i])) {
            numb_end(handle);
            return numb_device() < 0 ? NOT_INITIALIZED : ALLOC_FAILED;
        }
    *out = handle;
    return handle != NULL ? 0 : ALLOC_FAILED;
}

int cublasSetStream_v2(void *handle, void *stream) {
    struct numb_handle *known = numb_handle(handle);
    if (known == NULL)
        return NOT_INITIALIZED;
    known->stream = stream;
    return 0;
}

int cublasGetStream_v2(void *handle, void **stream) {
    struct numb_handle *known = numb_handle(handle);
    if (known == NULL)
        return NOT_INITIALIZED;
    *stream = known->stream;
    return 0;
}

static int set(void *handle, int which, int mode) {
    struct numb_handle *known = numb_handle(handle);
    if (known == NULL)
        return NOT_INITIALIZED;
    known->mode[which] = mode;
    return 0;
}

static int get(void *handle, int which, int *mode) {
    struct numb_handle *known = numb_handle(handle);
    if (known == NULL)
        return NOT_INITIALIZED;
    *mode = known->mode[which];
    return 0;
}

int cublasSetPointerMode_v2(void *handle, int mode) {
    return set(handle, POINTER_MODE, mode);
}

int cublasGetPointerMode_v2(void *handle, int *mode) {
    return get(handle, POINTER_MODE, mode);
}

int cublasSetMathMode(void *handle, int mode) {
    return set(handle, MATH_MODE, mode);
}

int cublasGetMathMode(void *handle, int *mode) {
    return get(handle, MATH_MODE, mode);
}

int cublasSetAtomicsMode(void *handle, int mode) {
    return set(handle, ATOMICS_MODE, mode);
}

int cublasGetAtomicsMode(void *handle, int *mode) {
    return get(handle, ATOMICS_MODE, mode);
}

int cublasGetVersion_v2(void *handle, int *version) {
    (void)handle;
    *version = LIBRARY_VERSION;
    return 0;
}

int cublasGetProperty(int which, int *value) {
    const int parts[] = {LIBRARY_VERSION / 10000, LIBRARY_VERSION / 100 % 100,
                         LIBRARY_VERSION % 100};
    *value = which >= 0 && which < 3 ? parts[which] : 0;
    return 0;
}

size_t cublasGetCudartVersion(void) {
    return NUMB_MAJOR * 1000;
}
