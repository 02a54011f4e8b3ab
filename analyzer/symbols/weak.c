/* SPDX-License-Identifier: MIT */
/*
 * Whether a C++ variable may lead to a std::weak_ptr, by its type (see dwarf.h).
 *
 * The search follows members, bases, pointers and template arguments. In the C++ library's classes it follows only the
 * template arguments, which are the types that a container holds.
 */
#include "dwarf.h"

#include <dwarf.h>
#include <string.h>

enum { WEAK = 1, SHARED = 2, UNKNOWN = 4, MOST_WORK = 20000, DEPTH_MOST = 64 };

struct search {
    struct vt_map seen; /* by offset in the debug information */
    unsigned found;
    unsigned work;
    bool farther; /* also through smart pointers */
};

static void look_for_weak(struct search *s, Dwarf_Die *type, unsigned depth);

static void look_at_type_of(struct search *s, Dwarf_Die *die, unsigned depth) {
    Dwarf_Attribute memory;
    Dwarf_Die type;
    if (dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &memory), &type))
        look_for_weak(s, &type, depth);
    else if (dwarf_tag(die) == DW_TAG_pointer_type)
        s->found |= UNKNOWN; /* void * */
}

static void look_into(struct search *s, Dwarf_Die *class_, bool is_library, unsigned depth) {
    Dwarf_Attribute memory;
    Dwarf_Die child;
    if (dwarf_hasattr(class_, DW_AT_declaration) ||
        (!is_library && dwarf_attr(class_, DW_AT_containing_type, &memory)))
        s->found |= UNKNOWN; /* incomplete, or a derived class */
    if (dwarf_child(class_, &child))
        return;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_template_type_parameter ||
            (!is_library && (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
             !dwarf_hasattr(&child, DW_AT_external)))
            look_at_type_of(s, &child, depth);
        else if (tag == DW_TAG_GNU_template_parameter_pack) {
            Dwarf_Die part;
            if (!dwarf_child(&child, &part))
                do
                    look_at_type_of(s, &part, depth);
                while (!dwarf_siblingof(&part, &part));
        }
    } while (!dwarf_siblingof(&child, &child));
}

static bool begins(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

static void look_at_class(struct search *s, Dwarf_Die *class_, unsigned depth) {
    const char *name = dwarf_diename(class_);
    bool is_library = vt_dwarf_is_of_library(class_);
    if (name && begins(name, "weak_ptr<"))
        s->found |= WEAK;
    else if (name && begins(name, "shared_ptr<"))
        s->found |= SHARED;
    else if (name && is_library && (begins(name, "function<") || !strcmp(name, "any")))
        s->found |= UNKNOWN;
    else {
        look_into(s, class_, is_library, depth);
        return;
    }
    if (s->farther)
        look_into(s, class_, true, depth);
}

static void look_for_weak(struct search *s, Dwarf_Die *type, unsigned depth) {
    if (!vt_map_add_key(&s->seen, dwarf_dieoffset(type)))
        return;
    if (depth == DEPTH_MOST || s->work++ > MOST_WORK) {
        s->found |= UNKNOWN;
        return;
    }
    switch (dwarf_tag(type)) {
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        look_at_class(s, type, depth + 1);
        break;
    case DW_TAG_subroutine_type:
    case DW_TAG_base_type:
    case DW_TAG_enumeration_type:
        break;
    default:
        look_at_type_of(s, type, depth + 1);
    }
}

enum vt_weak vt_weak_of(Dwarf_Die *variable) {
    struct search near = {.found = 0}, far = {.farther = true};
    look_at_type_of(&near, variable, 0);
    look_at_type_of(&far, variable, 0);
    vt_map_free(&near.seen);
    vt_map_free(&far.seen);
    if (near.found & WEAK && !(near.found & SHARED))
        return VT_WEAK_ONLY;
    return far.found & (WEAK | UNKNOWN) ? VT_WEAK_MAYBE : VT_WEAK_NONE;
}
