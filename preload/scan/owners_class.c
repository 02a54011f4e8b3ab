/* SPDX-License-Identifier: MIT */
/*
 * C++ objects, and what PyTorch's Python objects refer to.
 *
 * Called by owners_walk.c.
 */
#define _GNU_SOURCE
#include "owners_walk.h"

void vt_owners_class_type(struct vt_owners *w, struct vt_owners_type *type) {
    (void)w, (void)type;
}

void vt_owners_class_python(struct vt_owners *w, uintptr_t object,
                            const struct vt_owners_type *type) {
    (void)w, (void)object, (void)type;
}

uint16_t vt_owners_class_roles(const struct vt_owners_type *type, struct vt_owners_text attribute) {
    (void)type, (void)attribute;
    return 0;
}

void vt_owners_class(struct vt_owners *w, uintptr_t object, uint16_t class_) {
    (void)w, (void)object, (void)class_;
}

uint64_t vt_owners_class_key(struct vt_owners *w, uintptr_t object, uint16_t class_) {
    (void)w, (void)object, (void)class_;
    return 0;
}

uint32_t vt_owners_class_name(struct vt_owners *w, uint64_t key, uint16_t class_, char *to,
                              uint32_t room) {
    (void)w, (void)key, (void)class_, (void)to, (void)room;
    return 0;
}
