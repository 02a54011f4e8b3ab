/* SPDX-License-Identifier: MIT */
/*
 * Whether a slot of an array is known to be in use (see parts.h): what was popped from a stack or a ring, and
 * what an entry was that is marked as removed, stands in the array as before.
 *
 * Names of members and enumerators tell what numbers mean. An entry's own mark says most: `used`, or a state
 * of which one is REMOVED. A count in the class that has the array covers the slots before it; that is
 * believed only where all whole numbers of the class are called counts, since a ring's positions look the
 * same. The elements of a vector are in use, unless its class has positions. And an array of pointers to
 * nodes of chains or trees, which point to their own kind, has no other than these: who takes a node out
 * changes the links.
 */
#include "parts.h"
#include "types.h"

#include <ctype.h>
#include <string.h>

/* Words in names: how many slots there are, or how many of them are in use; where one is; whether one is in use,
 * and that it is not. */
static const char *const counts[] = {"n",      "num",      "nr",   "count", "cnt", "len",
                                     "length", "size",     "used", "fill",  "top", "depth",
                                     "cap",    "capacity", "max",  "room",  NULL};
static const char *const positions[] = {"head",  "tail",   "front", "back",  "first",    "last",
                                        "begin", "end",    "next",  "pos",   "position", "idx",
                                        "index", "cursor", "read",  "write", NULL};
static const char *const marks_used[] = {"used",   "use",      "valid", "live", "alive",
                                         "active", "occupied", "taken", NULL};
static const char *const marks_unused[] = {"empty",     "free",    "freed",   "unused",
                                           "removed",   "deleted", "erased",  "dead",
                                           "tombstone", "vacant",  "invalid", NULL};

static bool is_one_of(const char *const *words, const char *word, size_t length) {
    for (; *words; words++)
        if (strlen(*words) == length && !strncasecmp(*words, word, length))
            return true;
    return false;
}

/* The letters of a word in a name: "item" and "count", "num" and "Items", "SLOT" and "FREE". */
static size_t word_length(const char *name) {
    size_t length = 0;
    while (isupper((unsigned char)name[length]))
        length++;
    while (length < 2 && islower((unsigned char)name[length]))
        for (length++; islower((unsigned char)name[length]);)
            length++;
    return length;
}

static bool has_word(const char *name, const char *const *words) {
    for (size_t length; name && *name; name += length ? length : 1) {
        length = word_length(name);
        if (length && is_one_of(words, name, length))
            return true;
    }
    return false;
}

static bool is_encoded(Dwarf_Die *type, Dwarf_Word as) {
    Dwarf_Attribute memory;
    Dwarf_Word encoding;
    return dwarf_tag(type) == DW_TAG_base_type &&
           !dwarf_formudata(dwarf_attr(type, DW_AT_encoding, &memory), &encoding) && encoding == as;
}

/* What a number may be, by what is told of its bytes. Negative ones are not known. */
struct number {
    uint64_t least, most;
};

static struct number number_at(const struct vt_log_around *a, int64_t from_word, uint64_t bytes) {
    int64_t first = from_word + a->before;
    struct number n = {.least = 0};
    bool negative = true;
    if (!a->halves || first < 0 || (uint64_t)first + bytes > a->count)
        return (struct number){.most = UINT64_MAX};
    for (uint64_t i = 0; i < bytes; i++) {
        uint64_t at = (uint64_t)first + i;
        unsigned half = a->halves[at / 2] >> (at % 2 ? 4 : 0) & 15u;
        bool other = half == VT_AROUND_OTHER;
        negative = half == VT_AROUND_ONES && bytes > 1;
        half = half == VT_AROUND_ONES ? 255 : half;
        n.least |= (uint64_t)(other ? VT_AROUND_ONES : half) << 8 * i;
        n.most |= (uint64_t)(other ? 254 : half) << 8 * i;
    }
    return negative ? (struct number){.most = UINT64_MAX} : n;
}

/* Goes to the next member of a class that is a number. */
struct member {
    Dwarf_Die die, type;
    const char *name;
    int64_t offset;
    Dwarf_Word size;
    bool begun;
};

static bool next_number(Dwarf_Die *class_, struct member *m) {
    while (m->begun ? !dwarf_siblingof(&m->die, &m->die) : !dwarf_child(class_, &m->die)) {
        m->begun = true;
        m->name = dwarf_diename(&m->die);
        if (dwarf_tag(&m->die) == DW_TAG_member && m->name && location_of(&m->die, &m->offset) &&
            type_of(&m->die, &m->type) && !dwarf_aggregate_size(&m->type, &m->size) &&
            m->size <= 8 &&
            (dwarf_tag(&m->type) == DW_TAG_base_type ||
             dwarf_tag(&m->type) == DW_TAG_enumeration_type))
            return true;
    }
    return false;
}

static bool is_covered(const struct vt_slot_in *s) {
    Dwarf_Die class_ = s->class_;
    struct member m = {.begun = false};
    bool covered = false;
    while (s->has_class && next_number(&class_, &m)) {
        if (!is_encoded(&m.type, DW_ATE_signed) && !is_encoded(&m.type, DW_ATE_unsigned))
            continue;
        if (!has_word(m.name, counts) ||
            number_at(s->around, s->start + m.offset, m.size).least <= s->index)
            return false;
        covered = true;
    }
    return covered;
}

bool vt_slot_has_positions(const struct vt_slot_in *s) {
    Dwarf_Die class_ = s->class_;
    struct member m = {.begun = false};
    while (s->has_class && next_number(&class_, &m))
        if ((is_encoded(&m.type, DW_ATE_signed) || is_encoded(&m.type, DW_ATE_unsigned)) &&
            has_word(m.name, positions))
            return true;
    return false;
}

/* Whether an enumerator of a type that has this value says that something is not in use; VT_SLOT_UNKNOWN: none of
 * the type's does. */
static enum vt_slot_state state_of(Dwarf_Die *enumeration, struct number n) {
    Dwarf_Attribute memory;
    Dwarf_Die child;
    Dwarf_Word value;
    enum vt_slot_state state = VT_SLOT_UNKNOWN;
    if (n.least != n.most || dwarf_child(enumeration, &child))
        return state;
    do {
        if (!has_word(dwarf_diename(&child), marks_unused) ||
            dwarf_formudata(dwarf_attr(&child, DW_AT_const_value, &memory), &value))
            continue;
        if (value == n.least)
            return VT_SLOT_UNUSED;
        state = VT_SLOT_USED;
    } while (!dwarf_siblingof(&child, &child));
    return state;
}

/* What a slot's own mark says. */
static enum vt_slot_state mark_of(const struct vt_slot_in *s, Dwarf_Die *element) {
    struct member m = {.begun = false};
    int tag = dwarf_tag(element);
    if (!s->inside || (tag != DW_TAG_structure_type && tag != DW_TAG_class_type))
        return VT_SLOT_UNKNOWN;
    while (next_number(element, &m)) {
        struct number n = number_at(s->inside, s->inside_start + m.offset, m.size);
        bool is_flag = is_encoded(&m.type, DW_ATE_boolean);
        enum vt_slot_state state = VT_SLOT_UNKNOWN;
        if (dwarf_tag(&m.type) == DW_TAG_enumeration_type)
            state = state_of(&m.type, n);
        else if (has_word(m.name, marks_used) && (n.least || !n.most))
            state = n.least ? VT_SLOT_USED : VT_SLOT_UNUSED;
        else if (is_flag && has_word(m.name, marks_unused) && (n.least || !n.most))
            state = n.least ? VT_SLOT_UNUSED : VT_SLOT_USED;
        if (state != VT_SLOT_UNKNOWN)
            return state;
    }
    return VT_SLOT_UNKNOWN;
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

bool vt_debug_is_link(Dwarf_Die *pointer) {
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

enum vt_slot_state vt_slot_state(const struct vt_slot_in *s, Dwarf_Die *element) {
    enum vt_slot_state mark = mark_of(s, element);
    return mark == VT_SLOT_UNKNOWN && (vt_debug_is_link(element) || is_covered(s)) ? VT_SLOT_USED
                                                                                   : mark;
}
