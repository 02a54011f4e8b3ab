/* SPDX-License-Identifier: MIT */
/*
 * Kernel launches of the simulated driver: arguments are checked, but no kernel runs. Also
 * occupancy, and texture and surface objects, which programs need before a launch.
 */
#include "graph.h"

#include <string.h>

static CUresult launch(const void *function, const unsigned *grid, const unsigned *block,
                       CUstream handle) {
    SIM_ENTER_CONTEXT(context);
    struct sim_stream *stream = sim_stream_get(handle, context);
    if (stream == NULL || sim_object_get(function, SIM_OBJECT_FUNCTION) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    for (int i = 0; i < 3; i++) {
        if (grid[i] == 0 || block[i] == 0 || block[i] > 1024)
            return CUDA_ERROR_INVALID_VALUE;
    }
    sim_steps_launched();
    if ((uint64_t)block[0] * block[1] * block[2] > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    return stream->capture != NULL ? sim_graph_capture_kernel(stream) : CUDA_SUCCESS;
}

static CUresult cuLaunchKernel_on(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                  unsigned by, unsigned bz, unsigned shared, CUstream s,
                                  void **params, void **extra) {
    (void)shared;
    (void)params;
    (void)extra;
    return launch(f, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, s);
}

static CUresult cuLaunchCooperativeKernel_on(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                             unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                             CUstream s, void **params) {
    (void)shared;
    (void)params;
    return launch(f, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, s);
}

static CUresult cuLaunchKernelEx_on(const CUlaunchConfig *config, CUfunction f, void **params,
                                    void **extra, bool per_thread) {
    (void)params;
    (void)extra;
    if (config == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return launch(f, (unsigned[]){config->gridDimX, config->gridDimY, config->gridDimZ},
                  (unsigned[]){config->blockDimX, config->blockDimY, config->blockDimZ},
                  per_thread ? SIM_PT(config->hStream) : config->hStream);
}

#define LAUNCH_PARAMS                                                                              \
    CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,              \
        unsigned int by, unsigned int bz, unsigned int shared, CUstream s, void **params

SIM_TWINS(cuLaunchKernel, _ptsz, (LAUNCH_PARAMS, void **extra),
          (f, gx, gy, gz, bx, by, bz, shared, s, params, extra),
          (f, gx, gy, gz, bx, by, bz, shared, SIM_PT(s), params, extra))
SIM_TWINS(cuLaunchCooperativeKernel, _ptsz, (LAUNCH_PARAMS),
          (f, gx, gy, gz, bx, by, bz, shared, s, params),
          (f, gx, gy, gz, bx, by, bz, shared, SIM_PT(s), params))
SIM_TWINS(cuLaunchKernelEx, _ptsz,
          (const CUlaunchConfig *config, CUfunction f, void **params, void **extra),
          (config, f, params, extra, false), (config, f, params, extra, true))

/* ---- occupancy: as for a kernel that needs little ---- */

/* How many blocks of so many threads are resident at once on a multiprocessor of 64 warps. */
static int resident(int threads) {
    int warps = (threads + 31) / 32;
    return threads > 1024 ? 0 : 64 / warps < 32 ? 64 / warps : 32;
}

static CUresult blocks_per_sm(int *blocks, CUfunction function, int threads) {
    SIM_ENTER();
    if (sim_object_get(function, SIM_OBJECT_FUNCTION) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (blocks == NULL || threads <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    *blocks = resident(threads);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared) {
    (void)shared;
    return blocks_per_sm(blocks, function, threads);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
                                                              int threads, size_t shared,
                                                              unsigned int flags) {
    (void)shared;
    return flags > 1 ? CUDA_ERROR_INVALID_VALUE : blocks_per_sm(blocks, function, threads);
}

/* The largest block with which most threads are resident, and the grid that fills the device. */
static CUresult best_block(int *grid, int *block, CUfunction function, CUoccupancyB2DSize shared,
                           int limit) {
    SIM_ENTER_CONTEXT(context);
    (void)context;
    if (sim_object_get(function, SIM_OBJECT_FUNCTION) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (grid == NULL || block == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    int largest = limit > 0 && limit < 1024 ? limit : 1024, best = 0;
    for (int aligned = (largest + 31) / 32 * 32; aligned > 0; aligned -= 32) {
        int threads = aligned < largest ? aligned : largest;
        if (shared != NULL) { /* asked as a driver asks; shared memory limits nothing here */
            sim_unlock_for_callback();
            shared(threads);
            sim_relock();
        }
        if (threads * resident(threads) > best) {
            best = threads * resident(threads);
            *block = threads;
            *grid = resident(threads) * SIM_MULTIPROCESSORS;
        }
    }
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                          CUoccupancyB2DSize shared, size_t bytes, int limit) {
    (void)bytes;
    return best_block(grid, block, function, shared, limit);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
                                                   CUoccupancyB2DSize shared, size_t bytes,
                                                   int limit, unsigned int flags) {
    (void)bytes;
    return flags > 1 ? CUDA_ERROR_INVALID_VALUE : best_block(grid, block, function, shared, limit);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks,
                                                 int threads) {
    SIM_ENTER();
    if (sim_object_get(function, SIM_OBJECT_FUNCTION) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (bytes == NULL || blocks <= 0 || threads <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    *bytes = (size_t)(167936 / blocks) - 1024;
    return CUDA_SUCCESS;
}

/* ---- texture and surface objects: handles that remember what they were made of ---- */

struct sim_texture {
    struct sim_object object;
};

static CUresult new_texture(unsigned long long *out, const void *resource) {
    SIM_ENTER_CONTEXT(context);
    if (out == NULL || resource == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_texture *texture =
        sim_object_new(sizeof *texture, SIM_OBJECT_TEXTURE, context, NULL);
    if (texture == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = (uintptr_t)texture;
    return CUDA_SUCCESS;
}

static CUresult drop_texture(unsigned long long handle) {
    SIM_ENTER();
    void *texture = sim_object_get((const void *)(uintptr_t)handle, SIM_OBJECT_TEXTURE);
    if (texture == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_drop(texture);
    return CUDA_SUCCESS;
}

CUresult cuTexObjectCreate(CUtexObject *out, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *texture, const CUDA_RESOURCE_VIEW_DESC *view) {
    (void)texture;
    (void)view;
    return new_texture(out, resource);
}

CUresult cuSurfObjectCreate(CUsurfObject *out, const CUDA_RESOURCE_DESC *resource) {
    return new_texture(out, resource);
}

CUresult cuTexObjectDestroy(CUtexObject texture) {
    return drop_texture(texture);
}
CUresult cuSurfObjectDestroy(CUsurfObject surface) {
    return drop_texture(surface);
}

/* ---- the profiler's switch ---- */

CUresult cuProfilerStart(void) {
    SIM_ENTER_CONTEXT(context);
    (void)context;
    return CUDA_SUCCESS;
}

CUresult cuProfilerStop(void) {
    SIM_ENTER_CONTEXT(context);
    (void)context;
    return CUDA_SUCCESS;
}
