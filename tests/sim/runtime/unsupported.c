/* SPDX-License-Identifier: MIT */
/*
 * An answer for every symbol of the runtime that nobody implements here: weak definitions of all
 * of runtime_symbols.def for this version, which the real ones replace at link time. A program
 * that calls one gets cudaErrorNotSupported, as its last error too, and VRAMTRACE_SIM_LOG says so
 * once.
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
