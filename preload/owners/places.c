/* SPDX-License-Identifier: MIT */
/*
 * The table of the objects that were reached, by address (see places.h).
 */
#include "owners.h"
#include "memory/memory.h"

#define PAGES_FIRST 1024u

bool vt_owners_places_open(struct vt_owners *w, struct vt_owners_places *p, size_t bytes) {
    *p = (struct vt_owners_places){.part_count = 1,
                                   .part_room = (uint32_t)(bytes / sizeof *p->parts),
                                   .page_room = PAGES_FIRST};
    p->parts = vt_owners_map(w, bytes);
    p->pages = vt_owners_map(w, p->page_room * sizeof *p->pages);
    return p->parts && p->pages;
}

static struct vt_owners_page *page_of(const struct vt_owners_places *p, uintptr_t page) {
    uint32_t mask = p->page_room - 1, i = (uint32_t)(page * 0x9e3779b97f4a7c15ull >> 32) & mask;
    while (p->pages[i].page && p->pages[i].page != page)
        i = (i + 1) & mask;
    return &p->pages[i];
}

/* Called when the table is half full. */
static bool grow_pages(struct vt_owners *w, struct vt_owners_places *p) {
    struct vt_owners_places grown = *p;
    grown.page_room *= 2;
    grown.pages = vt_owners_map(w, grown.page_room * sizeof *grown.pages);
    if (!grown.pages)
        return false;
    for (uint32_t i = 0; i < p->page_room; i++)
        if (p->pages[i].page)
            *page_of(&grown, p->pages[i].page) = p->pages[i];
    vt_taken_give_back(&w->taken, p->pages);
    *p = grown;
    return true;
}

static uint32_t *place_in(const struct vt_owners_places *p, uint32_t part, uintptr_t address) {
    return &p->parts[part][address / VT_OWNERS_PLACE % (512 / VT_OWNERS_PLACE)];
}

uint32_t *vt_owners_place_at(const struct vt_owners_places *p, uintptr_t address) {
    uint32_t part = page_of(p, address >> 12)->parts[address >> 9 & 7];
    return part ? place_in(p, part, address) : NULL;
}

uint32_t *vt_owners_place_for(struct vt_owners *w, struct vt_owners_places *p, uintptr_t address) {
    struct vt_owners_page *page = page_of(p, address >> 12);
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
    return place_in(p, *part, address);
}
