/* SPDX-License-Identifier: MIT */
/*
 * Weak definitions of all functions of this version in runtime_symbols.def. Definitions in the
 * other files replace them at link time. The rest return cudaErrorNotSupported, set it as the last
 * error, and log it once in VRAMTRACE_SIM_LOG.
 */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cudaError_t unsupported(const char *name, bool *logged) {
    const char *path = getenv("VRAMTRACE_SIM_LOG");
    if (!__atomic_exchange_n(logged, true, __ATOMIC_RELAXED) && path != NULL && *path != '\0') {
        FILE *file = strcmp(path, "stderr") == 0 ? stderr : fopen(path, "ae");
        if (file != NULL)
            fprintf(file, "unsupported: %s\n", name);
        if (file != NULL && file != stderr)
            fclose(file);
    }
    return rt_fail(cudaErrorNotSupported);
}

#define STAND_IN(symbol)                                                                           \
    __attribute__((weak)) cudaError_t symbol(void) {                                               \
        static bool logged;                                                                        \
        return unsupported(#symbol, &logged);                                                      \
    }
#define NOT_HERE(symbol)

#define SIM_RUNTIME_BOTH(symbol) STAND_IN(symbol)
#if SIM_CUDART == 12
#define SIM_RUNTIME_12(symbol) STAND_IN(symbol)
#define SIM_RUNTIME_13(symbol) NOT_HERE(symbol)
#else
#define SIM_RUNTIME_12(symbol) NOT_HERE(symbol)
#define SIM_RUNTIME_13(symbol) STAND_IN(symbol)
#endif
#include "tests/sim/runtime_symbols.def"
#undef SIM_RUNTIME_BOTH
#undef SIM_RUNTIME_12
#undef SIM_RUNTIME_13
