/* SPDX-License-Identifier: MIT */
/*
 * Courses, address maps and the last changes, against books kept in the simplest way: all levels
 * after each event, from which a slot's highest moment is looked up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/analyzer/log_maker.c"
#include "build.h"
#include "model/model.h"

#include <stdlib.h>
#include <unistd.h>

#define MIB (1ull << 20)

static void build(struct vt_maker *m, struct vt_model_options options, struct vt_model *model) {
    const char *logs[] = {maker_path};
    struct vt_string message = {0};
    assert_int_equal(maker_save(m, maker_path), 0);
    assert_int_equal(vt_build_model(logs, 1, &options, model, &message), 0);
}

/* --- courses --- */

enum { STACKS = 40, EVENTS = 6000, BLOCKS = 300, SEGMENTS = 12 };

/* What the simplest books say after an event. */
struct level {
    uint64_t ticks, driver, blocks,
        of[STACKS]; /* `of`: what each stack's sites hold, no segments */
};

struct story {
    struct vt_maker m;
    struct level *levels;
    uint32_t count;
    struct level now;
    uint64_t ticks;
    struct {
        uint64_t size;
        uint32_t stack;
    } live[BLOCKS];
};

static void note(struct story *s) {
    s->now.ticks = s->ticks;
    s->levels[s->count++] = s->now;
}

/* A program that allocates for itself (stacks below 30) and through a caching allocator (from 30 on, in
 * segments of stack 0), in bursts with pauses. */
static void tell(struct story *s, unsigned seed) {
    srand(seed);
    s->levels = calloc(EVENTS + SEGMENTS, sizeof *s->levels);
    maker_start(&s->m);
    maker_module(&s->m, 0, 1, 0x1000, 0x100000, 0, NULL, 0, "/program");
    for (uint32_t i = 1; i <= STACKS; i++)
        maker_stack(&s->m, 0, i, (const uint64_t[]){0x1000 * i}, 1);
    s->ticks = 1000;
    for (uint64_t i = 0; i < SEGMENTS; i++) {
        maker_alloc(&s->m, 0, s->ticks += 10, VT_KIND_DEVICE, 2, 0, 1, (1 + i) << 32,
                    BLOCKS / SEGMENTS * 2 * MIB, 0);
        s->now.driver += BLOCKS / SEGMENTS * 2 * MIB;
        note(s);
    }
    while (s->count < EVENTS) {
        uint32_t i = (uint32_t)rand() % BLOCKS, stack = s->live[i].stack;
        bool block = i % 2; /* odd: a block, at a place of its own in a segment */
        unsigned kind = block ? VT_KIND_BLOCK : VT_KIND_DEVICE;
        uint64_t address = block ? ((1 + (uint64_t)i % SEGMENTS) << 32) + i / SEGMENTS * 2 * MIB
                                 : (100 + (uint64_t)i) << 32;
        s->ticks += rand() % 200 ? (uint64_t)rand() % 50 + 1 : 20000;
        uint64_t *sum = block ? &s->now.blocks : &s->now.driver;
        if (s->live[i].size) {
            maker_free_at(&s->m, 0, s->ticks, kind, address);
            *sum -= s->live[i].size;
            s->now.of[stack] -= s->live[i].size;
            s->live[i].size = 0;
        } else {
            s->live[i].size = ((uint64_t)rand() % 2048 + 1) * 512;
            s->live[i].stack = stack = (block ? 30 : 2) + (uint32_t)rand() % (block ? 10 : 28);
            maker_alloc(&s->m, 0, s->ticks, kind, block ? 2000 : 2, 0, stack, address,
                        s->live[i].size, 0);
            *sum += s->live[i].size;
            s->now.of[stack] += s->live[i].size;
        }
        note(s);
    }
}

/* The highest moment from `from` (including memory live then) and before `to`. */
static struct level highest(const struct story *s, uint64_t from, uint64_t to) {
    struct level best = {.ticks = from};
    for (uint32_t i = 0; i < s->count && s->levels[i].ticks < to; i++) {
        const struct level *l = &s->levels[i];
        if (l->ticks < from) {
            best = *l;
            best.ticks = from;
        } else if (l->driver > best.driver ||
                   (l->driver == best.driver && l->blocks > best.blocks)) {
            best = *l;
        }
    }
    return best;
}

/* The stack of a site: the program counter of its only frame says it. */
static uint32_t stack_of(const struct vt_process *p, uint32_t site) {
    const struct vt_stack *stack = p->sites[site].stack;
    return stack->count ? (uint32_t)((vt_stack_frame(stack, 0)->offset + 0x800) / 0x1000) : 0;
}

static void check_course(const struct story *s, const struct vt_process *p,
                         const struct vt_course *c) {
    uint64_t segments = SEGMENTS * (BLOCKS / SEGMENTS * 2 * MIB), peak = 0;
    uint32_t parts = c->slot_count - 1; /* the last slot is the end */
    uint64_t width = 1;
    while ((c->end - c->begin) / width >= VT_COURSE_SLOTS)
        width *= 2;
    assert_int_equal(parts, (c->end - c->begin) / width + 1);
    for (uint32_t i = 0; i < c->slot_count; i++) {
        uint64_t from = i < parts ? c->begin + width * i : c->end;
        uint64_t to = i + 1 < parts ? c->begin + width * (i + 1) : UINT64_MAX;
        struct level best = highest(s, from, to);
        if (i == parts)
            best = (s->levels[s->count - 1].ticks = c->end, s->levels[s->count - 1]);
        assert_int_equal(c->at[i], best.ticks);
        assert_int_equal(c->live_bytes[i], best.driver);
        uint64_t sum = 0;
        for (uint32_t b = 0; b < c->band_count; b++) {
            const struct vt_band *band = &c->bands[b];
            uint64_t expected = 0;
            for (uint32_t k = 0; k < band->site_count; k++)
                expected += best.of[stack_of(p, band->sites[k])];
            if (band->kind == VT_BAND_IDLE)
                expected = (best.driver >= segments ? segments : best.driver) - best.blocks;
            assert_int_equal(band->bytes[i], expected);
            sum += band->bytes[i];
        }
        assert_int_equal(sum, best.driver);
        peak = best.driver > peak ? best.driver : peak;
    }
    assert_int_equal(peak, p->devices[0].peak_bytes);
}

static void courses(void **state) {
    (void)state;
    for (unsigned seed = 1; seed <= 3; seed++) {
        struct story s = {.count = 0};
        struct vt_model model;
        tell(&s, seed);
        build(&s.m, (struct vt_model_options){.device = -1, .timeline = VT_TIMELINE_COURSES},
              &model);
        const struct vt_process *p = &model.processes[0];
        assert_non_null(p->timeline);
        assert_int_equal(p->timeline->course_count, 1);
        assert_int_equal(p->timeline->courses[0].bands[0].kind, VT_BAND_LINE);
        assert_int_equal(p->timeline->map_count, 0);
        check_course(&s, p, &p->timeline->courses[0]);
        vt_build_free(&model);
        maker_free(&s.m);
        free(s.levels);
    }
}

/* In a window, memory live before it is a separate line. */
static void window(void **state) {
    (void)state;
    struct vt_maker m;
    struct vt_model model;
    maker_start(&m);
    maker_alloc(&m, 0, 1000, VT_KIND_DEVICE, 2, 0, 0, 1ull << 32, 8 * MIB, 0);
    maker_alloc(&m, 0, 5000, VT_KIND_DEVICE, 2, 0, 0, 2ull << 32, 2 * MIB, 0);
    maker_free_at(&m, 0, 6000, VT_KIND_DEVICE, 1ull << 32);
    maker_alloc(&m, 0, 9000, VT_KIND_DEVICE, 2, 0, 0, 3ull << 32, MIB, 0);
    build(&m,
          (struct vt_model_options){.device = -1,
                                    .since = "2000ns",
                                    .timeline = VT_TIMELINE_COURSES | VT_TIMELINE_CHANGES},
          &model);
    const struct vt_course *c = &model.processes[0].timeline->courses[0];
    assert_int_equal(c->begin, 2000);
    assert_int_equal(c->live_bytes[0], 8 * MIB);
    assert_int_equal(c->live_bytes[c->slot_count - 1], 3 * MIB);
    assert_int_equal(c->band_count, 2);
    assert_int_equal(model.processes[0].timeline->change_count, 3);
    vt_build_free(&model);
    maker_free(&m);
}

/* --- maps --- */

/* A segment of 8 MiB with a block at its begin and one in the middle, and memory of its own beside it. */
static void maps(void **state) {
    (void)state;
    struct vt_maker m;
    struct vt_model model;
    maker_start(&m);
    maker_alloc(&m, 0, 1000, VT_KIND_DEVICE, 2, 0, 0, 1ull << 32, 8 * MIB, 0);
    maker_alloc(&m, 0, 1100, VT_KIND_BLOCK, 2000, 0, 0, 1ull << 32, 2 * MIB, 0);
    maker_alloc(&m, 0, 1200, VT_KIND_BLOCK, 2000, 0, 0, (1ull << 32) + 4 * MIB, MIB, 0);
    maker_alloc(&m, 0, 1300, VT_KIND_DEVICE, 3, 0, 0, 2ull << 32, MIB, 0);
    maker_fail(&m, 0, 1400, 0, 0, 64 * MIB, 2);
    maker_free_at(&m, 0, 1500, VT_KIND_BLOCK, 1ull << 32);
    maker_free_at(&m, 0, 9000, VT_KIND_DEVICE, 2ull << 32);
    build(&m, (struct vt_model_options){.device = -1, .timeline = VT_TIMELINE_MAPS}, &model);
    const struct vt_timeline *t = model.processes[0].timeline;
    bool peak = false, oom = false;
    assert_true(t->map_count > 3 && t->map_count <= VT_MAP_MOMENTS);
    for (uint32_t i = 0; i < t->map_count; i++) {
        const struct vt_address_map *map = &t->maps[i];
        assert_true(!i || t->maps[i - 1].at <= map->at);
        if (map->why == VT_MAP_PEAK || map->why == VT_MAP_OOM) {
            assert_int_equal(map->region_count, 2);
            assert_true(map->regions[0].segment && !map->regions[1].segment);
            assert_int_equal(map->piece_count, 5);
            assert_int_equal(map->pieces[1].offset, 2 * MIB);
            assert_int_equal(map->pieces[1].idle_bytes, 2 * MIB);
            assert_int_equal(map->pieces[2].blocks, 1);
            assert_int_equal(map->pieces[4].bytes, MIB);
            assert_int_equal(map->in_use_bytes, 3 * MIB);
            peak |= map->why == VT_MAP_PEAK;
            oom |= map->why == VT_MAP_OOM;
        }
    }
    assert_true(peak && oom);
    const struct vt_address_map *end = &t->maps[t->map_count - 1];
    assert_int_equal(end->why, VT_MAP_END);
    assert_int_equal(end->region_count, 1);
    assert_int_equal(end->piece_count, 3);
    assert_int_equal(end->largest_free_bytes, 4 * MIB);
    vt_build_free(&model);
    maker_free(&m);
}

/* The first map of a moment. */
static const struct vt_address_map *map_of(const struct vt_model *model, enum vt_map_why why) {
    const struct vt_timeline *t = model->processes[0].timeline;
    for (uint32_t i = 0; i < t->map_count; i++)
        if (t->maps[i].why == why)
            return &t->maps[i];
    return NULL;
}

static uint64_t bytes_of(const struct vt_address_map *map) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < map->region_count; i++)
        bytes += map->regions[i].bytes;
    return bytes;
}

/* A peak is drawn again when it is a hundredth higher, and says what it shows. */
static void higher_peaks(void **state) {
    (void)state;
    static const uint64_t more[] = {0, 8, 11}, shown[] = {1000, 1000, 1011}; /* MiB */
    for (size_t n = 0; n < 3; n++) {
        struct vt_maker m;
        struct vt_model model;
        maker_start(&m);
        maker_alloc(&m, 0, 1000, VT_KIND_DEVICE, 2, 0, 0, 1ull << 40, 900 * MIB, 0);
        maker_alloc(&m, 0, 1100, VT_KIND_DEVICE, 2, 0, 0, 2ull << 40, 100 * MIB, 0);
        maker_free_at(&m, 0, 1200, VT_KIND_DEVICE, 2ull << 40);
        maker_alloc(&m, 0, 1300, VT_KIND_DEVICE, 2, 0, 0, 3ull << 40, (100 + more[n]) * MIB, 0);
        maker_free_at(&m, 0, 1400, VT_KIND_DEVICE, 3ull << 40);
        build(&m, (struct vt_model_options){.device = -1, .timeline = VT_TIMELINE_MAPS}, &model);
        const struct vt_address_map *peak = map_of(&model, VT_MAP_PEAK);
        assert_non_null(peak);
        assert_int_equal(peak->at, shown[n] > 1000 ? 1300 : 1100);
        assert_int_equal(bytes_of(peak), shown[n] * MIB);
        assert_int_equal(bytes_of(map_of(&model, VT_MAP_END)), 900 * MIB);
        vt_build_free(&model);
        maker_free(&m);
    }
}

/* The worst fragmentation that the process met: when it asked for memory for the last time, or before. */
static void worst(void **state) {
    (void)state;
    struct vt_maker m;
    struct vt_model model;
    maker_start(&m);
    maker_alloc(&m, 0, 1000, VT_KIND_DEVICE, 2, 0, 0, 1ull << 32, 8 * MIB, 0);
    maker_alloc(&m, 0, 1100, VT_KIND_BLOCK, 2000, 0, 0, 1ull << 32, 7 * MIB, 0);
    for (uint64_t i = 0; i < 4; i++)
        maker_alloc(&m, 0, 1200, VT_KIND_BLOCK, 2000, 0, 0, (1ull << 32) + (28 + i) * MIB / 4,
                    MIB / 4, 0);
    maker_free_at(&m, 0, 2000, VT_KIND_BLOCK, 1ull << 32);
    maker_free_at(&m, 0, 2100, VT_KIND_BLOCK, (1ull << 32) + 7 * MIB);
    maker_alloc(&m, 0, 2200, VT_KIND_BLOCK, 2000, 0, 0, 1ull << 32, MIB, 0);
    maker_fail(&m, 0, 3000, 0, 0, 64 * MIB, 2);
    maker_free_at(&m, 0, 4000, VT_KIND_BLOCK, 1ull << 32);
    maker_free_at(&m, 0, 4100, VT_KIND_BLOCK, (1ull << 32) + 29 * MIB / 4);
    build(&m, (struct vt_model_options){.device = -1, .timeline = VT_TIMELINE_MAPS}, &model);
    const struct vt_address_map *map = map_of(&model, VT_MAP_WORST);
    assert_non_null(map);
    assert_int_equal(map->at, 2100);
    assert_int_equal(map->in_use_bytes, 3 * MIB / 4);
    assert_int_equal(map->piece_count, 4);
    assert_int_equal(map->pieces[0].bytes, 29 * MIB / 4);
    assert_int_equal(map->pieces[0].blocks, 0);
    assert_int_equal(map->pieces[1].blocks, 1);
    vt_build_free(&model);
    maker_free(&m);
}

/* With a hundred refusals, the last ones without a recovery have maps, each of its own moment. */
static void many_refusals(void **state) {
    (void)state;
    struct vt_maker m;
    struct vt_model model;
    maker_start(&m);
    for (uint64_t i = 0; i < 100; i++) {
        maker_alloc(&m, i % 2, 1000 + i * 10, VT_KIND_DEVICE, 2, 0, 0, (1 + i) << 32, MIB, 0);
        maker_fail(&m, i % 2, 1001 + i * 10, 0, 0, i % 2 ? 64 * MIB : MIB, 2);
    }
    build(&m, (struct vt_model_options){.device = -1, .timeline = VT_TIMELINE_MAPS}, &model);
    const struct vt_process *p = &model.processes[0];
    const struct vt_timeline *t = p->timeline;
    uint32_t count = 0, last = 0;
    for (uint32_t i = 0; i < t->map_count; i++) {
        const struct vt_address_map *map = &t->maps[i];
        if (map->why != VT_MAP_OOM)
            continue;
        count++;
        last = map->oom;
        assert_int_equal(map->at, p->ooms[map->oom].at);
        assert_int_equal(bytes_of(map), (map->oom + 1) * MIB);
        assert_true(p->ooms[map->oom].outcome != VT_OOM_RECOVERED);
        assert_true(map->oom >= 100 - 2 * 8 - 1);
    }
    assert_int_equal(count, 8);
    assert_int_equal(last, 99);
    assert_true(t->map_count <= VT_MAP_MOMENTS);
    vt_build_free(&model);
    maker_free(&m);
}

/* Between them, maps divide the run equally, however long it goes on. */
static void moments_between(void **state) {
    (void)state;
    for (uint64_t events = 1000; events <= 64000; events *= 2) {
        struct vt_maker m;
        struct vt_model model;
        uint32_t between = 0;
        uint64_t before = 0, each = 0;
        maker_start(&m);
        for (uint64_t i = 1; i <= events; i++)
            maker_alloc(&m, 0, i * 10, VT_KIND_DEVICE, 2, 0, 0, i << 32, MIB, 0);
        build(&m, (struct vt_model_options){.device = -1, .timeline = VT_TIMELINE_MAPS}, &model);
        const struct vt_timeline *t = model.processes[0].timeline;
        for (uint32_t i = 0; i < t->map_count; i++) {
            const struct vt_address_map *map = &t->maps[i];
            if (map->why != VT_MAP_BETWEEN)
                continue;
            each = each ? each : map->at;
            assert_int_equal(map->at - before, each);
            before = map->at;
            uint64_t bytes = 0; /* but those of the regions that are left out */
            assert_int_equal(map->region_count + map->regions_left_out, (map->at - 1) / 10);
            for (uint32_t k = 0; k < map->region_count; k++)
                bytes += map->regions[k].bytes;
            assert_int_equal(bytes, map->region_count * MIB);
            between++;
        }
        assert_true(between >= 7 && between <= 15);
        vt_build_free(&model);
        maker_free(&m);
    }
}

/* With expandable segments the peak is reached before the memory has an address: its map waits. */
static void mapped_peak(void **state) {
    (void)state;
    struct vt_maker m;
    struct vt_model model;
    maker_start(&m);
    for (uint64_t i = 0; i < 4; i++)
        maker_alloc(&m, 0, 0, VT_KIND_PHYSICAL, 2, 0, 0, 100 + i, 2 * MIB, 0);
    for (uint64_t i = 0; i < 4; i++) {
        struct vt_rec_map r = {vt_word(VT_REC_MAP, 0, 2, 0), when(&m, 0, 0),
                               (1ull << 32) + i * 2 * MIB, 2 * MIB, 100 + i};
        maker_put(&m, 0, &r, sizeof r);
    }
    maker_alloc(&m, 0, 0, VT_KIND_BLOCK, 2000, 0, 0, 1ull << 32, 7 * MIB, 0);
    maker_free_at(&m, 0, 0, VT_KIND_BLOCK, 1ull << 32);
    build(&m, (struct vt_model_options){.device = -1, .timeline = VT_TIMELINE_MAPS}, &model);
    const struct vt_timeline *t = model.processes[0].timeline;
    bool seen = false;
    for (uint32_t i = 0; i < t->map_count; i++) {
        const struct vt_address_map *map = &t->maps[i];
        if (map->why != VT_MAP_PEAK)
            continue;
        seen = true;
        assert_int_equal(map->region_count, 1);
        assert_int_equal(map->regions[0].bytes, 8 * MIB);
        assert_int_equal(map->in_use_bytes, 7 * MIB);
    }
    assert_true(seen);
    vt_build_free(&model);
    maker_free(&m);
}

/* Pieces too many to be drawn are merged, and nothing is lost of their sums. */
static void many_pieces(void **state) {
    (void)state;
    enum { MANY = 30000 };
    struct vt_maker m;
    struct vt_model model;
    maker_start(&m);
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, 0, 1ull << 32, MANY * 1024ull, 0);
    for (uint64_t i = 0; i < MANY; i += 2)
        maker_alloc(&m, 0, 0, VT_KIND_BLOCK, 2000, 0, 0, (1ull << 32) + i * 1024, 1024, 0);
    build(
        &m,
        (struct vt_model_options){.device = -1, .timeline = VT_TIMELINE_MAPS | VT_TIMELINE_CHANGES},
        &model);
    const struct vt_timeline *t = model.processes[0].timeline;
    const struct vt_address_map *end = &t->maps[t->map_count - 1];
    uint64_t bytes = 0, idle = 0, blocks = 0;
    for (uint32_t i = 0; i < end->piece_count; i++) {
        assert_int_equal(end->pieces[i].offset, bytes);
        bytes += end->pieces[i].bytes;
        idle += end->pieces[i].idle_bytes;
        blocks += end->pieces[i].blocks;
    }
    assert_true(end->piece_count > VT_MAP_PIECES / 4 && end->piece_count <= VT_MAP_PIECES);
    assert_int_equal(bytes, MANY * 1024);
    assert_int_equal(idle, MANY * 512);
    assert_int_equal(blocks, MANY / 2);
    assert_int_equal(t->change_count, MANY / 2 + 1);
    vt_build_free(&model);
    build(&m, (struct vt_model_options){.device = -1, .timeline = VT_TIMELINE_END}, &model);
    t = model.processes[0].timeline;
    assert_int_equal(t->maps[t->map_count - 1].piece_count, MANY);
    vt_build_free(&model);
    maker_free(&m);
}

/* The last changes alone are kept, in order. */
static void last_changes(void **state) {
    (void)state;
    struct vt_maker m;
    struct vt_model model;
    maker_start(&m);
    for (uint64_t i = 0; i < VT_CHANGES / 2 + 10; i++) {
        maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, 0, (1 + i) << 20, 4096 + i, 0);
        maker_free_at(&m, 0, 0, VT_KIND_DEVICE, (1 + i) << 20);
    }
    build(&m, (struct vt_model_options){.device = -1, .timeline = VT_TIMELINE_CHANGES}, &model);
    const struct vt_timeline *t = model.processes[0].timeline;
    assert_int_equal(t->change_count, VT_CHANGES);
    assert_int_equal(t->changes_left_out, 20);
    for (uint32_t i = 0; i < t->change_count; i++) {
        assert_int_equal(t->changes[i].bytes, 4096 + 10 + i / 2);
        assert_int_equal(t->changes[i].alloc, i % 2 == 0);
    }
    vt_build_free(&model);
    maker_free(&m);
}

/* Each time that a device's driver memory rises above VRAMTRACE_ALARM; a share is of the device. */
static void alarms(void **state) {
    (void)state;
    static const char name[] = "VRAMTRACE_ALARM";
    static const char *const values[] = {"3M", "12.5%", "nonsense"};
    for (int i = 0; i < 3; i++) {
        struct vt_maker m;
        struct vt_model model;
        struct vt_rec_env r = {0, sizeof name - 1, (uint32_t)strlen(values[i])};
        maker_start(&m);
        put_parts(&m, 0, &r, sizeof r, VT_REC_ENV, name, r.name_bytes, values[i], r.value_bytes);
        maker_device(&m, 0, 0, 24 * MIB, "device");
        maker_alloc(&m, 0, 1000, VT_KIND_DEVICE, 2, 0, 0, 1ull << 32, 2 * MIB, 0);
        maker_alloc(&m, 0, 2000, VT_KIND_DEVICE, 2, 0, 0, 2ull << 32, MIB, 0);
        maker_alloc(&m, 0, 3000, VT_KIND_DEVICE, 2, 0, 0, 3ull << 32, MIB, 0);
        maker_free_at(&m, 0, 4000, VT_KIND_DEVICE, 1ull << 32);
        maker_alloc(&m, 0, 5000, VT_KIND_DEVICE, 2, 0, 0, 1ull << 32, 2 * MIB, 0);
        build(&m, (struct vt_model_options){.device = -1, .timeline = VT_TIMELINE_COURSES}, &model);
        const struct vt_timeline *t = model.processes[0].timeline;
        assert_int_equal(t->alarm_count, i < 2 ? 2 : 0);
        if (i < 2) {
            assert_int_equal(t->alarms[0].at, 2000);
            assert_int_equal(t->alarms[0].mark_bytes, 3 * MIB);
            assert_int_equal(t->alarms[1].at, 5000);
            assert_int_equal(t->alarms[1].live_bytes, 4 * MIB);
        }
        vt_build_free(&model);
        maker_free(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(courses),       cmocka_unit_test(window),
        cmocka_unit_test(maps),          cmocka_unit_test(mapped_peak),
        cmocka_unit_test(higher_peaks),  cmocka_unit_test(worst),
        cmocka_unit_test(many_refusals), cmocka_unit_test(moments_between),
        cmocka_unit_test(many_pieces),   cmocka_unit_test(last_changes),
        cmocka_unit_test(alarms),
    };
    return cmocka_run_group_tests(tests, maker_make_folder, maker_remove_folder);
}
