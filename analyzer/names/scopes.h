/* SPDX-License-Identifier: MIT */
/*
 * The compile unit and the functions around an address, inlined ones included, and the scopes
 * around a function. For symbolize.c.
 */
#ifndef VRAMTRACE_ANALYZER_SCOPES_H
#define VRAMTRACE_ANALYZER_SCOPES_H

#include "base/base.h"
#include "ranges.h"

#include <elfutils/libdw.h>

/* The scopes of a module that were read so far. Start it as {0}; free with vt_scopes_free. The
 * Dwarf must outlive it. */
struct vt_scopes {
    struct vt_map units, nodes; /* compile unit, address of a DIE in memory -> its index */
    struct vt_ranges *unit;
    struct vt_scopes_node *node;
    uint32_t unit_count, unit_room, node_count, node_room;
    struct vt_ranges all_units; /* of the whole module; see has_all_units */
    bool has_all_units;
};

/* Finds the compile unit with code at `address`, by the units' ranges. False: there is none. */
bool vt_scopes_unit(struct vt_scopes *s, Dwarf *dwarf, Dwarf_Addr address, Dwarf_Die *cu);

/* The compile unit that has the functions and variables: `cu`, or with split DWARF (-gsplit-dwarf) the one
 * in its file .dwo, if libdw finds that beside the program or where the compiler wrote it. */
Dwarf_Die vt_scopes_whole_unit(const Dwarf_Die *cu);

/* Finds the functions of `cu` around `address`, innermost first: inlined ones, up to one that is
 * not. Returns how many of `out` it filled, at most `most`; 0: none is known. */
uint32_t vt_scopes_at(struct vt_scopes *s, Dwarf_Die *cu, Dwarf_Addr address, Dwarf_Die *out,
                      uint32_t most);

/* Steps from a DIE to the namespace, type, function or block around it. False: there is none. */
bool vt_scopes_outward(struct vt_scopes *s, Dwarf_Die *die);

void vt_scopes_free(struct vt_scopes *s);

#endif
