/* SPDX-License-Identifier: MIT */
/*
 * The symbols of a module's ELF files, by address. For symbolize.c.
 *
 * libdw's dwfl_module_addrinfo reads all symbols for each address: libtorch_cpu.so has 200,000, and a
 * report asks for a thousand of its addresses. Here they are sorted once.
 */
#ifndef VRAMTRACE_ANALYZER_ELF_SYMBOLS_H
#define VRAMTRACE_ANALYZER_ELF_SYMBOLS_H

#include "base/base.h"
#include "ranges.h"

#include <elfutils/libdwfl.h>

/* Start it as {0}; free with vt_elf_symbols_free. */
struct vt_elf_symbols {
    struct vt_ranges ranges;
    bool read;
};

/* The symbol at an address of the module, or around it; a label without a size reaches to the next
 * symbol of its section. Its name lives as long as the module. NULL: there is none. Thread-local
 * variables have no address, and are not found. The first call for a module is n log n. */
const char *vt_elf_symbols_at(struct vt_elf_symbols *s, Dwfl_Module *module, GElf_Addr address,
                              GElf_Sym *sym, GElf_Off *offset);

void vt_elf_symbols_free(struct vt_elf_symbols *s);

#endif
