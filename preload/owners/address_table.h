/* SPDX-License-Identifier: MIT */
/*
 * A table from addresses of objects to numbers, for walk.c and pyobjects/cycles.c.
 *
 * A walk looks up millions of objects, and successive ones are mostly neighbours in memory, because they were made
 * together. So only pages are hashed, and each piece of memory that contains an object has an array. Neighbouring
 * objects have neighbouring entries, and nothing moves when the table grows.
 */
#ifndef VT_PRELOAD_ADDRESS_TABLE_H
#define VT_PRELOAD_ADDRESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VT_ADDRESS_ENTRY 16u /* bytes per entry; few objects are this close to each other */

struct vt_owners;
struct vt_address_page {
    uintptr_t page;    /* the page's number; 0: a free entry */
    uint32_t parts[8]; /* one for each 512 bytes; 0: none */
};
struct vt_address_table {
    struct vt_address_page *pages; /* a hash table */
    uint32_t page_count, page_room;
    uint32_t (*parts)[512 / VT_ADDRESS_ENTRY];
    uint32_t part_count, part_room;
};

/* Makes an empty table. False: out of memory. `bytes`: limit for all parts. */
bool vt_address_table_open(struct vt_owners *w, struct vt_address_table *p, size_t bytes);
/* The entry shared by all objects that begin within the same 16 bytes, initially 0. NULL: nothing was entered there. */
uint32_t *vt_address_find(const struct vt_address_table *p, uintptr_t address);
/* The same, making the entry if there is none. NULL: out of memory. */
uint32_t *vt_address_enter(struct vt_owners *w, struct vt_address_table *p, uintptr_t address);

#endif
