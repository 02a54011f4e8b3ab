/* SPDX-License-Identifier: MIT */
/*
 * What the wrappers know of CUDA's binary interface: types and constants, no functions. Prototypes
 * stand in hooks.def and in the simulated GPU's own sources. What only the simulated GPU and the
 * tests name is declared in tests/sim/cuda_abi_sim.h, in the same way.
 *
 * Default: our own declarations (no CUDA header is needed to build anything here). With
 * -DVT_USE_CUDA_HEADERS: the real <cuda.h> and <cuda_runtime_api.h>, every symbol variant visible
 * and none renamed. Both give the same layouts; tests/sim/check_abi.py checks it.
 */
#ifndef VRAMTRACE_CUDA_ABI_H
#define VRAMTRACE_CUDA_ABI_H

#include <stddef.h>

#ifdef VT_USE_CUDA_HEADERS

/* Shows cuMemAlloc beside cuMemAlloc_v2 and cuMemAllocAsync beside cuMemAllocAsync_ptsz, and leaves
 * no macro that renames one to the other. */
#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>
#include <cuda_runtime_api.h>
/* The headers leave these three defined as themselves: harmless, but they would break X-macros. */
#undef cuDeviceGetUuid_v2
#undef cuCtxCreate_v3
#undef cuCtxCreate_v4

#else

#include "cuda_abi_driver.h"
#include "cuda_abi_runtime.h"

#endif

#endif /* VRAMTRACE_CUDA_ABI_H */
