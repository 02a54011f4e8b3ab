/* SPDX-License-Identifier: MIT */
/*
 * Both variants of cuGetProcAddress. They return the newest variant of a function in the requested
 * version, the per-thread one if it is requested and exists, by driver_symbols.def. Addresses are
 * always in this library, even if another one interposes.
 */
#include "driver.h"
#include "symbols.h"

#include <string.h>

static const struct sim_symbol *find(const char *name, int version, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult *status) {
    const struct sim_symbol *best = NULL;
    bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    for (size_t i = 0; i < sim_symbol_count; i++) {
        const struct sim_symbol *row = &sim_symbols[i];
        if (strcmp(row->base, name) != 0)
            continue;
        if (row->since > version) {
            if (best == NULL)
                *status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
            continue;
        }
        if (row->stream == SIM_STREAM_PER_THREAD && !per_thread)
            continue;
        bool preferred = row->stream == SIM_STREAM_PER_THREAD;
        bool best_preferred = best != NULL && best->stream == SIM_STREAM_PER_THREAD;
        if (best == NULL || preferred > best_preferred ||
            (preferred == best_preferred && row->since > best->since))
            best = row;
    }
    if (best != NULL)
        *status = CU_GET_PROC_ADDRESS_SUCCESS;
    return best;
}

/* A missing name is not an error: the result is a null pointer, and the status has the reason. */
static CUresult get(const char *name, void **out, int version, cuuint64_t flags,
                    CUdriverProcAddressQueryResult *status) {
    CUdriverProcAddressQueryResult ignored;
    if (name == NULL || out == NULL || version > SIM_DRIVER_VERSION || version < 0 || flags > 2)
        return CUDA_ERROR_INVALID_VALUE;
    const struct sim_symbol *row = find(name, version, flags, status != NULL ? status : &ignored);
    *out = row != NULL ? (void *)(uintptr_t)row->function : NULL;
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *name, void **out, int version, cuuint64_t flags) {
    return get(name, out, version, flags, NULL);
}

CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status) {
    return get(name, out, version, flags, status);
}

/* The driver's private tables, by which NVIDIA's own libraries also make sure that it is NVIDIA's.
 * It is not, and does not pretend to be: the library that asks will not run on it, and `vramtrace run`
 * is told so. */
CUresult cuGetExportTable(const void **table, const CUuuid *id) {
    (void)id;
    sim_share_refuse(__builtin_return_address(0));
    if (table == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND;
}
