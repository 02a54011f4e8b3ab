/* SPDX-License-Identifier: MIT */
/*
 * Weak definitions of all functions in driver_symbols.def. Definitions in the other files replace
 * them at link time. The rest return CUDA_ERROR_NOT_SUPPORTED, and log that once.
 */
#include "driver.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"

#define SIM_SYMBOL(symbol, base, since, stream)                                                    \
    __attribute__((weak)) CUresult symbol(void) {                                                  \
        static bool logged;                                                                        \
        if (!__atomic_exchange_n(&logged, true, __ATOMIC_RELAXED))                                 \
            sim_log("unsupported: %s\n", #symbol);                                                 \
        return CUDA_ERROR_NOT_SUPPORTED;                                                           \
    }
#include "tests/sim/driver_symbols.def"
#undef SIM_SYMBOL

#pragma GCC diagnostic pop
