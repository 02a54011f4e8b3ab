/* SPDX-License-Identifier: MIT */
/*
 * libcublasLt: what its functions do beyond answering success (see numb.h).
 */
#include "numb.h"

#include <string.h>

enum { NOT_INITIALIZED = 1, INVALID_VALUE = 7 };

/* As a program sees a heuristic's answer. */
struct heuristic {
    uint64_t algorithm[8];
    size_t workspace;
    int status;
    float waves;
    int reserved[4];
};

NUMB_API int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a, void *b,
                                            void *c, void *d, void *preference, int room,
                                            struct heuristic *results, int *count);
NUMB_API int cublasLtMatmulAlgoGetIds(void *handle, int compute, int scale, int a, int b, int c,
                                      int d, int room, int *ids, int *count);
NUMB_API size_t cublasLtGetVersion(void);
NUMB_API size_t cublasLtGetCudartVersion(void);

/* One algorithm, which needs no workspace, does everything. */
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a, void *b, void *c,
                                   void *d, void *preference, int room, struct heuristic *results,
                                   int *count) {
    (void)operation, (void)a, (void)b, (void)c, (void)d, (void)preference;
    *count = 0;
    if (numb_handle(handle) == NULL)
        return NOT_INITIALIZED;
    if (room < 1)
        return INVALID_VALUE;
    memset(results, 0, sizeof *results);
    results->waves = 1;
    *count = 1;
    return 0;
}

int cublasLtMatmulAlgoGetIds(void *handle, int compute, int scale, int a, int b, int c, int d,
                             int room, int *ids, int *count) {
    (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
    if (numb_handle(handle) == NULL)
        return NOT_INITIALIZED;
    if (room > 0)
        *ids = 0;
    *count = 1;
    return 0;
}

size_t cublasLtGetVersion(void) {
    return NUMB_MAJOR == 12 ? 120903 : 130401;
}

size_t cublasLtGetCudartVersion(void) {
    return NUMB_MAJOR * 1000;
}
