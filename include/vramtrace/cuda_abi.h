/* SPDX-License-Identifier: MIT */
/*
 * The part of CUDA's binary interface that the wrappers need: types and constants, no functions. The prototypes are in
 * hooks.def and in the simulated GPU's sources. Declarations for the simulated GPU and the tests alone are in
 * tests/sim/cuda_abi_sim.h.
 *
 * By default, these are our own declarations; no CUDA header is needed to build anything here. With
 * -DVT_USE_CUDA_HEADERS, the real <cuda.h> and <cuda_runtime_api.h> are used, with every symbol variant visible and
 * none renamed. tests/sim/check_abi.py checks that the layouts are the same.
 */
#ifndef VRAMTRACE_CUDA_ABI_H
#define VRAMTRACE_CUDA_ABI_H

#include <stddef.h>

#ifdef VT_USE_CUDA_HEADERS

/* Makes the headers declare both cuMemAlloc and cuMemAlloc_v2, both cuMemAllocAsync and cuMemAllocAsync_ptsz, with no
 * macro that renames one to the other. */
#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>
#include <cuda_runtime_api.h>
/* The headers define these three as themselves, which is harmless but would break X-macros. */
#undef cuDeviceGetUuid_v2
#undef cuCtxCreate_v3
#undef cuCtxCreate_v4

#else

#include "cuda_abi_driver.h"
#include "cuda_abi_runtime.h"

#endif

#endif
