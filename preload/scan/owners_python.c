/* SPDX-License-Identifier: MIT */
/*
 * Edges of Python's objects, by the layouts of CPython's versions.
 *
 * Called by owners_walk.c.
 */
#define _GNU_SOURCE
#include "owners_walk.h"

void vt_owners_python_type(struct vt_owners *w, struct vt_owners_type *type) {
    (void)w;
    type->leaf = true;
}

void vt_owners_python(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type) {
    (void)w, (void)object, (void)type;
}

uint64_t vt_owners_python_number(struct vt_owners *w, uintptr_t object) {
    (void)w, (void)object;
    return 0;
}

uint32_t vt_owners_python_type_name(struct vt_owners *w, uintptr_t type, char *to, uint32_t room) {
    (void)w, (void)type, (void)to, (void)room;
    return 0;
}

uintptr_t vt_owners_python_attribute(struct vt_owners *w, uintptr_t object,
                                     const struct vt_owners_type *type, const char *name) {
    (void)w, (void)object, (void)type, (void)name;
    return 0;
}
