/* SPDX-License-Identifier: MIT */
/*
 * The table of the reached objects, by address (see address_table.h).
 */
#include "owners.h"
#include "memory/memory.h"

#define PAGES_FIRST 1024u

bool vt_address_table_open(struct vt_owners *w, struct vt_address_table *p, size_t bytes) {
    *p = (struct vt_address_table){.part_count = 1,
                                   .part_room = (uint32_t)(bytes / sizeof *p->parts),
                                   .page_room = PAGES_FIRST};
    p->parts = vt_owners_map(w, bytes);
    p->pages = vt_owners_map(w, p->page_room * sizeof *p->pages);
    return p->parts && p->pages;
}

static struct vt_address_page *page_of(const struct vt_address_table *p, uintptr_t page) {
    uint32_t mask = p->page_room - 1, i = (uint32_t)(page * 0x9e3779b97f4a7c15ull >> 32) & mask;
    while (p->pages[i].page && p->pages[i].page != page)
        i = (i + 1) & mask;
    return &p->pages[i];
}

/* Called when the table is half full. */
static bool grow_pages(struct vt_owners *w, struct vt_address_table *p) {
    struct vt_address_table grown = *p;
    grown.page_room *= 2;
    grown.pages = vt_owners_map(w, grown.page_room * sizeof *grown.pages);
    if (!grown.pages)
        return false;
    for (uint32_t i = 0; i < p->page_room; i++)
        if (p->pages[i].page)
            *page_of(&grown, p->pages[i].page) = p->pages[i];
    vt_memory_list_release(&w->memory, p->pages);
    *p = grown;
    return true;
}

static uint32_t *entry_in(const struct vt_address_table *p, uint32_t part, uintptr_t address) {
    return &p->parts[part][address / VT_ADDRESS_ENTRY % (512 / VT_ADDRESS_ENTRY)];
}

uint32_t *vt_address_find(const struct vt_address_table *p, uintptr_t address) {
    uint32_t part = page_of(p, address >> 12)->parts[address >> 9 & 7];
    return part ? entry_in(p, part, address) : NULL;
}

uint32_t *vt_address_enter(struct vt_owners *w, struct vt_address_table *p, uintptr_t address) {
    struct vt_address_page *page = page_of(p, address >> 12);
    if (!page->page) {
        if (p->page_count >= p->page_room / 2) {
            if (!grow_pages(w, p))
                return NULL;
            page = page_of(p, address >> 12);
        }
        page->page = address >> 12;
        p->page_count++;
    }
    uint32_t *part = &page->parts[address >> 9 & 7];
    if (!*part) {
        if (p->part_count >= p->part_room)
            return NULL;
        *part = p->part_count++;
    }
    return entry_in(p, *part, address);
}
