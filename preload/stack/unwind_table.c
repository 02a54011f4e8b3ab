/* SPDX-License-Identifier: MIT */
/*
 * The unwind tables (see unwind_table.h), as GNU's and LLVM's tools write them. For anything else there is no rule,
 * because a wrong rule would give a wrong stack.
 *
 * A table's entry has instructions that describe how the frame changes from address to address. We run them up to the
 * requested address.
 */
#include "unwind_table.h"

#include "machine/machine.h"

#include <string.h>

/* Numbers of registers. */
#define FP          VT_DWARF_FP
#define SP          VT_DWARF_SP
#define RA          VT_DWARF_RA
#define NO_REGISTER 255u
#define A_WORD      254u /* in place of a register: the word at FP + cfa_offset */

/* Operations of expressions. */
#define BREG_FP VT_DWARF_BREG_FP /* FP + an offset */
#define DEREF   0x06u

/* Encodings of pointers. */
#define PCREL_SDATA4 0x1bu
#define UDATA4       0x03u
#define TABLE_SDATA4 0x3bu

#define ENTRY_MOST 65536u /* bytes */
#define STATES     8u     /* states remembered at a time; compilers use one */

/* A sequence of bytes to read. Past its end, everything is 0 and `over` is set. */
struct bytes {
    vt_unwind_read *read;
    void *data;
    uintptr_t at, end;
    uintptr_t window; /* the address of the bytes in `here` */
    uint32_t held;
    bool over;
    uint8_t here[64];
};

/* The rule for the caller's frame, as far as the instructions were run. */
struct state {
    uint8_t cfa_register;
    bool fp_saved, ra_undefined;
    bool fp_by_fp; /* fp_offset is relative to FP itself */
    int64_t cfa_offset, fp_offset, ra_offset;
};

struct entry {
    uint64_t code_align;
    int64_t data_align;
    bool has_augmentation, is_signal;
    uintptr_t begin, range;
    struct bytes common, own; /* instructions */
};

/* Reading. */

static uint8_t byte(struct bytes *b) {
    if (b->at >= b->end) {
        b->over = true;
        return 0;
    }
    if (b->at - b->window >= b->held) {
        size_t n = b->end - b->at < sizeof b->here ? b->end - b->at : sizeof b->here;
        b->window = b->at;
        b->held = (uint32_t)n;
        if (!b->read(b->data, b->here, b->at, n)) {
            b->held = 0;
            b->end = b->at;
            b->over = true;
            return 0;
        }
    }
    return b->here[b->at++ - b->window];
}

static uint64_t fixed(struct bytes *b, unsigned size) {
    uint64_t v = 0;
    for (unsigned i = 0; i < size; i++)
        v |= (uint64_t)byte(b) << 8 * i;
    return v;
}

static uint64_t leb(struct bytes *b, bool is_signed) {
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t part;
    do {
        part = byte(b);
        if (shift < 64)
            v |= (uint64_t)(part & 0x7f) << shift;
        shift += 7;
    } while (part & 0x80);
    if (is_signed && shift < 64 && part & 0x40)
        v |= ~0ull << shift;
    return v;
}

static void skip(struct bytes *b, uint64_t n) {
    b->over |= n > b->end - b->at;
    b->at += n > b->end - b->at ? b->end - b->at : n;
}

/* Entries. */

/* Finds the entry for an address in the table of .eh_frame_hdr; 0: none. */
static uintptr_t entry_of(vt_unwind_read *read, void *data, uintptr_t table, uintptr_t pc) {
    struct {
        uint8_t version, pointer, count, table;
        int32_t frame;
        uint32_t entries;
    } head;
    struct {
        int32_t code, entry;
    } row;
    if (!read(data, &head, table, sizeof head) || head.version != 1 ||
        head.pointer != PCREL_SDATA4 || head.count != UDATA4 || head.table != TABLE_SDATA4)
        return 0;
    uintptr_t rows = table + sizeof head;
    uint32_t low = 0, high = head.entries; /* for the last entry not after the address */
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (!read(data, &row, rows + (uint64_t)middle * sizeof row, sizeof row))
            return 0;
        if (table + (uintptr_t)(intptr_t)row.code <= pc)
            low = middle;
        else
            high = middle;
    }
    if (!head.entries || !read(data, &row, rows + (uint64_t)low * sizeof row, sizeof row))
        return 0;
    return table + (uintptr_t)(intptr_t)row.entry;
}

/* Opens an entry's bytes, after its length. False: too few or too many. */
static bool open_entry(vt_unwind_read *read, void *data, uintptr_t at, struct bytes *b) {
    uint32_t length;
    if (!read(data, &length, at, sizeof length) || length < 8 || length > ENTRY_MOST)
        return false;
    *b = (struct bytes){.read = read, .data = data, .at = at + 4, .end = at + 4 + length};
    return true;
}

/* The size of a pointer to a function that unwinding calls; 0: unknown encoding. */
static unsigned pointer_bytes(uint64_t encoding) {
    static const uint8_t bytes[16] = {
        [0] = 8, [2] = 2, [3] = 4, [4] = 8, [10] = 2, [11] = 4, [12] = 8};
    return bytes[encoding & 0xf];
}

/* Reads the data that augmentation letters announce. False: unknown letter. */
static bool read_augmentation(struct entry *e, struct bytes b, const char *letters) {
    for (const char *a = letters; *a; a++) {
        uint64_t encoding;
        switch (*a) {
        case 'S':
            e->is_signal = true;
            break;
        case 'B':
            break;
        case 'L':
            byte(&b);
            break;
        case 'R':
            if (byte(&b) != PCREL_SDATA4)
                return false;
            break;
        case 'P':
            encoding = byte(&b);
            if (!pointer_bytes(encoding))
                return false;
            skip(&b, pointer_bytes(encoding));
            break;
        default:
            return false;
        }
    }
    return !b.over;
}

/* Reads the common entry, which the entries of one compiler share. */
static bool read_common(struct entry *e, struct bytes b) {
    char letters[8];
    unsigned count = 0;
    uint64_t id = fixed(&b, 4), version = fixed(&b, 1);
    do
        letters[count] = (char)byte(&b);
    while (letters[count] && ++count < sizeof letters);
    if (id || (version != 1 && version != 3) || count == sizeof letters ||
        (count && letters[0] != 'z'))
        return false;
    e->code_align = leb(&b, false);
    e->data_align = (int64_t)leb(&b, true);
    if ((version == 1 ? byte(&b) : leb(&b, false)) != RA)
        return false;
    e->has_augmentation = count;
    if (count) {
        uint64_t length = leb(&b, false);
        struct bytes data = b;
        skip(&b, length);
        if (!read_augmentation(e, data, letters + 1))
            return false;
    }
    e->common = b;
    return !b.over;
}

/* `*none`: the table is valid, but has no entry for `pc`. */
static bool find_entry(vt_unwind_read *read, void *data, uintptr_t table, uintptr_t pc,
                       struct entry *e, bool *none) {
    uintptr_t at = entry_of(read, data, table, pc);
    struct bytes common;
    *none = false;
    if (!at || !open_entry(read, data, at, &e->own))
        return false;
    uint32_t back = (uint32_t)fixed(&e->own, 4);
    if (!back || !open_entry(read, data, at + 4 - back, &common) || !read_common(e, common))
        return false;
    e->begin = at + 8 + (uintptr_t)(intptr_t)(int32_t)fixed(&e->own, 4);
    e->range = fixed(&e->own, 4);
    if (e->has_augmentation)
        skip(&e->own, leb(&e->own, false));
    *none = !e->own.over && pc - e->begin >= e->range;
    return !e->own.over && !*none;
}

/* Instructions. */

static void saved_at(struct state *s, uint64_t reg, int64_t offset) {
    if (reg == FP) {
        s->fp_saved = true;
        s->fp_by_fp = false;
        s->fp_offset = offset;
    } else if (reg == RA) {
        s->ra_undefined = false;
        s->ra_offset = offset;
    }
}

static void restore(struct state *s, uint64_t reg, const struct state *first) {
    if (reg == FP) {
        s->fp_saved = first->fp_saved;
        s->fp_by_fp = first->fp_by_fp;
        s->fp_offset = first->fp_offset;
    } else if (reg == RA) {
        s->ra_undefined = first->ra_undefined;
        s->ra_offset = first->ra_offset;
    }
}

/* Skips an expression. Returns whether it is FP + *offset or, with `deref`, the word at that address. */
static bool is_from_fp(struct bytes *b, bool deref, int64_t *offset) {
    uint64_t length = leb(b, false);
    struct bytes e = *b;
    skip(b, length);
    e.end = b->at;
    bool so = byte(&e) == BREG_FP;
    *offset = (int64_t)leb(&e, true);
    return so && (!deref || byte(&e) == DEREF) && e.at == e.end && !e.over;
}

/* Runs an instruction about one register. False: an unknown instruction about a register that we need. */
static bool run_register(struct bytes *b, unsigned op, struct state *s, const struct state *first,
                         int64_t data_align) {
    uint64_t reg = leb(b, false);
    switch (op) {
    case 0x05: /* offset_extended */
        saved_at(s, reg, (int64_t)leb(b, false) * data_align);
        return true;
    case 0x11: /* offset_extended_sf */
        saved_at(s, reg, (int64_t)leb(b, true) * data_align);
        return true;
    case 0x06: /* restore_extended */
        restore(s, reg, first);
        return true;
    case 0x07: /* undefined; if it is the return address, the stack ends */
        s->ra_undefined |= reg == RA;
        return reg != FP;
    case 0x08: /* same_value */
        if (reg == FP)
            s->fp_saved = false;
        if (!VT_RETURN_AT_CFA && reg == RA)
            s->ra_offset = 0;
        return !VT_RETURN_AT_CFA || reg != RA;
    case 0x10: /* expression */
        if (reg == FP) {
            s->fp_saved = s->fp_by_fp = true;
            return is_from_fp(b, false, &s->fp_offset);
        }
        skip(b, leb(b, false));
        return reg != RA;
    case 0x16: /* val_expression */
        skip(b, leb(b, false));
        return reg != FP && reg != RA;
    case 0x09: /* register */
        leb(b, false);
        return reg != FP && reg != RA;
    default: /* val_offset, val_offset_sf */
        leb(b, false);
        return reg != FP && reg != RA;
    }
}

/* Runs instructions until `pc`. False: an instruction is unknown. */
static bool run(const struct entry *e, struct bytes b, uintptr_t pc, struct state *s,
                const struct state *first) {
    struct state kept[STATES];
    unsigned depth = 0;
    uintptr_t at = e->begin;
    while (b.at < b.end && !b.over && at <= pc) {
        uint8_t op = byte(&b), low = op & 0x3f;
        if (op >> 6 == 1) /* advance_loc */
            at += low * e->code_align;
        else if (op >> 6 == 2) /* offset */
            saved_at(s, low, (int64_t)leb(&b, false) * e->data_align);
        else if (op >> 6 == 3) /* restore */
            restore(s, low, first);
        else
            switch (op) {
            case 0x00: /* nop */
                break;
            case 0x02: /* advance_loc1, 2, 4 */
            case 0x03:
            case 0x04:
                at += fixed(&b, 1u << (op - 2)) * e->code_align;
                break;
            case 0x0a: /* remember_state */
                if (depth == STATES)
                    return false;
                kept[depth++] = *s;
                break;
            case 0x0b: /* restore_state */
                if (!depth)
                    return false;
                *s = kept[--depth];
                break;
            case 0x0c: /* def_cfa */
                s->cfa_register = (uint8_t)leb(&b, false);
                s->cfa_offset = (int64_t)leb(&b, false);
                break;
            case 0x0d: /* def_cfa_register */
                s->cfa_register = (uint8_t)leb(&b, false);
                break;
            case 0x0e: /* def_cfa_offset */
                s->cfa_offset = (int64_t)leb(&b, false);
                break;
            case 0x12: /* def_cfa_sf */
                s->cfa_register = (uint8_t)leb(&b, false);
                s->cfa_offset = (int64_t)leb(&b, true) * e->data_align;
                break;
            case 0x13: /* def_cfa_offset_sf */
                s->cfa_offset = (int64_t)leb(&b, true) * e->data_align;
                break;
            case 0x0f: /* def_cfa_expression */
                s->cfa_register = is_from_fp(&b, true, &s->cfa_offset) ? A_WORD : NO_REGISTER;
                break;
            case 0x2d: /* AARCH64_negate_ra_state: vt_machine_return() does not need it */
                if (VT_RETURN_AT_CFA)
                    return false;
                break;
            case 0x2e: /* GNU_args_size */
                leb(&b, false);
                break;
            case 0x05:
            case 0x06:
            case 0x07:
            case 0x08:
            case 0x09:
            case 0x10:
            case 0x11:
            case 0x14:
            case 0x15:
            case 0x16:
                if (!run_register(&b, op, s, first, e->data_align))
                    return false;
                break;
            default:
                return false;
            }
    }
    return !b.over;
}

struct vt_unwind_rule vt_unwind_rule_at(vt_unwind_read *read, void *data, uintptr_t table,
                                        uintptr_t pc) {
    struct vt_unwind_rule rule = {.kind = VT_UNWIND_UNKNOWN};
    struct entry e = {.code_align = 0};
    struct state first = {.cfa_register = NO_REGISTER};
    bool none;
    if (!find_entry(read, data, table, pc, &e, &none)) {
        rule.kind = none ? VT_UNWIND_NONE : VT_UNWIND_UNKNOWN;
        return rule;
    }
    if (e.is_signal) {
        rule.kind = VT_UNWIND_SIGNAL;
        return rule;
    }
    if (!run(&e, e.common, UINTPTR_MAX, &first, &first))
        return rule;
    struct state s = first;
    if (!run(&e, e.own, pc, &s, &first))
        return rule;
    if (s.ra_undefined) {
        rule.kind = VT_UNWIND_END;
        return rule;
    }
    if ((VT_RETURN_AT_CFA ? s.ra_offset != -8 : s.cfa_register == A_WORD) ||
        (s.cfa_register != SP && s.cfa_register != FP && s.cfa_register != A_WORD) ||
        s.fp_by_fp != (s.cfa_register == A_WORD))
        return rule;
    rule.kind = s.cfa_register == SP   ? VT_UNWIND_BY_SP
                : s.cfa_register == FP ? VT_UNWIND_BY_FP
                                       : VT_UNWIND_BY_WORD;
    rule.cfa_offset = s.cfa_offset;
    rule.fp_saved = s.fp_saved;
    rule.fp_offset = s.fp_offset;
    rule.ra_offset = s.ra_offset;
    return rule;
}
