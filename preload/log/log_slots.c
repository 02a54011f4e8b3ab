/* SPDX-License-Identifier: MIT */
/*
 * The slots in which pending records are announced: the first one is for snapshots, and each thread has one. Called by
 * log.c, log_chunks.c and snapshot/.
 */
#include "log_file.h"
#include "base/base.h"

static struct vt_log_slots *slots;   /* atomic: the newest chunk of slots; NULL: none */
static struct vt_log_slot *snapshot; /* atomic; NULL: none */

struct vt_log_slot *vt_log_slots_take(void) {
    struct vt_log_slots *s = vt_see(&slots);
    uint32_t i = s ? vt_add(&s->taken, 1) : VT_SLOTS;
    return i < VT_SLOTS ? &s->slot[vt_log_slot_place(i)] : NULL;
}

void vt_log_slots_add(struct vt_log_header *h, struct vt_log_slots *s) {
    bool first = !vt_see(&slots);
    s->magic = VT_SLOTS_MAGIC;
    do
        s->before = vt_see(&h->slots);
    while (!vt_claim(&h->slots, s->before, s->number));
    vt_publish(&slots, s);
    struct vt_log_slot *slot = first ? vt_log_slots_take() : NULL;
    if (slot) {
        vt_put(&slot->tid, VT_SLOT_OF_SNAPSHOT);
        vt_publish(&snapshot, slot);
    }
}

void vt_log_announce(uint64_t ticks) {
    struct vt_log_slot *slot = vt_see(&snapshot);
    if (slot && !vt_process_is_fresh_child())
        vt_publish(&slot->entered_at, ticks);
}

void vt_log_withdraw(void) {
    vt_log_announce(0);
}

void vt_log_slots_forked(void) {
    slots = NULL;
    snapshot = NULL;
}
