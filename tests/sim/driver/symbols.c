/* SPDX-License-Identifier: MIT */
/*
 * The table of what the simulated driver exports, made of driver_symbols.def. Only addresses are
 * wanted here, so the functions are declared as what they are to the linker: names.
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
