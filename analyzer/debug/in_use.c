/* SPDX-License-Identifier: MIT */
/*
 * Whether a slot of an array is known to be in use (see parts.h): what was popped from a stack or a ring, and
 * what an entry was that is marked as removed, stands in the array as before.
 *
 * Two things show that a slot is in use. A count in the class that has the array covers it; that is said
 * only where all whole numbers of the class are called counts, since a ring's positions look the same. Or
 * the array has pointers to nodes of chains or trees, which point to their own kind: who takes one out
 * changes these links.
 */
#include "parts.h"
#include "types.h"

#include <ctype.h>
#include <string.h>

/* Words in names of members that say how many slots there are, or how many of them are in use. */
static const char *const counts[] = {"n",      "num",      "nr",   "count", "cnt", "len",
                                     "length", "size",     "used", "fill",  "top", "depth",
                                     "cap",    "capacity", "max",  "room"};

static bool is_count(const char *word, size_t length) {
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strlen(counts[i]) == length && !strncasecmp(counts[i], word, length))
            return true;
    return false;
}

/* Whether one of a name's words is a count's: "item_count", "numItems". */
static bool is_called_count(const char *name) {
    while (*name) {
        size_t length = isalpha((unsigned char)*name) ? 1 : 0;
        while (length && islower((unsigned char)name[length]))
            length++;
        if (length && is_count(name, length))
            return true;
        name += length ? length : 1;
    }
    return false;
}

static bool is_whole_number(Dwarf_Die *type) {
    Dwarf_Attribute memory;
    Dwarf_Word encoding;
    return dwarf_tag(type) == DW_TAG_base_type &&
           !dwarf_formudata(dwarf_attr(type, DW_AT_encoding, &memory), &encoding) &&
           (encoding == DW_ATE_signed || encoding == DW_ATE_unsigned);
}

/* The least that a number may be, by what is told of its bytes. */
static uint64_t least_at(const struct vt_log_around *a, int64_t from_word, uint64_t bytes) {
    int64_t first = from_word + a->before;
    uint64_t least = 0;
    bool negative = true;
    if (!a->halves || first < 0 || (uint64_t)first + bytes > a->count)
        return 0;
    for (uint64_t i = 0; i < bytes; i++) {
        uint64_t at = (uint64_t)first + i;
        unsigned half = a->halves[at / 2] >> (at % 2 ? 4 : 0) & 15u;
        negative = half == VT_AROUND_ONES;
        least |= (uint64_t)(half == VT_AROUND_ONES    ? 255
                            : half == VT_AROUND_OTHER ? VT_AROUND_ONES
                                                      : half)
                 << 8 * i;
    }
    return negative ? 0 : least;
}

static bool is_covered(const struct vt_slot_in *s) {
    Dwarf_Die child, type, class_ = s->class_;
    Dwarf_Word size;
    int64_t offset;
    bool covered = false;
    if (!s->has_class || dwarf_child(&class_, &child))
        return false;
    do {
        if (dwarf_tag(&child) != DW_TAG_member || !location_of(&child, &offset) ||
            !type_of(&child, &type) || !is_whole_number(&type) ||
            dwarf_aggregate_size(&type, &size) || size > 8)
            continue;
        const char *name = dwarf_diename(&child);
        if (!name || !is_called_count(name) ||
            least_at(s->around, s->start + offset, size) <= s->index)
            return false;
        covered = true;
    } while (!dwarf_siblingof(&child, &child));
    return covered;
}

static bool points_to(Dwarf_Die *type, Dwarf_Die *class_) {
    Dwarf_Die to;
    if (dwarf_tag(type) == DW_TAG_array_type) {
        Dwarf_Die element;
        return type_of(type, &element) && dwarf_tag(&element) == DW_TAG_pointer_type &&
               points_to(&element, class_);
    }
    return dwarf_tag(type) == DW_TAG_pointer_type && type_of(type, &to) &&
           dwarf_dieoffset(&to) == dwarf_dieoffset(class_);
}

/* Whether a pointer is to a node of a chain or a tree. */
static bool is_link(Dwarf_Die *pointer) {
    Dwarf_Die node, child, type;
    if (dwarf_tag(pointer) != DW_TAG_pointer_type || !type_of(pointer, &node) ||
        dwarf_child(&node, &child))
        return false;
    do {
        if (dwarf_tag(&child) == DW_TAG_member && type_of(&child, &type) && points_to(&type, &node))
            return true;
    } while (!dwarf_siblingof(&child, &child));
    return false;
}

bool vt_slot_is_in_use(const struct vt_slot_in *s, Dwarf_Die *element) {
    return is_link(element) || is_covered(s);
}
