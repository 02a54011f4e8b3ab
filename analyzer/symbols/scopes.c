/* SPDX-License-Identifier: MIT */
/*
 * The functions around an address (see dwarf.h).
 *
 * libdw's dwarf_getscopes is not enough: it enters a function only if the address is inside. But the code of lambdas,
 * local classes, OpenMP regions and nested functions is outside the function that contains their DIE; and with
 * link-time optimization, the call misses other units' functions. So each compile unit is read once, and its code
 * ranges are kept sorted for a binary search.
 */
#include "dwarf.h"

#include <dwarf.h>
#include <stdlib.h>

enum { DEPTH_MOST = 256 };
#define NONE VT_NO_RANGE

/* A scope or a compile unit: its DIE, and the enclosing scope. */
struct vt_scopes_node {
    Dwarf_Die die;
    uint32_t outer;
};

void vt_scopes_free(struct vt_scopes *s) {
    for (uint32_t i = 0; i < s->unit_count; i++)
        vt_ranges_free(&s->unit[i]);
    free(s->unit);
    free(s->node);
    vt_ranges_free(&s->all_units);
    vt_map_free(&s->units);
    vt_map_free(&s->nodes);
}

/* Nodes are numbered outside in, so the innermost of equal ranges has the highest number. */
static void add_ranges(struct vt_ranges *ranges, Dwarf_Die *die, uint32_t node) {
    Dwarf_Addr base, low, high;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;)
        vt_ranges_add(ranges, low, high, node);
}

/* --- units --- */

static uint32_t add_node(struct vt_scopes *s, const Dwarf_Die *die, uint32_t outer) {
    *VT_ADD(s->node, s->node_count, s->node_room) = (struct vt_scopes_node){*die, outer};
    return s->node_count - 1;
}

bool vt_scopes_unit(struct vt_scopes *s, Dwarf *dwarf, Dwarf_Addr address, Dwarf_Die *cu) {
    if (!s->has_all_units) {
        Dwarf_Off at = 0, next;
        size_t header;
        Dwarf_Die die;
        s->has_all_units = true;
        for (; !dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL); at = next)
            if (dwarf_offdie(dwarf, at + header, &die))
                add_ranges(&s->all_units, &die, add_node(s, &die, NONE));
        vt_ranges_sort(&s->all_units);
    }
    uint32_t node = vt_ranges_at(&s->all_units, address);
    if (node != NONE)
        *cu = s->node[node].die;
    return node != NONE;
}

Dwarf_Die vt_scopes_whole_unit(const Dwarf_Die *cu) {
    Dwarf_Die split = {0};
    uint8_t type;
    bool has = !dwarf_cu_info(cu->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) &&
               type == DW_UT_skeleton && split.addr;
    return has ? split : *cu;
}

static bool is_scope(int tag) {
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
           tag == DW_TAG_lexical_block || tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_module ||
           tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

static void walk_scopes(struct vt_scopes *s, struct vt_ranges *ranges, Dwarf_Die *parent,
                        uint32_t outer, unsigned depth) {
    Dwarf_Die die;
    if (depth == DEPTH_MOST || dwarf_child(parent, &die))
        return;
    do {
        if (!is_scope(dwarf_tag(&die)))
            continue;
        uint32_t node = add_node(s, &die, outer);
        vt_map_put(&s->nodes, (uintptr_t)die.addr, node);
        add_ranges(ranges, &die, node);
        walk_scopes(s, ranges, &die, node, depth + 1);
    } while (!dwarf_siblingof(&die, &die));
}

static const struct vt_ranges *ranges_of(struct vt_scopes *s, Dwarf_Die *cu) {
    uint32_t unit = vt_map_add(&s->units, (uintptr_t)cu->cu, s->unit_count);
    if (unit == s->unit_count) {
        struct vt_ranges *ranges = VT_ADD(s->unit, s->unit_count, s->unit_room);
        *ranges = (struct vt_ranges){0};
        walk_scopes(s, ranges, cu, NONE, 0);
        vt_ranges_sort(ranges);
    }
    return &s->unit[unit];
}

uint32_t vt_scopes_at(struct vt_scopes *s, Dwarf_Die *cu, Dwarf_Addr address, Dwarf_Die *out,
                      uint32_t most) {
    uint32_t found = 0;
    uint32_t node = vt_ranges_at(ranges_of(s, cu), address);
    for (; node != NONE && found < most; node = s->node[node].outer) {
        int tag = dwarf_tag(&s->node[node].die);
        if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
            continue;
        out[found++] = s->node[node].die;
        if (tag == DW_TAG_subprogram)
            break;
    }
    return found;
}

bool vt_scopes_outward(struct vt_scopes *s, Dwarf_Die *die) {
    Dwarf_Die cu;
    if (!dwarf_diecu(die, &cu, NULL, NULL))
        return false;
    ranges_of(s, &cu);
    uint32_t node = vt_map_get(&s->nodes, (uintptr_t)die->addr);
    if (node == VT_MAP_NONE || s->node[node].outer == NONE)
        return false;
    *die = s->node[s->node[node].outer].die;
    return true;
}
