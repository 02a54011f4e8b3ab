/* SPDX-License-Identifier: MIT */
/*
 * The table of the simulated driver's exported symbols, generated from driver_symbols.def. It needs
 * only addresses, so the functions are declared without their prototypes.
 */
#include "symbols.h"

#define SIM_SYMBOL(symbol, base, since, stream) extern const char symbol[];
#include "tests/sim/driver_symbols.def"
#undef SIM_SYMBOL

const struct sim_symbol sim_symbols[] = {
#define SIM_SYMBOL(symbol, base, since, stream) {#base, symbol, since, SIM_STREAM_##stream},
#include "tests/sim/driver_symbols.def"
#undef SIM_SYMBOL
};

const size_t sim_symbol_count = sizeof sim_symbols / sizeof *sim_symbols;
