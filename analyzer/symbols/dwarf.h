/* SPDX-License-Identifier: MIT */
/*
 * Interfaces between the files of symbols/, mostly for symbolize.c. Zero-initialized structs are empty; a Dwarf must
 * outlive all data read from it.
 */
#ifndef VRAMTRACE_ANALYZER_DWARF_H
#define VRAMTRACE_ANALYZER_DWARF_H

#include "symbolize.h"

#include <elfutils/libdwfl.h>

/* --- demangle.c --- */

/* Demangles a name of C++, Rust, D or Fortran, without Rust's hashes, which change from build to
 * build. NULL: not mangled. Free it. */
char *vt_demangle_symbol(const char *name);

/* The same for a type of C++ ("N3foo3BarE"). */
char *vt_demangle_type(const char *name);

/* --- recorded.c: answers from modules' files, recorded in or replayed from a pack --- */

uint64_t vt_recorded_module(const char *path, const char *build_id);

/* A question about a module: its state, the functions at an address, a variable, a slot. `how`: flags. */
enum vt_recorded { VT_RECORDED_STATE, VT_RECORDED_AT, VT_RECORDED_VARIABLE, VT_RECORDED_SLOT };
uint64_t vt_recorded_question(uint64_t module, enum vt_recorded what, uint64_t address,
                              unsigned how, const struct vt_log_around *around);

/* The functions at an address, innermost first. */
#define VT_SYMBOLS_MOST 64u
struct vt_recorded_symbols {
    struct vt_symbol row[VT_SYMBOLS_MOST];
    uint32_t count;
};

/* For enum vt_symbols_state, the struct above, struct vt_variable_symbol and struct vt_slot. */
vt_reply_fields vt_recorded_state, vt_recorded_symbols, vt_recorded_variable, vt_recorded_slot;

/* --- ranges.c: nested ranges of addresses --- */

#define VT_NO_RANGE UINT32_MAX

/* Free with vt_ranges_free. */
struct vt_ranges {
    struct vt_range_row *row;
    uint32_t count, room;
};

/* Adds [low, high) with the caller's number. Ignores an empty range. */
void vt_ranges_add(struct vt_ranges *ranges, uint64_t low, uint64_t high, uint32_t number);

/* Call it after all ranges were added, before the first look-up. Takes O(n log n) time. */
void vt_ranges_sort(struct vt_ranges *ranges);

/* The number of the smallest range around an address; the highest if there are equal ranges. VT_NO_RANGE: none. */
uint32_t vt_ranges_at(const struct vt_ranges *ranges, uint64_t address);

/* The lowest start of a range above an address; UINT64_MAX: none. */
uint64_t vt_ranges_next(const struct vt_ranges *ranges, uint64_t address);

void vt_ranges_free(struct vt_ranges *ranges);

/* --- elf_symbols.c: the symbols of a module's ELF files --- */

/* libdw's dwfl_module_addrinfo reads all symbols for each address. libtorch_cpu.so has 200,000, and a report asks
 * for a thousand of its addresses, so here the symbols are sorted once. */
struct vt_elf_symbols {
    struct vt_ranges ranges;
    bool read;
};

/* The symbol at or around an address of the module; a label without a size extends to the next symbol of its
 * section. The name lives as long as the module. NULL: none. Thread-local variables have no address, and are not
 * found. The first call for a module takes O(n log n) time. */
const char *vt_elf_symbols_at(struct vt_elf_symbols *s, Dwfl_Module *module, GElf_Addr address,
                              GElf_Sym *sym, GElf_Off *offset);

void vt_elf_symbols_free(struct vt_elf_symbols *s);

/* --- scopes.c: functions around an address, inlined ones included, and the scopes around a function --- */

/* The scopes of a module read so far. Free with vt_scopes_free. */
struct vt_scopes {
    struct vt_map units, nodes; /* compile unit, or address of a DIE in memory -> its index */
    struct vt_ranges *unit;
    struct vt_scopes_node *node;
    uint32_t unit_count, unit_room, node_count, node_room;
    struct vt_ranges all_units; /* of the whole module; see has_all_units */
    bool has_all_units;
};

/* Finds the compile unit with code at `address`, by the units' ranges. False: none. */
bool vt_scopes_unit(struct vt_scopes *s, Dwarf *dwarf, Dwarf_Addr address, Dwarf_Die *cu);

/* The compile unit that has the functions and variables: `cu`, or with split DWARF (-gsplit-dwarf) the unit in its
 * .dwo file, if libdw finds that file beside the program or where the compiler wrote it. */
Dwarf_Die vt_scopes_whole_unit(const Dwarf_Die *cu);

/* Finds the functions of `cu` around `address`, innermost first, inlined ones up to the first that is not inlined.
 * Fills at most `most` of `out`, and returns their number; 0: unknown. */
uint32_t vt_scopes_at(struct vt_scopes *s, Dwarf_Die *cu, Dwarf_Addr address, Dwarf_Die *out,
                      uint32_t most);

/* Steps from a DIE to the namespace, type, function or block around it. False: none. */
bool vt_scopes_outward(struct vt_scopes *s, Dwarf_Die *die);

void vt_scopes_free(struct vt_scopes *s);

/* --- variables.c --- */

/* The C and C++ variables of a module, from its debug information: globals and statics, also in namespaces, classes
 * and functions. */
struct vt_variables {
    struct vt_variable_die *list; /* by address */
    size_t count, room;
    uint64_t work; /* entries of the debug information read so far */
    bool read;
};

/* The variable that begins at an address, or that the compiler split and has a part that begins there; for a
 * thread-local variable, the address in the module's storage. *whole: the variable is contiguous, as its type says;
 * else the variable's bytes from *part on are there. False: none. */
bool vt_variables_find(struct vt_variables *v, Dwarf *dwarf, Dwarf_Addr address,
                       bool is_thread_local, Dwarf_Die *found, bool *whole, uint64_t *part);

/* A part of a split variable. */
struct vt_part {
    uint64_t start, size; /* within the variable */
    Dwarf_Addr address;
    bool known; /* the part is in memory */
};
/* The variable's parts, from 0 on. False: no more. */
bool vt_variables_part(Dwarf_Die *variable, unsigned number, struct vt_part *part);

void vt_variables_free(struct vt_variables *v);

/* --- left_over.c, weak.c --- */

/* Whether the variable's type shows that the word at an offset is no reference: it is stale, or part of a text.
 * False also if unknown. *may_be_unused: the path goes through a slot of an array that may be unused. */
struct vt_word_in {
    Dwarf_Die variable;
    uint64_t offset; /* of the word */
    bool split;      /* the variable's parts lie elsewhere: */
    Dwarf_Addr address;
};
bool vt_left_over_is(struct vt_word_in *word, const struct vt_log_around *around,
                     bool *may_be_unused);

/* slots.c: whether a pointer's target is a node of a chain or a tree, that is, points to its own kind. */
bool vt_dwarf_is_link(Dwarf_Die *pointer);

/* slots.c: the slot of a fixed-length array on a path. False: none, or the array may be one of many. Always fills
 * slot->words. */
bool vt_slot_of(Dwarf_Die *variable, uint64_t offset, const struct vt_log_around *around,
                struct vt_slot *slot);

/* Whether a variable leads to a std::weak_ptr, which looks like a std::shared_ptr in memory. */
enum vt_weak vt_weak_of(Dwarf_Die *variable);

/* Whether a class is from the C++ library. */
static inline bool vt_dwarf_is_of_library(Dwarf_Die *class_) {
    const char *file = dwarf_decl_file(class_);
    return file && strstr(file, "/c++/");
}

#endif
