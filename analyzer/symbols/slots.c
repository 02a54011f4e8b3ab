/* SPDX-License-Identifier: MIT */
/*
 * The slot of a fixed-length array through which a path goes, by the type of the variable at its start (see dwarf.h).
 *
 * From the variable the path goes down through members and arrays, and on through pointers to single objects. A
 * pointer's target is a single object only if it is a class or an array, and the path goes through the first one:
 * others may be one of many, whose number may grow. The same is true of containers of the C++ library; the path
 * enters only classes that hold one object, or a number fixed by their type.
 */
#include "dwarf.h"
#include "types.h"

#include <string.h>

enum { DEPTH_MOST = 64, HOPS_MOST = 8, WORD = 8 };

/* The current position of a path. */
struct at {
    Dwarf_Die type;
    uint64_t offset; /* in an object of this type */
    uint64_t path;   /* a hash of the members so far */
    bool in_entry;   /* inside an array's element, whose own arrays are parts of the entry */
    struct vt_slot *slot;
};

static bool holds_what_its_type_says(Dwarf_Die *class_) {
    static const char *const classes[] = {"array", "unique_ptr", "shared_ptr", "optional",
                                          "pair",  "tuple",      "atomic"};
    const char *name = dwarf_diename(class_);
    size_t length = name ? strcspn(name, "<") : 0;
    if (!name || name[0] == '_') /* a part of one of these, since no other was entered */
        return true;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strlen(classes[i]) == length && !strncmp(name, classes[i], length))
            return true;
    return false;
}

static bool enter_array(struct at *at) {
    Dwarf_Die element;
    Dwarf_Word size, all;
    if (!type_of(&at->type, &element) || dwarf_aggregate_size(&element, &size) || !size ||
        dwarf_aggregate_size(&at->type, &all) || at->offset >= all)
        return false;
    struct vt_slot *slot = at->slot;
    uint64_t count = all / size;
    if (!at->in_entry) {
        if (count > UINT32_MAX / (slot->capacity ? slot->capacity : 1))
            return false;
        slot->capacity = (slot->capacity ? slot->capacity : 1) * count;
        slot->index = slot->index * count + at->offset / size;
        slot->array = at->path = vt_mix(at->path + 1);
    }
    at->offset %= size;
    at->type = element;
    return true;
}

/* Continues in the member or base around the offset. */
static bool enter_class(struct at *at) {
    Dwarf_Die child, type;
    Dwarf_Word size;
    int64_t start;
    bool is_library = vt_dwarf_is_of_library(&at->type);
    if ((is_library && !holds_what_its_type_says(&at->type)) || dwarf_child(&at->type, &child))
        return false;
    at->in_entry |= at->slot->capacity && !is_library;
    do {
        int tag = dwarf_tag(&child);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !location_of(&child, &start) ||
            !type_of(&child, &type) || dwarf_aggregate_size(&type, &size) ||
            (uint64_t)start > at->offset || at->offset - (uint64_t)start + WORD > size)
            continue; /* an empty base has the address of the first member */
        at->offset -= (uint64_t)start;
        at->path = vt_mix(at->path ^ (uint64_t)start);
        at->type = type;
        return true;
    } while (!dwarf_siblingof(&child, &child));
    return false;
}

/* Descends to a word. The last one may have any type. */
static bool go_down(struct at *at, bool last) {
    Dwarf_Word size;
    for (unsigned depth = 0; depth < DEPTH_MOST; depth++) {
        switch (dwarf_tag(&at->type)) {
        case DW_TAG_array_type:
            if (!enter_array(at))
                return false;
            break;
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
            if (!enter_class(at))
                return false;
            break;
        case DW_TAG_union_type: /* its active member is unknown */
            return last;
        default:
            return !at->offset && !dwarf_aggregate_size(&at->type, &size) && size == WORD;
        }
    }
    return false;
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

bool vt_dwarf_is_link(Dwarf_Die *pointer) {
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

/* Continues in the single object that a word points to. A node in an array's slot is the first of a chain in a hash
 * table, which can grow without limit. */
static bool follow(struct at *at, int64_t offset) {
    Dwarf_Word size;
    int tag = dwarf_tag(&at->type);
    if (at->slot->capacity && vt_dwarf_is_link(&at->type))
        return false;
    if ((tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type) ||
        !type_of(&at->type, &at->type))
        return false;
    tag = dwarf_tag(&at->type);
    at->offset = (uint64_t)offset;
    at->in_entry = at->slot->capacity > 0;
    at->path = vt_mix(at->path + 2);
    return (tag == DW_TAG_array_type || tag == DW_TAG_class_type || tag == DW_TAG_structure_type) &&
           !dwarf_aggregate_size(&at->type, &size) && at->offset < size;
}

bool vt_slot_of(Dwarf_Die *variable, uint64_t offset, const struct vt_log_around *around,
                struct vt_slot *slot) {
    const struct vt_log_around *words[HOPS_MOST];
    struct at at = {.offset = offset, .slot = slot};
    *slot = (struct vt_slot){0};
    for (; around && slot->words < HOPS_MOST; around = around->parent)
        words[slot->words++] = around;
    if (around || !type_of(variable, &at.type) || !go_down(&at, slot->words == 1))
        return false;
    for (unsigned i = slot->words; i-- > 1;)
        if (!follow(&at, words[i - 1]->offset) || !go_down(&at, i == 1))
            return false;
    return slot->capacity > 0;
}
