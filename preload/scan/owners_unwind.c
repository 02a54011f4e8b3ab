/* SPDX-License-Identifier: MIT */
/*
 * The frames of a thread that stands still, from its memory alone: libunwind can be asked for the
 * calling thread's only, and a process cannot read its threads' registers. Of a thread that waits,
 * the kernel tells where it is and its stack pointer. Most functions need no more; where the frame
 * pointer is needed, a function that was called may have saved it. Else the frames end there, and
 * the rest of the stack has no names.
 *
 * Reads .eh_frame_hdr and .eh_frame as GNU's tools write them; what is not so ends the frames.
 *
 * Called by owners_native.c.
 */
#define _GNU_SOURCE
#include "owners_parts.h"
#include "scan_parts.h"

#include <string.h>

#define RBP          6u
#define RSP          7u
#define NO_REGISTER  255u
#define CODE_MOST    4096u /* of an entry; longer ones are cut, and end the frames */
#define STATES       8u
#define PCREL_SDATA4 0x1bu
#define UDATA4       0x03u
#define TABLE_SDATA4 0x3bu

/* Bytes that are read one after the other. Past their end, everything is 0 and `over` is set. */
struct bytes {
    const uint8_t *at, *end;
    bool over;
};

/* How to find the caller's frame: the CFA, and where rbp is. */
struct state {
    uint8_t cfa_register;
    int64_t cfa_offset;
    bool rbp_saved;
    int64_t rbp_offset; /* from the CFA */
};

struct entry {
    uint64_t code_align;
    int64_t data_align;
    bool has_augmentation, is_signal;
    uintptr_t begin, range;
    struct bytes common, own; /* instructions */
};

static uint64_t fixed(struct bytes *b, unsigned size) {
    uint64_t v = 0;
    if ((size_t)(b->end - b->at) < size) {
        b->over = true;
        b->at = b->end;
        return 0;
    }
    memcpy(&v, b->at, size);
    b->at += size;
    return v;
}

static uint64_t leb(struct bytes *b, bool is_signed) {
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = (uint8_t)fixed(b, 1);
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (is_signed && shift < 64 && byte & 0x40)
        v |= ~0ull << shift;
    return v;
}

static void skip(struct bytes *b, uint64_t n) {
    if (n > (uint64_t)(b->end - b->at)) {
        b->over = true;
        n = (uint64_t)(b->end - b->at);
    }
    b->at += n;
}

/* The entry for an address by the table of .eh_frame_hdr; 0: none. */
static uintptr_t entry_of(struct vt_owners *w, uintptr_t table, uintptr_t pc) {
    struct {
        uint8_t version, pointer, count, table;
        int32_t frame;
        uint32_t entries;
    } head;
    struct {
        int32_t code, entry;
    } row;
    if (!vt_owners_read(w, &head, table, sizeof head) || head.version != 1 ||
        head.pointer != PCREL_SDATA4 || head.count != UDATA4 || head.table != TABLE_SDATA4)
        return 0;
    uint32_t low = 0, high = head.entries; /* the last one that begins at or before the address */
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (!vt_owners_read(w, &row, table + sizeof head + (uint64_t)middle * sizeof row,
                            sizeof row))
            return 0;
        if (table + (uintptr_t)(intptr_t)row.code <= pc)
            low = middle;
        else
            high = middle;
    }
    if (!head.entries ||
        !vt_owners_read(w, &row, table + sizeof head + (uint64_t)low * sizeof row, sizeof row))
        return 0;
    return table + (uintptr_t)(intptr_t)row.entry;
}

/* Reads an entry's length and what follows. */
static bool read_entry(struct vt_owners *w, uintptr_t at, uint8_t *to, struct bytes *b) {
    uint32_t length;
    if (!vt_owners_read(w, &length, at, sizeof length) || length < 8 || length > CODE_MOST ||
        !vt_owners_read(w, to, at + 4, length))
        return false;
    *b = (struct bytes){to, to + length, false};
    return true;
}

/* The common entry: what all entries of one compiler share. */
static bool read_common(struct entry *e, struct bytes b) {
    uint64_t id = fixed(&b, 4), version = fixed(&b, 1);
    const char *augmentation = (const char *)b.at;
    const void *end = memchr(b.at, 0, (size_t)(b.end - b.at));
    if (id || (version != 1 && version != 3) || !end)
        return false;
    b.at = (const uint8_t *)end + 1;
    e->code_align = leb(&b, false);
    e->data_align = (int64_t)leb(&b, true);
    if (version == 1)
        skip(&b, 1);
    else
        leb(&b, false);
    e->has_augmentation = augmentation[0] == 'z';
    if (e->has_augmentation) {
        struct bytes data = b;
        uint64_t length = leb(&b, false);
        leb(&data, false);
        skip(&b, length);
        for (const char *a = augmentation + 1; *a; a++) {
            uint64_t encoding = *a == 'S' || *a == 'B' ? 0 : fixed(&data, 1);
            if (*a == 'R' && encoding != PCREL_SDATA4)
                return false;
            if (*a == 'P')
                skip(&data, (encoding & 0xf) == 0 || (encoding & 0xf) == 4    ? 8
                            : (encoding & 0xf) == 3 || (encoding & 0xf) == 11 ? 4
                                                                              : 2);
            e->is_signal |= *a == 'S';
        }
        b.over |= data.over;
    }
    e->common = b;
    return !b.over;
}

static bool find_entry(struct vt_owners *w, uintptr_t table, uintptr_t pc, struct entry *e,
                       uint8_t space[2][CODE_MOST]) {
    uintptr_t at = entry_of(w, table, pc);
    struct bytes own, common;
    if (!at || !read_entry(w, at, space[0], &own))
        return false;
    uint32_t back = (uint32_t)fixed(&own, 4);
    if (!back || !read_entry(w, at + 4 - back, space[1], &common) || !read_common(e, common))
        return false;
    e->begin = at + 8 + (uintptr_t)(intptr_t)(int32_t)fixed(&own, 4);
    e->range = fixed(&own, 4);
    if (e->has_augmentation)
        skip(&own, leb(&own, false));
    e->own = own;
    return !own.over && pc - e->begin < e->range;
}

static void set_offset(struct state *s, uint64_t reg, int64_t offset) {
    if (reg != RBP)
        return;
    s->rbp_saved = true;
    s->rbp_offset = offset;
}

/* Runs instructions until `pc`. False: something is not known. */
static bool run(const struct entry *e, struct bytes b, uintptr_t pc, struct state *s,
                const struct state *first) {
    struct state kept[STATES];
    unsigned depth = 0;
    uintptr_t at = e->begin;
    while (b.at < b.end && !b.over) {
        uint8_t op = (uint8_t)fixed(&b, 1), low = op & 0x3f;
        uint64_t reg;
        switch (op >> 6) {
        case 1: /* advance_loc */
            at += low * e->code_align;
            break;
        case 2: /* offset */
            set_offset(s, low, (int64_t)leb(&b, false) * e->data_align);
            continue;
        case 3: /* restore */
            if (low == RBP)
                s->rbp_saved = first->rbp_saved;
            continue;
        default:
            switch (op) {
            case 0x00: /* nop */
                continue;
            case 0x02: /* advance_loc1, 2, 4 */
            case 0x03:
            case 0x04:
                at += fixed(&b, 1u << (op - 2)) * e->code_align;
                break;
            case 0x05: /* offset_extended */
                reg = leb(&b, false);
                set_offset(s, reg, (int64_t)leb(&b, false) * e->data_align);
                continue;
            case 0x06: /* restore_extended, undefined, same_value */
            case 0x07:
            case 0x08:
                if (leb(&b, false) == RBP)
                    s->rbp_saved = false;
                continue;
            case 0x0a: /* remember_state */
                if (depth == STATES)
                    return false;
                kept[depth++] = *s;
                continue;
            case 0x0b: /* restore_state */
                if (!depth)
                    return false;
                *s = kept[--depth];
                continue;
            case 0x0c: /* def_cfa */
                s->cfa_register = (uint8_t)leb(&b, false);
                s->cfa_offset = (int64_t)leb(&b, false);
                continue;
            case 0x0d: /* def_cfa_register */
                s->cfa_register = (uint8_t)leb(&b, false);
                continue;
            case 0x0e: /* def_cfa_offset */
                s->cfa_offset = (int64_t)leb(&b, false);
                continue;
            case 0x0f: /* def_cfa_expression */
                s->cfa_register = NO_REGISTER;
                skip(&b, leb(&b, false));
                continue;
            case 0x10: /* expression */
                if (leb(&b, false) == RBP)
                    return false;
                skip(&b, leb(&b, false));
                continue;
            case 0x2e: /* GNU_args_size */
                leb(&b, false);
                continue;
            default:
                return false;
            }
        }
        if (at > pc)
            return true;
    }
    return !b.over;
}

uint32_t vt_owners_unwind(struct vt_owners *w, const struct vt_scan *scan, struct vt_registers here,
                          struct vt_stack_frame *frames, uint32_t most) {
    uint32_t count = 0;
    uint8_t(*space)[CODE_MOST] = (void *)w->native_space;
    while (count < most) {
        uintptr_t pc = here.pc - (count > 0), cfa, back;
        const struct vt_module_code *m =
            vt_scan_around(scan->code, scan->code_count, sizeof *scan->code, pc);
        struct entry e = {.code_align = 0};
        struct state first = {.cfa_register = NO_REGISTER}, s;
        if (!m || !m->unwind || !find_entry(w, m->unwind, pc, &e, space) || e.is_signal ||
            !run(&e, e.common, UINTPTR_MAX, &first, &first))
            return count;
        s = first;
        if (!run(&e, e.own, pc, &s, &first) ||
            !(s.cfa_register == RSP || (s.cfa_register == RBP && here.rbp_known)))
            return count;
        cfa = (s.cfa_register == RSP ? here.sp : here.rbp) + (uintptr_t)s.cfa_offset;
        back = vt_owners_word(w, cfa - 8);
        if (cfa <= here.sp || cfa & 7)
            return count;
        frames[count++] =
            (struct vt_stack_frame){.start = here.sp, .end = cfa - 8, .pc = here.pc, .code = m};
        if (s.rbp_saved) {
            here.rbp = vt_owners_word(w, cfa + (uintptr_t)s.rbp_offset);
            here.rbp_known = true;
        }
        here.sp = cfa;
        here.pc = back;
        if (!back)
            return count;
    }
    return count;
}
