/* SPDX-License-Identifier: MIT */
/* driver_symbols.def as a table in memory, with the addresses (symbols.c); lookup.c reads it. */
#ifndef SIM_SYMBOLS_H
#define SIM_SYMBOLS_H

#include <stddef.h>

enum sim_symbol_stream { SIM_STREAM_ANY, SIM_STREAM_LEGACY, SIM_STREAM_PER_THREAD };

struct sim_symbol {
    const char *base;
    const char *function; /* where its code starts */
    int since;
    enum sim_symbol_stream stream;
};

extern const struct sim_symbol sim_symbols[];
extern const size_t sim_symbol_count;

#endif /* SIM_SYMBOLS_H */
