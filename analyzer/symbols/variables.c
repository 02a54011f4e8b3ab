/* SPDX-License-Identifier: MIT */
/*
 * Variables by address (see dwarf.h). A module is read once, completely, because the debug information has no index
 * from addresses to variables.
 */
#include "dwarf.h"

#include <dwarf.h>
#include <stdlib.h>

/* A module with more debug information than this is read only in part: that takes a second. */
enum { MOST_WORK = 4000000, DEPTH_MOST = 64, PARTS_MOST = 64 };

struct vt_variable_die {
    Dwarf_Addr address;
    Dwarf_Die die;
    bool is_thread_local, in_parts;
    uint64_t part; /* this part of the variable is at the address; 0: it begins there */
};

static bool is_address(const Dwarf_Op *op) {
    return op->atom == DW_OP_addr || op->atom == DW_OP_addrx || op->atom == DW_OP_GNU_addr_index;
}

static bool read_address(Dwarf_Attribute *location, const Dwarf_Op *op, Dwarf_Addr *address) {
    Dwarf_Attribute memory;
    *address = op->number;
    return op->atom == DW_OP_addr ||
           (!dwarf_getlocation_attr(location, op, &memory) && !dwarf_formaddr(&memory, address));
}

bool vt_variables_part(Dwarf_Die *variable, unsigned number, struct vt_part *part) {
    Dwarf_Attribute location;
    Dwarf_Op *ops;
    size_t count;
    *part = (struct vt_part){.known = false};
    if (number == PARTS_MOST || !dwarf_attr(variable, DW_AT_location, &location) ||
        dwarf_getlocation(&location, &ops, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (is_address(&ops[i]))
            part->known = read_address(&location, &ops[i], &part->address);
        if (ops[i].atom != DW_OP_piece)
            continue;
        part->size = ops[i].number;
        if (number-- == 0)
            return true;
        *part = (struct vt_part){.start = part->start + part->size};
    }
    return false;
}

/* gcc writes an address, clang the index of one in a table; for a thread-local variable it is the offset in the
 * module's storage. */
static bool address_of(Dwarf_Attribute *location, struct vt_variable_die *v) {
    Dwarf_Attribute memory;
    Dwarf_Op *ops;
    size_t count;
    Dwarf_Addr *address = &v->address;
    if (!location || dwarf_getlocation(location, &ops, &count) || !count ||
        ops[count - 1].atom ==
            DW_OP_stack_value) /* a pointer to the variable, such as `this` of an inlined call */
        return false;
    *address = ops[0].number;
    v->is_thread_local = count > 1 && (ops[1].atom == DW_OP_form_tls_address ||
                                       ops[1].atom == DW_OP_GNU_push_tls_address);
    v->in_parts = count > 1u + v->is_thread_local;
    if (v->is_thread_local && (ops[0].atom == DW_OP_const8u || ops[0].atom == DW_OP_const4u))
        return true;
    if (ops[0].atom == DW_OP_constx || ops[0].atom == DW_OP_GNU_const_index)
        return v->is_thread_local && !dwarf_getlocation_attr(location, ops, &memory) &&
               !dwarf_formudata(&memory, address);
    return is_address(ops) && read_address(location, ops, address);
}

static void add_variable(struct vt_variables *v, Dwarf_Die *die) {
    Dwarf_Attribute memory;
    struct vt_variable_die found = {.die = *die};
    struct vt_part part;
    bool split = false;
    for (unsigned i = 0; vt_variables_part(die, i, &part); i++) {
        split = true;
        if (part.known)
            *VT_ADD(v->list, v->count, v->room) = (struct vt_variable_die){
                .address = part.address, .die = *die, .in_parts = true, .part = part.start};
    }
    if (split)
        return;
    if (!address_of(dwarf_attr(die, DW_AT_location, &memory), &found))
        return;
    *VT_ADD(v->list, v->count, v->room) = found;
}

static void walk_variables(struct vt_variables *v, Dwarf_Die *parent, unsigned depth) {
    Dwarf_Die die;
    if (depth == DEPTH_MOST || v->work > MOST_WORK || dwarf_child(parent, &die))
        return;
    do {
        switch (v->work++ > MOST_WORK ? 0 : dwarf_tag(&die)) {
        case DW_TAG_variable:
            add_variable(v, &die);
            break;
        case DW_TAG_namespace:
        case DW_TAG_subprogram:
        case DW_TAG_lexical_block:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
            walk_variables(v, &die, depth + 1);
            break;
        default:
            break;
        }
    } while (v->work <= MOST_WORK && !dwarf_siblingof(&die, &die));
}

static int compare_variables(const void *a, const void *b) {
    const struct vt_variable_die *x = a, *y = b;
    return VT_ORDER({x->is_thread_local, y->is_thread_local}, {x->address, y->address},
                    {(uintptr_t)x->die.addr, (uintptr_t)y->die.addr});
}

bool vt_variables_find(struct vt_variables *v, Dwarf *dwarf, Dwarf_Addr address,
                       bool is_thread_local, Dwarf_Die *found, bool *whole, uint64_t *part) {
    struct vt_variable_die as = {.address = address, .is_thread_local = is_thread_local};
    if (!v->read) {
        Dwarf_Off at = 0, next;
        size_t header;
        Dwarf_Die die;
        v->read = true;
        for (; !dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL); at = next)
            if (dwarf_offdie(dwarf, at + header, &die)) {
                die = vt_scopes_whole_unit(&die);
                walk_variables(v, &die, 0);
            }
        vt_sort(v->list, v->count, sizeof *v->list, compare_variables);
    }
    size_t low = 0, high = v->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_variables(&v->list[middle], &as) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == v->count || v->list[low].address != address ||
        v->list[low].is_thread_local != is_thread_local)
        return false;
    *whole = !v->list[low].in_parts;
    *part = v->list[low].part;
    *found = v->list[low].die;
    return true;
}

void vt_variables_free(struct vt_variables *v) {
    free(v->list);
    *v = (struct vt_variables){0};
}
