/* SPDX-License-Identifier: MIT */
/*
 * An answer for every symbol of the driver that nobody implements here: weak definitions of all of
 * driver_symbols.def, which the real ones in the other files replace at link time. A program that
 * calls one gets CUDA_ERROR_NOT_SUPPORTED, and the log says so once.
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
