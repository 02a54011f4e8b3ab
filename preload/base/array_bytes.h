/* SPDX-License-Identifier: MIT */
/*
 * How many bytes an array holds, from its description alone: width x height x depth (or layers) x
 * bytes of an element, summed over the levels of a mip chain. The driver may round that up to its
 * tiles; it says so only when it is asked, and we do not ask. For wrap_array.c, and the tests.
 */
#ifndef VT_PRELOAD_ARRAY_BYTES_H
#define VT_PRELOAD_ARRAY_BYTES_H

#include "vramtrace/cuda_abi.h"

#include <stdbool.h>
#include <stdint.h>

/* `levels` 1: no chain. 0 for arrays that have no memory of their own yet (sparse, deferred) and
 * for formats that this version does not know. */
uint64_t vt_array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *description, unsigned levels);

#endif
