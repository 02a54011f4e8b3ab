/* SPDX-License-Identifier: MIT */
/*
 * A chunk's short records (see short_records.h). Every event of a log passes here, each time that its chunk is read.
 */
#include "short_records.h"

static_assert(sizeof(struct vt_rec_free) <= 4 * 8 && sizeof(struct vt_rec_alloc) <= 4 * 16 &&
                  sizeof(struct vt_rec_stack) <= 4 * sizeof(struct vt_rec_short_stack),
              "VT_LONG_CHUNK_BYTES; a frame of a stack becomes four times as long");

void vt_short_records_start(struct vt_short_records *records, const uint8_t *chunk, uint32_t end) {
    *records = (struct vt_short_records){
        .chunk = chunk, .end = end, .offset = sizeof(struct vt_chunk_header)};
}

static bool add_template(struct vt_short_records *records, const uint8_t *record, uint32_t length) {
    struct vt_rec_template r;
    uint64_t key;
    if (length < sizeof r)
        return false;
    memcpy(&r, record, sizeof r);
    if (r.slot >= VT_SHORT_SLOTS)
        return false;
    memcpy(&key, &r.device, sizeof key);
    records->templates[r.slot] = (struct vt_short_template){
        .word = vt_word(VT_REC_FREE, vt_short_kind(key), vt_short_hook(key), 0),
        .device = vt_when(vt_short_device(key), 0),
        .high = vt_address_key(vt_short_address(key, 0), vt_kind_space(vt_short_kind(key))),
        .context = vt_short_context(key) << 48};
    records->known |= (1u | 1u << VT_SHORT_SLOTS) << r.slot;
    return true;
}

static inline void put_word(uint8_t *out, unsigned index, uint64_t word) {
    memcpy(out + 8 * index, &word, sizeof word);
}

/* The ticks between the previous ALLOC or FREE and a short record. */
static inline uint64_t passed(uint64_t word, bool alloc) {
    return alloc ? word >> 32 : word >> 8 & ((1u << VT_SHORT_FREE_TICKS) - 1);
}

/* Turns a short record into an event; `t` is its template. */
static inline void expand_free(const struct vt_short_template *t, uint64_t ticks, uint64_t word,
                               struct vt_event *e) {
    e->word = t->word;
    e->when = t->device | ticks;
    e->key = t->high | word >> (8 + VT_SHORT_FREE_TICKS) << VT_SHORT_ALIGNED;
    e->note = 0;
}

static inline void expand_alloc(const struct vt_short_template *t, uint64_t ticks, uint64_t word,
                                uint64_t more, struct vt_event *e) {
    e->word = (t->word ^ (VT_REC_FREE ^ VT_REC_ALLOC)) | word >> 8 << 40 >> 8;
    e->when = t->device | ticks;
    e->key = t->high | (more & ((1ull << VT_SHORT_ADDRESS) - 1)) << VT_SHORT_ALIGNED;
    e->size_context = t->context | more >> VT_SHORT_ADDRESS;
}

/* Whether a record is short and has its template. */
static inline bool is_known(const struct vt_short_records *records, uint64_t word) {
    unsigned type = vt_word_type(word) - VT_REC_SHORT_FREE;
    return type < 32 && records->known >> type & 1;
}
static_assert(VT_REC_SHORT_ALLOC == VT_REC_SHORT_FREE + VT_SHORT_SLOTS && VT_SHORT_SLOTS == 16,
              "is_known");

static inline bool is_alloc(uint64_t word) {
    return (word & VT_SHORT_SLOTS) != 0;
}

/* The long form of a short stack. Returns its length; 0: the record is damaged. */
static uint32_t long_stack(struct vt_short_records *records, const uint8_t *record, uint32_t length,
                           uint8_t *out) {
    struct vt_rec_short_stack r;
    memcpy(&r, record, sizeof r);
    uint32_t at = vt_short_stack_head(r.frames), bytes = (uint32_t)sizeof r + 8u * r.frames;
    if (at > length || bytes > VT_RECORD_MAX_BYTES)
        return 0;
    for (uint32_t i = 0; i < r.frames; i++) {
        uint16_t index;
        memcpy(&index, record + sizeof r + 2 * (size_t)i, sizeof index);
        uint32_t place = index & (VT_SHORT_FRAME_NEW - 1u);
        if (place >= VT_SHORT_FRAMES)
            return 0;
        if (index & VT_SHORT_FRAME_NEW) {
            if (length - at < sizeof *records->frames)
                return 0;
            memcpy(&records->frames[place], record + at, sizeof *records->frames);
            at += sizeof *records->frames;
        } else if (!records->frames[place]) {
            return 0;
        }
        put_word(out, 2 + i, records->frames[place]);
    }
    r.word = vt_word(VT_REC_STACK, 0, 0, bytes);
    memcpy(out, &r, sizeof r);
    return bytes;
}
static_assert(sizeof(struct vt_rec_short_stack) == sizeof(struct vt_rec_stack) &&
                  offsetof(struct vt_rec_short_stack, flags) ==
                      offsetof(struct vt_rec_stack, flags),
              "long_stack");

uint32_t vt_short_records_next(struct vt_short_records *records, uint8_t *out) {
    const uint8_t *record = records->chunk + records->offset;
    uint32_t length = vt_log_next(records->chunk, records->offset, records->end, &records->what);
    uint32_t longer = 0;
    uint64_t word, more;
    if (!length)
        return 0;
    memcpy(&word, record, sizeof word);
    memcpy(&more, record + (length > 8 ? 8 : 0), sizeof more);
    unsigned type = vt_word_type(word), form = type & ~(VT_SHORT_SLOTS - 1u);
    const struct vt_short_template *t = &records->templates[type % VT_SHORT_SLOTS];
    if (form == VT_REC_SHORT_FREE || form == VT_REC_SHORT_ALLOC)
        records->what = t->word ? NULL : "a short record's template";
    else if (type == VT_REC_ALLOC || type == VT_REC_FREE)
        records->ticks = vt_when_ticks(more);
    else if (type == VT_REC_TEMPLATE && !add_template(records, record, length))
        records->what = "a template";
    else if (type == VT_REC_SHORT_STACK && !(longer = long_stack(records, record, length, out)))
        records->what = "a short stack";
    if (records->what)
        return 0;
    records->offset += length;
    if (longer)
        return longer;
    if (form == VT_REC_SHORT_FREE || form == VT_REC_SHORT_ALLOC) {
        bool alloc = form == VT_REC_SHORT_ALLOC;
        struct vt_event e;
        records->ticks = (records->ticks + passed(word, alloc)) & VT_TICKS_MASK;
        if (alloc)
            expand_alloc(t, records->ticks, word, more, &e);
        else
            expand_free(t, records->ticks, word, &e);
        put_word(out, 0, e.word);
        put_word(out, 1, e.when);
        put_word(out, 2, e.key & VT_ADDRESS_MASK);
        if (alloc)
            put_word(out, 3, e.size_context);
        return alloc ? sizeof(struct vt_rec_alloc) : sizeof(struct vt_rec_free);
    }
    memcpy(out, record, length);
    return length;
}

struct vt_event *vt_short_records_events(struct vt_short_records *records,
                                         struct vt_event *events) {
    const uint8_t *at = records->chunk + records->offset, *end = records->chunk + records->end;
    uint64_t ticks = records->ticks;
    while (end - at >= 16) {
        uint64_t word, more;
        memcpy(&word, at, sizeof word);
        if (!is_known(records, word))
            break;
        const struct vt_short_template *t = &records->templates[word % VT_SHORT_SLOTS];
        if (is_alloc(word)) {
            memcpy(&more, at + 8, sizeof more);
            ticks = (ticks + passed(word, true)) & VT_TICKS_MASK;
            expand_alloc(t, ticks, word, more, events++);
            at += 16;
        } else {
            ticks = (ticks + passed(word, false)) & VT_TICKS_MASK;
            expand_free(t, ticks, word, events++);
            at += 8;
        }
    }
    records->offset = (uint32_t)(at - records->chunk);
    records->ticks = ticks;
    return events;
}

/* Times only rise from record to record, except after damage, so the smallest and largest are searched only where
 * the order breaks. */
uint64_t vt_short_records_pass(struct vt_short_records *records, struct vt_short_span *to) {
    const uint8_t *at = records->chunk + records->offset, *end = records->chunk + records->end;
    struct vt_short_span span = *to;
    uint64_t ticks = records->ticks, first = UINT64_MAX;
    uint64_t last = span.count ? span.key : UINT64_MAX;
    while (end - at >= 16) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        if (!is_known(records, word))
            break;
        bool alloc = is_alloc(word);
        ticks = (ticks + passed(word, alloc)) & VT_TICKS_MASK;
        at += alloc ? 16 : 8;
        uint64_t key = ticks << 1 | alloc;
        if (key < last) {
            span.sorted &= !span.count;
            if (span.count && last >> 1 > span.last_ticks)
                span.last_ticks = last >> 1;
            if (ticks < span.first_ticks)
                span.first_ticks = ticks;
        }
        last = key;
        span.count++;
        if (first == UINT64_MAX)
            first = ticks;
    }
    if (span.count) {
        span.key = last;
        if (last >> 1 > span.last_ticks)
            span.last_ticks = last >> 1;
    }
    *to = span;
    records->offset = (uint32_t)(at - records->chunk);
    records->ticks = ticks;
    return first;
}

uint32_t vt_short_records_all(struct vt_short_records *records, uint8_t *out) {
    uint32_t head = records->offset, length;
    if (records->end < head) {
        memcpy(out, records->chunk, records->end);
        return records->end;
    }
    memcpy(out, records->chunk, head);
    uint8_t *at = out + head;
    do
        at += length = vt_short_records_next(records, at);
    while (length);
    return (uint32_t)(at - out);
}
