/* SPDX-License-Identifier: MIT */
/*
 * Writes ALLOC, FREE and STACK records, in the short form if they fit (include/vramtrace/log_short.h). In a loop, an
 * ALLOC and its FREE take 24 bytes instead of 56.
 *
 * The short form depends on earlier records of the chunk. Their state is in vt_thread.shorts, which moves from thread
 * to thread with the chunk. A signal handler may jump out of this code at any instruction. Then we do not know whether
 * the thread's last record was written, so the next one is long.
 *
 * Called by event.c, stack/ and instrument/.
 */
#include "log_file.h"
#include "base/base.h"

#include <string.h>

/* Writes a template at `record`; it replaces the one in the slot `next`. */
static __attribute__((noinline)) unsigned new_template(struct vt_thread *t, uint64_t *record,
                                                       uint64_t key) {
    struct vt_log_short *s = &t->shorts;
    unsigned slot = s->next++ % VT_SHORT_SLOTS;
    vt_put(&s->keys[slot], VT_SHORT_NO_KEY); /* until the template is written, in case of a jump */
    record[1] = key;
    record[2] = slot;
    vt_log_commit(t, record, vt_word(VT_REC_TEMPLATE, 0, 0, sizeof(struct vt_rec_template)),
                  sizeof(struct vt_rec_template));
    vt_publish(&s->keys[slot], key);
    return slot;
}

/* The slot of a key. If there is no template yet, writes one first and moves *record behind it. */
static inline unsigned slot_of(struct vt_thread *t, uint64_t **record, uint64_t key,
                               uint8_t *guess) {
    struct vt_log_short *s = &t->shorts;
    if (VT_LIKELY(s->keys[*guess] == key))
        return *guess;
    unsigned slot = 0;
    while (slot < VT_SHORT_SLOTS && s->keys[slot] != key)
        slot++;
    if (slot == VT_SHORT_SLOTS) {
        slot = new_template(t, *record, key);
        *record += sizeof(struct vt_rec_template) / 8;
    }
    return *guess = (uint8_t)slot;
}

/* Reserves space for a template and any record, so that both are in one chunk. */
static inline uint64_t *reserve(struct vt_thread *t) {
    enum { MOST = sizeof(struct vt_rec_template) + sizeof(struct vt_rec_alloc) };
    if (VT_UNLIKELY(!t->chunk || !t->named || t->orphan || vt_process_is_fresh_child() ||
                    t->used + MOST + 8 > t->event_room))
        return vt_log_reserve(t, MOST);
    return (uint64_t *)((char *)t->chunk + t->used);
}

/* Publishes a record. */
static inline void commit(struct vt_thread *t, uint64_t *record, uint64_t word, uint32_t bytes,
                          uint64_t ticks) {
    struct vt_log_short *s = &t->shorts;
    vt_put(&s->unsure, true);
    vt_log_commit(t, record, word, bytes);
    vt_publish(&s->ticks, ticks);
    vt_publish(&s->unsure, false);
}

/* Whether a short record can represent the address. */
static inline bool fits(const struct vt_log_short *s, uint64_t address) {
    return !(address >> (VT_SHORT_WINDOW + 16) | (address & ((1u << VT_SHORT_ALIGNED) - 1)) |
             s->unsure);
}

static inline uint64_t address_bits(uint64_t address) {
    return address >> VT_SHORT_ALIGNED & ((1ull << VT_SHORT_ADDRESS) - 1);
}

VT_HOT bool vt_log_alloc(struct vt_thread *t, const struct vt_rec_alloc *a) {
    uint64_t *record = reserve(t);
    if (VT_UNLIKELY(!record))
        return false;
    struct vt_log_short *s = &t->shorts;
    uint64_t ticks = vt_when_ticks(a->when), since = ticks - s->ticks;
    uint64_t size = a->size_context & VT_SIZE_MASK;
    uint32_t stack = vt_word_high(a->word);
    if (VT_UNLIKELY(since >> 32 | stack >> VT_SHORT_STACK | size >> VT_SHORT_SIZE) ||
        !fits(s, a->address)) {
        record[1] = a->when;
        record[2] = a->address;
        record[3] = a->size_context;
        commit(t, record, a->word, sizeof *a, ticks);
        return true;
    }
    uint64_t key = vt_short_key(a->word, a->when, a->size_context >> 48, a->address);
    unsigned slot = slot_of(t, &record, key, &s->guess[0]);
    record[1] = size << VT_SHORT_ADDRESS | address_bits(a->address);
    commit(t, record, since << 32 | (uint64_t)stack << 8 | VT_REC_SHORT_ALLOC | slot, 16, ticks);
    return true;
}

VT_HOT void vt_log_free(struct vt_thread *t, const struct vt_rec_free *f) {
    uint64_t *record = reserve(t);
    if (VT_UNLIKELY(!record))
        return;
    struct vt_log_short *s = &t->shorts;
    uint64_t ticks = vt_when_ticks(f->when), since = ticks - s->ticks;
    if (VT_UNLIKELY(since >> VT_SHORT_FREE_TICKS | vt_word_high(f->word)) || !fits(s, f->address)) {
        record[1] = f->when;
        record[2] = f->address;
        commit(t, record, f->word, sizeof *f, ticks);
        return;
    }
    uint64_t key = vt_short_key(f->word, f->when, 0, f->address);
    unsigned slot = slot_of(t, &record, key, &s->guess[1]);
    commit(t, record,
           address_bits(f->address) << (8 + VT_SHORT_FREE_TICKS) | since << 8 | VT_REC_SHORT_FREE |
               slot,
           8, ticks);
}

/* Writes the indices and the new words. Returns the record's length. */
static uint32_t write_frames(struct vt_log_short *s, void *record, const uint64_t *frames,
                             uint32_t count) {
    uint32_t head = vt_short_stack_head(count);
    uint16_t *indices = (uint16_t *)((char *)record + sizeof(struct vt_rec_short_stack));
    uint64_t *fresh = (uint64_t *)((char *)record + head);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)(frames[i] * 0x9e3779b97f4a7c15ull >> 54);
        indices[i] = (uint16_t)at;
        if (VT_LIKELY(s->frames[at] == frames[i] && frames[i]))
            continue;
        indices[i] |= VT_SHORT_FRAME_NEW;
        s->frames[at] = *fresh++ = frames[i];
    }
    return (uint32_t)((char *)fresh - (char *)record);
}
static_assert(VT_SHORT_FRAMES == 1u << (64 - 54), "write_frames");

bool vt_log_stack(struct vt_thread *t, uint32_t number, unsigned flags, const uint64_t *frames,
                  uint32_t count) {
    struct vt_log_short *s = &t->shorts;
    uint32_t bytes = (uint32_t)sizeof(struct vt_rec_stack) + 8 * count;
    uint32_t most = vt_short_stack_head(count) + 8 * count; /* if no frame is in the table */
    bool is_short = most <= VT_RECORD_MAX_BYTES;
    struct vt_rec_short_stack *r =
        (void *)vt_log_reserve_entry(t, is_short ? most : bytes); /* has STACK's fields */
    if (!r)
        return false;
    if (is_short) {
        if (s->frames_unsure)
            memset(s->frames, 0, sizeof s->frames);
        vt_publish(&s->frames_unsure, true);
        bytes = write_frames(s, r, frames, count);
    } else {
        memcpy(r + 1, frames, 8 * (size_t)count);
    }
    r->number = number;
    r->frames = (uint16_t)count;
    r->flags = (uint16_t)flags;
    vt_log_commit(t, &r->word, vt_word(is_short ? VT_REC_SHORT_STACK : VT_REC_STACK, 0, 0, bytes),
                  bytes);
    if (is_short)
        vt_publish(&s->frames_unsure, false);
    return true;
}
