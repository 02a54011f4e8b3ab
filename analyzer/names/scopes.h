/* SPDX-License-Identifier: MIT */
/*
 * The compile unit and the functions around an address, inlined ones included, and the scopes
 * around a function. For symbolize.c.
 */
#ifndef VRAMTRACE_ANALYZER_SCOPES_H
#define VRAMTRACE_ANALYZER_SCOPES_H

#include "base/base.h"

#include <elfutils/libdw.h>

/* Pieces of code by address. */
struct vt_scopes_ranges {
    struct vt_scopes_range *row;
    uint32_t count, room;
};

/* What is known of one module. Start it as {0}; the Dwarf must outlive it. */
struct vt_scopes {
    struct vt_map units, nodes; /* compile unit, address of a DIE in memory -> its index */
    struct vt_scopes_ranges *unit;
    struct vt_scopes_node *node;
    uint32_t unit_count, unit_room, node_count, node_room;
    struct vt_scopes_ranges all_units; /* of the whole module, once it was asked for */
    bool has_all_units;
};

/* The compile unit that has code at `address`, by the units' own ranges. */
bool vt_scopes_unit(struct vt_scopes *s, Dwarf *dwarf, Dwarf_Addr address, Dwarf_Die *cu);

/* The functions of compile unit `cu` around `address`: innermost first, inlined ones up to the one
 * that was compiled by itself. Returns how many of `out` were filled: 0 where none is known. */
uint32_t vt_scopes_at(struct vt_scopes *s, Dwarf_Die *cu, Dwarf_Addr address, Dwarf_Die *out,
                      uint32_t most);

/* Steps from a DIE to the namespace, type, function or block around it. False: there is none. */
bool vt_scopes_outward(struct vt_scopes *s, Dwarf_Die *die);

void vt_scopes_free(struct vt_scopes *s);

#endif
