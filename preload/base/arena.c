/* SPDX-License-Identifier: MIT */
/*
 * Numbered items (see arena.h). Free items form a stack. Its head carries a change count, so that a
 * thread that was delayed between reading and replacing the head fails even when the same item is
 * on top again (the ABA problem).
 */
#include "arena.h"
#include "atomic.h"
#include "sys.h"

#include <stddef.h>
#include <sys/mman.h>

void *vt_arena_get(const struct vt_arena *arena, uint32_t number) {
    if (!number)
        return NULL;
    unsigned char *block = vt_see(&arena->blocks[(number - 1) / VT_ARENA_ITEMS]);
    return block ? block + (size_t)((number - 1) % VT_ARENA_ITEMS) * arena->bytes : NULL;
}

static bool block_make(struct vt_arena *arena, uint32_t block) {
    if (block >= VT_ARENA_BLOCKS)
        return false;
    if (vt_see(&arena->blocks[block]))
        return true;
    size_t bytes = (size_t)VT_ARENA_ITEMS * arena->bytes;
    unsigned char *fresh = vt_sys_mmap(bytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh && !vt_claim(&arena->blocks[block], NULL, fresh))
        vt_sys_munmap(fresh, bytes);
    return vt_see(&arena->blocks[block]) != NULL;
}

uint32_t vt_arena_take(struct vt_arena *arena) {
    uint64_t head = vt_see(&arena->free);
    while ((uint32_t)head) {
        const struct vt_item *item = vt_arena_get(arena, (uint32_t)head);
        uint64_t next = ((head >> 32) + 1) << 32 | vt_get(&item->next);
        if (vt_claim(&arena->free, head, next))
            return (uint32_t)head;
        head = vt_see(&arena->free);
    }
    uint32_t n = vt_get(&arena->used);
    do {
        n = vt_get(&arena->used);
        if (!block_make(arena, n / VT_ARENA_ITEMS))
            return 0;
    } while (!vt_claim(&arena->used, n, n + 1));
    return n + 1;
}

void vt_arena_give(struct vt_arena *arena, uint32_t number) {
    struct vt_item *item = vt_arena_get(arena, number);
    uint64_t head;
    do {
        head = vt_see(&arena->free);
        vt_put(&item->next, (uint32_t)head);
    } while (!vt_claim(&arena->free, head, ((head >> 32) + 1) << 32 | number));
}

void vt_arena_forget(struct vt_arena *arena) {
    vt_put(&arena->used, 0);
    vt_put(&arena->free, 0);
    for (uint32_t i = 0; i < VT_ARENA_BLOCKS; i++)
        vt_put(&arena->blocks[i], NULL);
}
