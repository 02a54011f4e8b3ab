/* SPDX-License-Identifier: MIT */
/*
 * The fourth way to the driver's functions: the runtime returns them. Like every runtime wrapper, each of these only
 * labels the call (wrap_runtime.c explains this, and the compilation once per major version). It then replaces the
 * function that the runtime found with our wrapper.
 */
#include "substitute.h"
#include "interpose/wrap.h"

static cudaError_t found(const struct vt_label *label, cudaError_t result, const char *symbol,
                         void **funcPtr, int version, unsigned long long flags) {
    vt_event_label_end(label);
    if (result == cudaSuccess && symbol && funcPtr && *funcPtr)
        *funcPtr = vt_substitute_driver(*funcPtr, symbol, version, flags);
    return result;
}

WRAPPER(cudaGetDriverEntryPoint)
(const char *symbol, void **funcPtr, unsigned long long flags,
 enum cudaDriverEntryPointQueryResult *driverStatus) {
    ENTER(cudaGetDriverEntryPoint);
    cudaError_t result = real(symbol, funcPtr, flags, driverStatus);
    return found(&label, result, symbol, funcPtr, VT_CUDART * 1000, flags);
}

WRAPPER(cudaGetDriverEntryPoint_ptsz)
(const char *symbol, void **funcPtr, unsigned long long flags,
 enum cudaDriverEntryPointQueryResult *driverStatus) {
    ENTER(cudaGetDriverEntryPoint_ptsz);
    cudaError_t result = real(symbol, funcPtr, flags, driverStatus);
    return found(&label, result, symbol, funcPtr, VT_CUDART * 1000, flags ? flags : 2);
}

WRAPPER(cudaGetDriverEntryPointByVersion)
(const char *symbol, void **funcPtr, unsigned int cudaVersion, unsigned long long flags,
 enum cudaDriverEntryPointQueryResult *driverStatus) {
    ENTER(cudaGetDriverEntryPointByVersion);
    cudaError_t result = real(symbol, funcPtr, cudaVersion, flags, driverStatus);
    return found(&label, result, symbol, funcPtr, (int)cudaVersion, flags);
}

WRAPPER(cudaGetDriverEntryPointByVersion_ptsz)
(const char *symbol, void **funcPtr, unsigned int cudaVersion, unsigned long long flags,
 enum cudaDriverEntryPointQueryResult *driverStatus) {
    ENTER(cudaGetDriverEntryPointByVersion_ptsz);
    cudaError_t result = real(symbol, funcPtr, cudaVersion, flags, driverStatus);
    return found(&label, result, symbol, funcPtr, (int)cudaVersion, flags ? flags : 2);
}
