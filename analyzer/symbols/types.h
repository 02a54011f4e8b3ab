/* SPDX-License-Identifier: MIT */
/*
 * Helpers to step through C and C++ types, for left_over.c and slots.c.
 */
#ifndef VRAMTRACE_ANALYZER_TYPES_H
#define VRAMTRACE_ANALYZER_TYPES_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum { TYPEDEFS_MOST = 32 };

/* The type of a variable, a member or a pointer, after resolving typedefs. False: none. */
static inline bool type_of(Dwarf_Die *die, Dwarf_Die *type) {
    Dwarf_Attribute memory;
    if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &memory), type))
        return false;
    for (int steps = 0; steps < TYPEDEFS_MOST; steps++) {
        int tag = dwarf_tag(type);
        if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type)
            return true;
        Dwarf_Die next;
        if (!dwarf_formref_die(dwarf_attr(type, DW_AT_type, &memory), &next))
            return false;
        *type = next;
    }
    return false;
}

/* The offset of a member or a base in its class. False: the offset is not fixed. */
static inline bool location_of(Dwarf_Die *member, int64_t *offset) {
    Dwarf_Attribute memory;
    Dwarf_Word value;
    *offset = 0;
    if (!dwarf_attr(member, DW_AT_data_member_location, &memory))
        return dwarf_tag(member) == DW_TAG_member && !dwarf_hasattr(member, DW_AT_external);
    if (dwarf_formudata(&memory, &value) || value > INT32_MAX)
        return false; /* a virtual base */
    *offset = (int64_t)value;
    return true;
}

#endif
