/* SPDX-License-Identifier: MIT */
/*
 * Segments, blocks and idle pieces against books that are kept the slow way: a random allocator on
 * plain and mapped memory; blocks that lie nowhere, over each other, across mappings; memory that
 * goes under its blocks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "replay/segments.h"

enum { SEGMENTS = 24, SEGMENT = 4096, UNIT = 64, SLOTS = SEGMENT / UNIT, STEPS = 40000 };

/* The slow books: for each unit of each segment, which block it is part of. */
struct model {
    bool there[SEGMENTS], holds[SEGMENTS];
    unsigned block[SEGMENTS][SLOTS]; /* 0: idle; else 1 + the unit at which the block begins */
    unsigned lost;
};

/* Counts driver memory that becomes segments. */
static void begun(void *context, const struct vt_segment *segment) {
    assert_true(segment->holds);
    ++*(unsigned *)context;
}

static uint64_t base_of(unsigned segment) {
    return 0x700000000000ull + (uint64_t)segment * SEGMENT; /* they touch each other */
}

static void lose(void *context, uint64_t address) {
    struct model *m = context;
    uint64_t at = address - base_of(0);
    unsigned s = (unsigned)(at / SEGMENT), u = (unsigned)(at % SEGMENT / UNIT);
    assert_int_equal(m->block[s][u], u + 1);
    for (unsigned i = u; i < SLOTS && m->block[s][i] == u + 1; i++)
        m->block[s][i] = 0;
    m->lost++;
}

static void compare(struct vt_segments *f, const struct model *m) {
    uint64_t reserved = 0, in_use = 0, largest = 0, pinned = 0;
    for (unsigned s = 0; s < SEGMENTS; s++) {
        uint64_t used = 0, run = 0;
        if (!m->there[s] || !m->holds[s])
            continue;
        for (unsigned u = 0; u < SLOTS; u++) {
            used += m->block[s][u] ? UNIT : 0;
            run = m->block[s][u] ? 0 : run + UNIT;
            largest = run > largest ? run : largest;
        }
        reserved += SEGMENT;
        in_use += used;
        pinned += used ? SEGMENT - used : 0;
    }
    const struct vt_reserve_device *d = vt_segments_device(f, 3);
    if (!d) {
        assert_int_equal(reserved, 0);
        return;
    }
    assert_int_equal(d->now.reserved_bytes, reserved);
    assert_int_equal(d->now.in_use_bytes, in_use);
    assert_int_equal(d->now.largest_free_bytes, largest);
    assert_int_equal(d->now.pinned_bytes, pinned);
}

static void reload(struct vt_segments **f) {
    struct vt_state s;
    VT_SCOPED_STRING message = {0};
    vt_state_save(&s, NULL);
    vt_segments_state(f, &s);
    assert_int_equal(vt_state_end(&s, "memory", &message), 0);
    VT_SCOPED uint8_t *saved = s.saved;
    vt_state_load(&s, saved, s.length);
    vt_segments_state(f, &s);
    assert_int_equal(vt_state_end(&s, "memory", &message), 0);
}

static void random_allocator(void **state) {
    struct vt_segments *f = vt_segments_open();
    static struct model m;
    uint64_t random = 88172645463325252ull;
    unsigned gone = 0;
    (void)state;
    for (unsigned step = 0; step < STEPS; step++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        unsigned s = (unsigned)(random >> 8) % SEGMENTS, u = (unsigned)(random >> 20) % SLOTS;
        unsigned n = 1 + (unsigned)(random >> 32) % 6;
        if (!m.there[s]) {
            vt_segments_add(f, base_of(s), SEGMENT, s + 1, 3, false, step + 1);
            m.there[s] = true;
            m.holds[s] = false;
        } else if (random % 97 == 0) {
            unsigned before = m.lost;
            vt_segments_remove(f, base_of(s), step + 1, lose, &m);
            gone += m.lost - before;
            for (unsigned i = 0; i < SLOTS; i++)
                assert_int_equal(m.block[s][i], 0);
            m.there[s] = false;
        } else if (m.block[s][u]) {
            unsigned start = m.block[s][u] - 1;
            vt_segments_free(f, base_of(s) + (uint64_t)start * UNIT, step + 1);
            for (unsigned i = start; i < SLOTS && m.block[s][i] == start + 1; i++)
                m.block[s][i] = 0;
        } else {
            bool fits = u + n <= SLOTS;
            unsigned first = 0;
            for (unsigned i = u; fits && i < u + n; i++)
                fits = !m.block[s][i];
            const struct vt_segment *segment =
                vt_segments_alloc(f, base_of(s) + (uint64_t)u * UNIT, (uint64_t)n * UNIT, step + 1,
                                  NULL, begun, &first);
            assert_true((segment != NULL) == fits);
            if (u + n <= SLOTS) {
                assert_int_equal(first, !m.holds[s]);
                m.holds[s] = true;
            }
            for (unsigned i = u; fits && i < u + n; i++)
                m.block[s][i] = u + 1;
            if (segment)
                assert_int_equal(segment->key, s + 1);
        }
        compare(f, &m);
        if (step % 100 == 99)
            reload(&f);
    }
    assert_true(gone > 100);
    const struct vt_reserve_device *d = vt_segments_device(f, 3);
    assert_true(d->moment_count > VT_RESERVE_MOMENTS / 2 && d->moment_count <= VT_RESERVE_MOMENTS);
    assert_true(d->worst.pinned_bytes > SEGMENT);
    assert_true(d->worst.pinned_bytes <= d->worst.reserved_bytes - d->worst.in_use_bytes);
    vt_segments_close(f);
}

/* Mappings that touch are one: a block may lie across them, and holes join. */
static void mapped(void **state) {
    struct vt_segments *f = vt_segments_open();
    size_t at = 0;
    unsigned first = 0;
    struct vt_region region;
    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        vt_segments_add(f, 0x1000 + i * 0x100, 0x100, 10 + i, 0, true, i + 1);
    assert_non_null(vt_segments_alloc(f, 0x1080, 0x200, 5, NULL, begun, &first)); /* of three */
    const struct vt_reserve_device *d = vt_segments_device(f, 0);
    assert_int_equal(d->now.reserved_bytes, 0x300);
    assert_int_equal(d->now.largest_free_bytes, 0x80);
    assert_true(d->mapped);
    assert_int_equal(first, 3);
    assert_non_null(vt_segments_alloc(f, 0x1300, 0x40, 6, NULL, begun, &first));
    assert_int_equal(first, 4);
    assert_true(vt_segments_region(f, &at, &region));
    assert_int_equal(region.end - region.start, 0x400);
    assert_false(vt_segments_region(f, &at, &region));
    vt_segments_free(f, 0x1080, 7);
    assert_int_equal(vt_segments_device(f, 0)->now.largest_free_bytes, 0x300);
    vt_segments_unmap(f, 0x1100, 0x1200, 8, NULL, NULL); /* a hole of address space */
    assert_int_equal(vt_segments_device(f, 0)->now.largest_free_bytes, 0x100);
    assert_int_equal(vt_segments_device(f, 0)->now.reserved_bytes, 0x300);
    assert_null(vt_segments_alloc(f, 0x1080, 0x200, 9, NULL, begun, &first));
    at = 0;
    unsigned regions = 0;
    while (vt_segments_region(f, &at, &region))
        regions++;
    assert_int_equal(regions, 2);
    vt_segments_close(f);
}

static void nowhere(void **state) {
    struct vt_segments *f = vt_segments_open();
    unsigned first = 0;
    (void)state;
    assert_null(vt_segments_alloc(f, 0x1000, 64, 1, NULL, begun, &first));
    vt_segments_free(f, 0x1000, 2);
    vt_segments_remove(f, 0x1000, 3, NULL, NULL);
    vt_segments_add(f, 0x1000, 0x1000, 1, 0, false, 4);
    assert_null(vt_segments_device(f, 0));
    assert_null(vt_segments_alloc(f, 0x1f00, 0x200, 5, NULL, begun, &first)); /* sticks out */
    assert_null(vt_segments_device(f, 0));
    assert_null(vt_segments_alloc(f, 0x1f00, UINT64_MAX, 5, NULL, begun, &first));
    assert_null(vt_segments_alloc(f, 0x1f00, 0, 5, NULL, begun, &first));
    /* memory over other memory: the end of the earlier one was not recorded */
    assert_non_null(vt_segments_alloc(f, 0x1000, 64, 6, NULL, begun, &first));
    vt_segments_add(f, 0x1800, 0x1000, 2, 1, false, 7);
    assert_int_equal(vt_segments_device(f, 0)->now.reserved_bytes, 0);
    assert_int_equal(vt_segments_alloc(f, 0x1800, 64, 8, NULL, begun, &first)->device, 1);
    vt_segments_close(f);
}

/* A segment with one block, whose stream and pool the log says. */
static const struct vt_segment *told_segment(struct vt_segments *f, uint64_t start, uint64_t stream,
                                             uint64_t pool) {
    unsigned first = 0;
    const struct vt_rec_blockinfo info = {.stream = stream, .pool = pool};
    vt_segments_add(f, start, 0x1000, start, 0, false, 1);
    return vt_segments_alloc(f, start, 64, 1, &info, begun, &first);
}

/* Streams and pools that the log tells are told apart, whatever is idle. */
static void told(void **state) {
    struct vt_segments *f = vt_segments_open();
    (void)state;
    assert_int_equal(told_segment(f, 0x1000, 0xaaa, 0)->stream, 0);
    assert_int_equal(told_segment(f, 0x2000, 0xbbb, 0)->stream, 1);
    assert_int_equal(told_segment(f, 0x3000, 0xaaa, 0)->stream, 0);
    const struct vt_segment *s = told_segment(f, 0x4000, 0xaaa, 0x9990);
    assert_int_equal(s->stream << 8 | s->private, 0x201);
    s = told_segment(f, 0x5000, 0xbbb, 0x9990);
    assert_int_equal(s->stream << 8 | s->private, 0x301);
    s = told_segment(f, 0x6000, 0xaaa, 0x8880);
    assert_int_equal(s->stream << 8 | s->private, 0x402);
    reload(&f);
    /* a pool whose segments are gone is another one when its address comes again; a stream is not */
    vt_segments_remove(f, 0x4000, 2, NULL, NULL);
    vt_segments_remove(f, 0x5000, 2, NULL, NULL);
    vt_segments_remove(f, 0x2000, 2, NULL, NULL);
    s = told_segment(f, 0x4000, 0xccc, 0x9990);
    assert_int_equal(s->stream << 8 | s->private, 0x203);
    assert_int_equal(told_segment(f, 0x2000, 0xbbb, 0)->stream, 1);
    /* more than there are numbers for share the last one */
    for (unsigned i = 0; i < 80; i++)
        assert_true(told_segment(f, 0x10000 + i * 0x1000, i, 0)->stream < 64);
    assert_int_equal(told_segment(f, 0x90000, 0xaaa, 0)->stream, 0);
    vt_segments_close(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_allocator),
        cmocka_unit_test(mapped),
        cmocka_unit_test(nowhere),
        cmocka_unit_test(told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
