/* SPDX-License-Identifier: MIT */
/*
 * Makes each free of a CUDA program switchable. Put in front of every source file (`-include`), by tests/mutants/nvcc
 * or tests/mutants/run; the program itself is not edited.
 *
 *   MUTANT_SKIP=FILE:LINE:N   that call frees nothing and answers success: one mutant
 *   MUTANT_FREES=PATH         at the end: each free that was called, a line each, as MUTANT_SKIP takes it
 *   MUTANT_LIVE=PATH          at the end: what was never freed, a line each: FILE:LINE BYTES of the allocation
 *
 * So the truth about a mutant comes from the program's own source lines, not from the tracer. N tells calls on one
 * line apart: the preprocessor's counter. MUTANT_THRUST: the program uses Thrust; its headers come first, so that their
 * own calls are left alone.
 */
#ifndef MUTANT_H
#define MUTANT_H

#ifndef VT_TESTS_CUDA_CASE_H /* which declares the driver by itself */
#if __has_include(<cuda.h>)
#include <cuda.h>
#endif
#if defined(__cplusplus) && __has_include(<cuda_runtime.h>)
#include <cuda_runtime.h>
#elif __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#endif
#endif
#if defined(MUTANT_THRUST) && defined(__CUDACC__)
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/sort.h>
#endif

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#define MUTANT_C     extern "C"
#define MUTANT_AUTO  auto
#define MUTANT_OF(p) decltype(p)
#else
#define MUTANT_C     extern
#define MUTANT_AUTO  __auto_type
#define MUTANT_OF(p) __typeof__(p)
#endif
/* One definition for all of the program's files, whichever of them is linked first. */
#define MUTANT_ONE MUTANT_C __attribute__((weak, visibility("default")))

struct mutant_block {
    unsigned long long address, bytes;
    const char *file;
    int line;
    int node; /* by an allocation node of a graph: counts only once `lost` */
    int lost; /* a free of it was switched off */
};

struct mutant_books {
    pthread_mutex_t lock;
    struct mutant_block *blocks;
    size_t n_blocks, room;
    char (*frees)[256];
    size_t n_frees;
    int written;
};

MUTANT_ONE struct mutant_books *mutant_books(void) {
    static struct mutant_books books = {PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, 0, 0, 0};
    return &books;
}

MUTANT_ONE void mutant_write(void) {
    struct mutant_books *b = mutant_books();
    const char *frees = getenv("MUTANT_FREES"), *live = getenv("MUTANT_LIVE");
    if (b->written++)
        return;
    FILE *out = frees ? fopen(frees, "a") : 0;
    for (size_t i = 0; out && i < b->n_frees; i++)
        fprintf(out, "%s\n", b->frees[i]);
    if (out)
        fclose(out);
    out = live ? fopen(live, "a") : 0;
    for (size_t i = 0; out && i < b->n_blocks; i++)
        if (!b->blocks[i].node || b->blocks[i].lost)
            fprintf(out, "%s:%d %llu\n", b->blocks[i].file, b->blocks[i].line, b->blocks[i].bytes);
    if (out)
        fclose(out);
}

/* After the handlers of atexit and the destructors of C++, which may still free. */
__attribute__((destructor)) static void mutant_end(void) {
    mutant_write();
}

MUTANT_ONE const char *mutant_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

MUTANT_ONE void mutant_alloc(unsigned long long address, unsigned long long bytes, const char *file,
                             int line, int node) {
    struct mutant_books *b = mutant_books();
    if (!address || !bytes)
        return;
    pthread_mutex_lock(&b->lock);
    if (b->n_blocks == b->room) {
        b->room = b->room ? 2 * b->room : 1024;
        b->blocks = (struct mutant_block *)realloc(b->blocks, b->room * sizeof *b->blocks);
    }
    struct mutant_block *block = &b->blocks[b->n_blocks++];
    block->address = address;
    block->bytes = bytes;
    block->file = mutant_name(file);
    block->line = line;
    block->node = node;
    block->lost = 0;
    pthread_mutex_unlock(&b->lock);
}

/* Whether this call is the one that is switched off; else the block is gone. */
MUTANT_ONE int mutant_free(unsigned long long address, const char *file, int line, int n) {
    struct mutant_books *b = mutant_books();
    char name[256];
    const char *skip = getenv("MUTANT_SKIP");
    snprintf(name, sizeof name, "%s:%d:%d", mutant_name(file), line, n);
    int off = skip && strcmp(skip, name) == 0;
    pthread_mutex_lock(&b->lock);
    size_t i = 0;
    while (i < b->n_frees && strcmp(b->frees[i], name) != 0)
        i++;
    if (address && i == b->n_frees && !off) {
        b->frees = (char(*)[256])realloc(b->frees, (i + 1) * sizeof *b->frees);
        memcpy(b->frees[b->n_frees++], name, sizeof name);
    }
    for (i = b->n_blocks; i-- > 0;)
        if (b->blocks[i].address == address) {
            if (b->blocks[i].node)
                b->blocks[i].lost = off;
            else if (!off)
                b->blocks[i] = b->blocks[--b->n_blocks];
            break;
        }
    pthread_mutex_unlock(&b->lock);
    return off;
}

/* The call itself stands in the caller's own frame, so the caller's line is what a tracer sees. */
#define MUTANT_ALLOC(bytes, call, where)                                                           \
    __extension__({                                                                                \
        MUTANT_AUTO mutant_p = where;                                                              \
        MUTANT_AUTO mutant_r = call;                                                               \
        if ((int)mutant_r == 0)                                                                    \
            mutant_alloc((unsigned long long)*mutant_p, bytes, __FILE__, __LINE__, 0);             \
        mutant_r;                                                                                  \
    })
#define MUTANT_FREE(f, result, p, ...)                                                             \
    __extension__({                                                                                \
        MUTANT_AUTO mutant_p = p;                                                                  \
        mutant_free((unsigned long long)mutant_p, __FILE__, __LINE__, __COUNTER__)                 \
            ? (result)0                                                                            \
            : f(mutant_p __VA_OPT__(, ) __VA_ARGS__);                                              \
    })

#ifndef __CUDA_ARCH__
#ifdef __DRIVER_TYPES_H__
#define cudaMalloc(p, n) MUTANT_ALLOC(n, cudaMalloc(mutant_p, n), p)
#define cudaMallocManaged(p, n, ...)                                                               \
    MUTANT_ALLOC(n, cudaMallocManaged(mutant_p, n __VA_OPT__(, ) __VA_ARGS__), p)
#define cudaMallocHost(p, n, ...)                                                                  \
    MUTANT_ALLOC(n, cudaMallocHost(mutant_p, n __VA_OPT__(, ) __VA_ARGS__), p)
#define cudaHostAlloc(p, n, ...)                                                                   \
    MUTANT_ALLOC(n, cudaHostAlloc(mutant_p, n __VA_OPT__(, ) __VA_ARGS__), p)
#define cudaMallocAsync(p, n, ...)                                                                 \
    MUTANT_ALLOC(n, cudaMallocAsync(mutant_p, n __VA_OPT__(, ) __VA_ARGS__), p)
#define cudaMallocPitch(p, pitch, w, h)                                                            \
    MUTANT_ALLOC((w) * (h), cudaMallocPitch(mutant_p, pitch, w, h), p)
#define cudaMallocArray(p, ...)   MUTANT_ALLOC(1, cudaMallocArray(mutant_p, __VA_ARGS__), p)
#define cudaMalloc3DArray(p, ...) MUTANT_ALLOC(1, cudaMalloc3DArray(mutant_p, __VA_ARGS__), p)
#define cudaMallocMipmappedArray(p, ...)                                                           \
    MUTANT_ALLOC(1, cudaMallocMipmappedArray(mutant_p, __VA_ARGS__), p)
#define cudaGraphAddMemAllocNode(node, graph, after, n, params)                                    \
    __extension__({                                                                                \
        struct cudaMemAllocNodeParams *mutant_q = params;                                          \
        cudaError_t mutant_r = cudaGraphAddMemAllocNode(node, graph, after, n, mutant_q);          \
        if (mutant_r == cudaSuccess)                                                               \
            mutant_alloc((unsigned long long)mutant_q->dptr, mutant_q->bytesize, __FILE__,         \
                         __LINE__, 1);                                                             \
        mutant_r;                                                                                  \
    })
#define cudaFree(p)               MUTANT_FREE(cudaFree, cudaError_t, p)
#define cudaFreeHost(p)           MUTANT_FREE(cudaFreeHost, cudaError_t, p)
#define cudaFreeAsync(p, s)       MUTANT_FREE(cudaFreeAsync, cudaError_t, p, s)
#define cudaFreeArray(p)          MUTANT_FREE(cudaFreeArray, cudaError_t, p)
#define cudaFreeMipmappedArray(p) MUTANT_FREE(cudaFreeMipmappedArray, cudaError_t, p)
#endif
/* The driver's names without a version are macros for these. */
#if defined(__cuda_cuda_h__) || defined(CUDA_VERSION) || defined(VT_TESTS_CUDA_CASE_H)
#define cuMemAlloc_v2(p, n) MUTANT_ALLOC(n, cuMemAlloc_v2(mutant_p, n), p)
#define cuMemAllocPitch_v2(p, pitch, w, h, e)                                                      \
    MUTANT_ALLOC((w) * (h), cuMemAllocPitch_v2(mutant_p, pitch, w, h, e), p)
#define cuMemAllocManaged(p, n, flags) MUTANT_ALLOC(n, cuMemAllocManaged(mutant_p, n, flags), p)
#define cuMemAllocAsync(p, n, s)       MUTANT_ALLOC(n, cuMemAllocAsync(mutant_p, n, s), p)
#define cuMemAllocHost_v2(p, n)        MUTANT_ALLOC(n, cuMemAllocHost_v2(mutant_p, n), p)
#define cuMemHostAlloc(p, n, flags)    MUTANT_ALLOC(n, cuMemHostAlloc(mutant_p, n, flags), p)
#define cuArrayCreate_v2(p, ...)       MUTANT_ALLOC(1, cuArrayCreate_v2(mutant_p, __VA_ARGS__), p)
#define cuArray3DCreate_v2(p, ...)     MUTANT_ALLOC(1, cuArray3DCreate_v2(mutant_p, __VA_ARGS__), p)
#define cuMemFree_v2(p)                MUTANT_FREE(cuMemFree_v2, CUresult, p)
#define cuMemFreeAsync(p, s)           MUTANT_FREE(cuMemFreeAsync, CUresult, p, s)
#define cuMemFreeHost(p)               MUTANT_FREE(cuMemFreeHost, CUresult, p)
#define cuArrayDestroy(p)              MUTANT_FREE(cuArrayDestroy, CUresult, p)
#endif
#endif
#endif
