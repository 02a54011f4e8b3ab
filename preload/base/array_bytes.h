/* SPDX-License-Identifier: MIT */
/*
 * The size of a CUDA array, computed from its description alone: width x height x depth (or layers) x bytes per
 * element, summed over the mip levels. The driver may round up to its tiles, which we ignore. Used by wrap_array.c and
 * the tests.
 */
#ifndef VT_PRELOAD_ARRAY_BYTES_H
#define VT_PRELOAD_ARRAY_BYTES_H

#include "vramtrace/cuda_abi.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes. `levels` is 1 without a mip chain. Returns 0 for arrays that have no memory of their own yet (sparse,
 * deferred) and for unknown formats. */
uint64_t vt_array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *description, unsigned levels);

#endif
