/* SPDX-License-Identifier: MIT */
/*
 * Segments and changes for PyTorch's snapshots, from random runs: complete runs are exported completely; if anything
 * is missing (events, parts of the map, the beginning), the rest is consistent at each step back from the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "export/pytorch.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 12, SLOTS = 8, EVENTS = 3000, KIB = 1024 };

/* A place in the address space: SLOTS blocks, a segment, mapped piece by piece, or a separate allocation. */
enum kind { SEGMENT, MAPPED, OWN };
struct place {
    enum kind kind;
    bool live[SLOTS];  /* MAPPED: of each piece; else all the same */
    bool block[SLOTS]; /* in the piece */
};

struct run {
    struct place places[PLACES];
    struct vt_change changes[EVENTS];
    uint32_t count;
    struct vt_address_map map;
    struct vt_timeline timeline;
    struct vt_process process;
};

static uint64_t address_of(uint32_t place, uint32_t slot) {
    return (place + 1) * 0x100000ull + slot * 64 * KIB;
}

static void change(struct run *r, uint32_t place, uint32_t slot, uint32_t slots, bool driver,
                   bool alloc) {
    if (r->count < EVENTS)
        r->changes[r->count++] =
            (struct vt_change){.at = r->count,
                               .address = address_of(place, slot),
                               .bytes = (uint64_t)slots * 64 * KIB,
                               .site = VT_NO_SITE,
                               .layer = driver ? VT_LAYER_DRIVER : VT_LAYER_FRAMEWORK,
                               .alloc = alloc,
                               .segment = driver && r->places[place].kind != OWN,
                               .mapping = driver && r->places[place].kind == MAPPED};
}

static bool has_block(const struct place *p, uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; i++)
        if (p->block[i])
            return true;
    return false;
}

/* Something that may happen at a place. */
static void act(struct run *r, uint32_t at) {
    struct place *p = &r->places[at];
    uint32_t slot = (uint32_t)rand() % SLOTS, first = p->kind == MAPPED ? slot : 0;
    uint32_t slots = p->kind == MAPPED ? 1 : SLOTS;
    if (p->live[slot] && p->kind != OWN && rand() % 8) {
        p->block[slot] = !p->block[slot];
        change(r, at, slot, 1, false, p->block[slot]);
    } else if (!has_block(p, first, slots)) {
        for (uint32_t i = first; i < first + slots; i++)
            p->live[i] = !p->live[i];
        change(r, at, first, slots, true, p->live[first]);
    }
}

/* Adjacent pieces are one region, as in the log's map. */
static void draw(struct run *r) {
    struct vt_address_map *m = &r->map;
    *m = (struct vt_address_map){.why = VT_MAP_END,
                                 .regions = calloc((size_t)PLACES * SLOTS, sizeof *m->regions),
                                 .pieces = calloc((size_t)PLACES * SLOTS, sizeof *m->pieces)};
    for (uint32_t at = 0; at < PLACES; at++) {
        const struct place *p = &r->places[at];
        for (uint32_t slot = 0; slot < SLOTS;) {
            if (!p->live[slot]) {
                slot++;
                continue;
            }
            struct vt_map_region *region = &m->regions[m->region_count++];
            *region = (struct vt_map_region){.address = address_of(at, slot),
                                             .site = VT_NO_SITE,
                                             .segment = p->kind != OWN,
                                             .mapped = p->kind == MAPPED,
                                             .first = m->piece_count};
            for (; slot < SLOTS && p->live[slot]; slot++, region->bytes += 64ull * KIB) {
                bool block = p->block[slot] || p->kind == OWN;
                if (p->kind == OWN && region->bytes)
                    m->pieces[m->piece_count - 1].bytes += 64ull * KIB;
                else
                    m->pieces[m->piece_count++] =
                        (struct vt_map_piece){.offset = region->bytes,
                                              .bytes = 64ull * KIB,
                                              .idle_bytes = block ? 0 : 64ull * KIB,
                                              .site = VT_NO_SITE,
                                              .blocks = block};
            }
            region->count = m->piece_count - region->first;
        }
    }
}

static void start(struct run *r, unsigned seed) {
    memset(r, 0, sizeof *r);
    srand(seed);
    for (uint32_t i = 0; i < PLACES; i++)
        r->places[i].kind = (enum kind)(i % 3);
    for (uint32_t i = 0; i < EVENTS; i++)
        act(r, (uint32_t)rand() % PLACES);
    draw(r);
    r->timeline = (struct vt_timeline){
        .maps = &r->map, .map_count = 1, .changes = r->changes, .change_count = r->count};
    r->process.timeline = &r->timeline;
}

static void end(struct run *r) {
    free(r->map.regions);
    free(r->map.pieces);
}

/* --- a reader that goes back --- */

struct books {
    uint64_t segment[4096], bytes[4096]; /* live: by address, no order */
    uint32_t segments;
    uint64_t block[4096];
    uint32_t blocks;
};

static uint32_t home_of(const struct books *b, uint64_t address) {
    for (uint32_t i = 0; i < b->segments; i++)
        if (address >= b->segment[i] && address < b->segment[i] + b->bytes[i])
            return i;
    return b->segments;
}

static void add_home(struct books *b, uint64_t address, uint64_t bytes) {
    for (uint32_t i = 0; i < b->segments; i++)
        assert_true(address + bytes <= b->segment[i] || b->segment[i] + b->bytes[i] <= address);
    b->segment[b->segments] = address;
    b->bytes[b->segments++] = bytes;
}

static void toggle_block(struct books *b, uint64_t address, bool alloc) {
    for (uint32_t i = 0; i < b->blocks; i++)
        if (b->block[i] == address) {
            assert_true(alloc);
            b->block[i] = b->block[--b->blocks];
            return;
        }
    assert_false(alloc);
    b->block[b->blocks++] = address;
}

static void undo(struct books *b, const struct vt_change *c) {
    if (c->layer == VT_LAYER_FRAMEWORK) {
        toggle_block(b, c->address, c->alloc);
    } else if (!c->alloc) {
        add_home(b, c->address, c->bytes);
    } else {
        uint32_t i = home_of(b, c->address);
        assert_true(i < b->segments);
        uint64_t address = b->segment[i], bytes = b->bytes[i];
        assert_true(c->address + c->bytes <= address + bytes);
        if (!c->mapping)
            assert_true(address == c->address && bytes == c->bytes);
        b->segment[i] = b->segment[--b->segments];
        b->bytes[i] = b->bytes[b->segments];
        if (address < c->address)
            add_home(b, address, c->address - address);
        if (c->address + c->bytes < address + bytes)
            add_home(b, c->address + c->bytes, address + bytes - c->address - c->bytes);
    }
    for (uint32_t i = 0; i < b->blocks; i++)
        assert_true(home_of(b, b->block[i]) < b->segments);
}

/* Returns how many changes there are. */
static uint32_t check(const struct run *r, uint32_t *homes, uint32_t *blocks) {
    struct vt_pytorch_device made;
    struct books *b = calloc(1, sizeof *b);
    vt_pytorch_make(&r->process, 0, &made);
    for (uint32_t i = 0; i < made.segment_count; i++) {
        const struct vt_pytorch_segment *s = &made.segments[i];
        uint64_t at = s->address;
        assert_true(!i || made.segments[i - 1].address + made.segments[i - 1].bytes <= at);
        add_home(b, at, s->bytes);
        for (uint32_t k = s->first; k < s->first + s->count; k++) {
            assert_int_equal(made.blocks[k].address, at);
            at += made.blocks[k].bytes;
            if (!made.blocks[k].idle && s->of_allocator)
                toggle_block(b, made.blocks[k].address, false);
        }
        assert_int_equal(at, s->address + s->bytes);
    }
    for (uint32_t i = made.change_count; i-- > 0;) {
        assert_true(!i || made.changes[i - 1]->at < made.changes[i]->at);
        undo(b, made.changes[i]);
    }
    *homes = b->segments;
    *blocks = b->blocks;
    uint32_t count = made.change_count;
    vt_pytorch_free(&made);
    free(b);
    return count;
}

/* --- */

static void whole_runs(void **state) {
    (void)state;
    struct run *r = malloc(sizeof *r);
    uint32_t homes, blocks;
    for (unsigned seed = 1; seed <= 20; seed++) {
        start(r, seed);
        assert_int_equal(check(r, &homes, &blocks), r->count);
        assert_int_equal(homes + blocks, 0);
        /* only the last changes: those before are there from the beginning */
        r->timeline.changes += r->count / 2;
        r->timeline.change_count -= r->count / 2;
        assert_int_equal(check(r, &homes, &blocks), r->timeline.change_count);
        assert_true(homes && blocks);
        end(r);
    }
    free(r);
}

static void lost_events(void **state) {
    (void)state;
    struct run *r = malloc(sizeof *r);
    uint32_t homes, blocks, left = 0, all = 0;
    for (unsigned seed = 1; seed <= 200; seed++) {
        start(r, seed);
        uint32_t kept = 0, one_of = 2 + (uint32_t)rand() % 40;
        for (uint32_t i = 0; i < r->count; i++)
            if ((uint32_t)rand() % one_of)
                r->changes[kept++] = r->changes[i];
        r->timeline.change_count = kept;
        if (seed % 3 == 0) { /* some of the map is left out */
            r->map.region_count = r->map.region_count / 2;
            r->map.regions_left_out = 1;
        }
        if (seed % 7 == 0)
            r->timeline.map_count = 0;
        left += check(r, &homes, &blocks);
        all += kept;
        end(r);
    }
    assert_true(left > all / 2);
    free(r);
}

/* Pieces that the map put together: the blocks that the changes name are where they were, and the rest
 * has as many bytes in use. */
static void merged_pieces(void **state) {
    (void)state;
    struct run *r = malloc(sizeof *r);
    for (unsigned seed = 1; seed <= 20; seed++) {
        start(r, seed);
        uint64_t used = 0, found = 0;
        for (uint32_t i = 0; i < r->map.region_count; i++) {
            struct vt_map_region *region = &r->map.regions[i];
            struct vt_map_piece *pieces = &r->map.pieces[region->first], all = {.site = VT_NO_SITE};
            for (uint32_t k = 0; k < region->count; k++) {
                all.bytes += pieces[k].bytes;
                all.idle_bytes += pieces[k].idle_bytes;
                all.blocks += pieces[k].blocks;
            }
            used += all.bytes - all.idle_bytes;
            region->count = 1;
            pieces[0] = all;
        }
        uint32_t homes, blocks;
        struct vt_pytorch_device made;
        r->timeline.changes += r->count - 40;
        r->timeline.change_count = 40;
        /* where the rest is put, a piece may have been mapped: then that is left out */
        assert_true(check(r, &homes, &blocks) > 30);
        vt_pytorch_make(&r->process, 0, &made);
        for (uint32_t i = 0; i < made.block_count; i++)
            found += made.blocks[i].idle ? 0 : made.blocks[i].bytes;
        assert_int_equal(found, used);
        vt_pytorch_free(&made);
        end(r);
    }
    free(r);
}

/* Blocks in no driver memory that was ever seen. */
static void unseen_memory(void **state) {
    (void)state;
    struct vt_change changes[] = {
        {.at = 1, .address = 0x1000, .bytes = 512, .layer = VT_LAYER_FRAMEWORK, .alloc = true},
        {.at = 2, .address = 0x1200, .bytes = 512, .layer = VT_LAYER_FRAMEWORK, .alloc = true},
        {.at = 3, .address = 0x9000, .bytes = 512, .layer = VT_LAYER_FRAMEWORK, .alloc = true},
        {.at = 4, .address = 0x1000, .bytes = 512, .layer = VT_LAYER_FRAMEWORK, .alloc = false}};
    struct vt_timeline timeline = {.changes = changes, .change_count = 4};
    struct vt_process process = {.timeline = &timeline};
    struct vt_pytorch_device made;
    for (uint32_t i = 0; i < 4; i++)
        changes[i].site = VT_NO_SITE;
    vt_pytorch_make(&process, 0, &made);
    assert_int_equal(made.change_count, 4);
    assert_int_equal(made.segment_count, 2);
    assert_int_equal(made.segments[0].bytes, 1024);
    assert_int_equal(made.segments[0].count, 2);
    assert_true(made.blocks[0].idle && !made.blocks[1].idle);
    assert_int_equal(made.segments[1].address, 0x9000);
    vt_pytorch_free(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_runs),
        cmocka_unit_test(lost_events),
        cmocka_unit_test(merged_pieces),
        cmocka_unit_test(unseen_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
