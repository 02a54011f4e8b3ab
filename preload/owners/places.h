/* SPDX-License-Identifier: MIT */
/*
 * A table from addresses of objects to numbers, for walk.c and pyobjects/cycles.c.
 *
 * A walk asks for millions of objects, mostly for neighbours one after the other, because they were
 * made together. So the table has an array for each piece of memory in which there is an object, and
 * only pages are hashed: neighbours have neighbouring places, and nothing moves when it grows.
 */
#ifndef VT_PRELOAD_PLACES_H
#define VT_PRELOAD_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VT_OWNERS_PLACE 16u /* bytes; few objects are as near to each other */

struct vt_owners;
struct vt_owners_page {
    uintptr_t page;    /* its number; 0: a free entry */
    uint32_t parts[8]; /* of 512 bytes each; 0: there is nothing */
};
struct vt_owners_places {
    struct vt_owners_page *pages; /* a hash */
    uint32_t page_count, page_room;
    uint32_t (*parts)[512 / VT_OWNERS_PLACE];
    uint32_t part_count, part_room;
};

/* False: no memory. The parts will take at most so many bytes. */
bool vt_owners_places_open(struct vt_owners *w, struct vt_owners_places *p, size_t bytes);
/* The number for all objects that begin within the same 16 bytes, 0 at first. NULL: nothing was
 * entered there. */
uint32_t *vt_owners_place_at(const struct vt_owners_places *p, uintptr_t address);
/* The same, for a number to be entered. NULL: no memory. */
uint32_t *vt_owners_place_for(struct vt_owners *w, struct vt_owners_places *p, uintptr_t address);

#endif
