/* SPDX-License-Identifier: MIT */
/*
 * The replay's books against books that are kept the slow way: order across threads, peaks and what
 * they were made of, replaced addresses, address spaces, contexts that take their memory with them,
 * windows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/analyzer/log_maker.c"
#include "model/model.h"
#include "replay/replay.h"
#include "logfile/sites.h"

#include <unistd.h>

static const char *const path = maker_path;

/* A log and its replay. */
struct played {
    struct vt_log log;
    struct vt_replay r;
};

static void play(struct vt_maker *m, struct vt_window window, struct played *p) {
    struct vt_string message = {0};
    assert_int_equal(maker_save(m, path), 0);
    assert_int_equal(vt_log_open(path, &p->log, &message), 0);
    assert_int_equal(vt_replay_run(&p->log, window, (struct vt_replay_options){0}, &p->r, &message),
                     0);
}

static void unplay(struct played *p) {
    vt_replay_free(&p->r);
    vt_log_close(&p->log);
}

static const struct vt_window all = {0, VT_TICKS_MASK};

/* What must hold of any replay. */
static void check_sums(const struct vt_replay *r) {
    for (unsigned d = 0; d < 256; d++) {
        uint64_t live = 0, count = 0, at_peak = 0, frees = 0, allocated = 0;
        const struct vt_account *book = &r->devices[d].driver;
        for (size_t i = 0; i < r->site_count; i++) {
            const struct vt_replay_site *s = &r->sites[i];
            if (s->device != d || s->layer != VT_LAYER_DRIVER)
                continue;
            live += s->live_bytes;
            count += s->live_count;
            at_peak += s->bytes_at_peak;
            frees += s->free_count;
            allocated += s->allocated_bytes;
            assert_true(s->peak_bytes >= s->bytes_at_peak && s->peak_bytes >= s->live_bytes);
        }
        assert_int_equal(live, book->live_bytes);
        assert_int_equal(count, book->live_count);
        assert_int_equal(at_peak, book->peak_bytes);
        assert_int_equal(frees, book->free_count);
        assert_int_equal(allocated, book->allocated_bytes);
    }
}

static uint64_t random_state;
static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

/* A program of 5 threads, 2 devices and 20 stacks on 300 addresses, whose books are kept here as it
 * goes. Within a thread the records are shuffled a little, as a free that waited for the driver is
 * written late. */
static void against_slow_books(void **state) {
    enum { SLOTS = 300, EVENTS = 20000, STACKS = 20 };
    static struct {
        uint64_t size;
        unsigned stack, device;
    } slot[SLOTS];
    uint64_t live[2] = {0}, peak[2] = {0}, by_stack[2][STACKS] = {{0}}, at_peak[2][STACKS] = {{0}};
    uint64_t allocs = 0, frees = 0;
    struct vt_maker m;
    struct {
        bool used;
        uint64_t ticks, address;
    } late[5] = {{0}};
    (void)state;
    random_state = 7;
    memset(slot, 0, sizeof slot);
    maker_start(&m);
    for (uint32_t i = 1; i <= STACKS; i++) {
        uint64_t frame = 0x1000 + i;
        maker_stack(&m, i % 5, i, &frame, 1);
    }
    for (uint64_t t = 1; t <= EVENTS; t++) {
        unsigned thread = next_random() % 5, i = next_random() % SLOTS;
        uint64_t address = 0x10000 + i * 512;
        if (slot[i].size) {
            live[slot[i].device] -= slot[i].size;
            by_stack[slot[i].device][slot[i].stack] -= slot[i].size;
            slot[i].size = 0;
            frees++;
            if (!late[thread].used && next_random() % 2) {
                late[thread].used = true;
                late[thread].ticks = t * 2;
                late[thread].address = address;
                continue;
            }
            maker_free_at(&m, thread, t * 2, VT_KIND_DEVICE, address);
        } else {
            slot[i].size = next_random() % 100000 + 1;
            slot[i].stack = next_random() % STACKS;
            slot[i].device = next_random() % 2;
            maker_alloc(&m, thread, t * 2, VT_KIND_DEVICE, 2, slot[i].device, slot[i].stack + 1,
                        address, slot[i].size, 0);
            allocs++;
            live[slot[i].device] += slot[i].size;
            by_stack[slot[i].device][slot[i].stack] += slot[i].size;
            for (int d = 0; d < 2; d++)
                if (live[d] > peak[d]) {
                    peak[d] = live[d];
                    memcpy(at_peak[d], by_stack[d], sizeof at_peak[d]);
                }
        }
        if (late[thread].used) {
            late[thread].used = false;
            maker_free_at(&m, thread, late[thread].ticks, VT_KIND_DEVICE, late[thread].address);
        }
    }
    for (unsigned thread = 0; thread < 5; thread++)
        if (late[thread].used)
            maker_free_at(&m, thread, late[thread].ticks, VT_KIND_DEVICE, late[thread].address);
    struct played p;
    play(&m, all, &p);
    assert_int_equal(p.r.events, EVENTS);
    assert_int_equal(p.r.unknown_frees, 0);
    assert_int_equal(p.r.replaced, 0);
    check_sums(&p.r);
    uint64_t alloc_count = 0, free_count = 0;
    for (unsigned d = 0; d < 2; d++) {
        assert_int_equal(p.r.devices[d].driver.live_bytes, live[d]);
        assert_int_equal(p.r.devices[d].driver.peak_bytes, peak[d]);
        alloc_count += p.r.devices[d].driver.alloc_count;
        free_count += p.r.devices[d].driver.free_count;
    }
    assert_int_equal(alloc_count, allocs);
    assert_int_equal(free_count, frees);
    assert_int_equal(p.r.site_count, 2 * STACKS);
    for (size_t i = 0; i < p.r.site_count; i++) {
        const struct vt_replay_site *s = &p.r.sites[i];
        uint64_t frame = *vt_log_words(&p.log, &p.log.stacks[s->stack]);
        assert_int_equal(s->live_bytes, by_stack[s->device][frame - 0x1001]);
        assert_int_equal(s->bytes_at_peak, at_peak[s->device][frame - 0x1001]);
    }
    unplay(&p);
    maker_free(&m);
}

/* At one and the same tick, on different threads, what frees comes first: the address is used
 * again. */
static void frees_come_first(void **state) {
    struct vt_maker m;
    struct played p;
    (void)state;
    maker_start(&m);
    maker_alloc(&m, 0, 10, VT_KIND_DEVICE, 2, 0, 0, 0x1000, 100, 0);
    maker_alloc(&m, 1, 20, VT_KIND_DEVICE, 2, 0, 0, 0x1000, 30, 0);
    maker_free_at(&m, 0, 20, VT_KIND_DEVICE, 0x1000);
    play(&m, all, &p);
    assert_int_equal(p.r.replaced, 0);
    assert_int_equal(p.r.devices[0].driver.live_bytes, 30);
    assert_int_equal(p.r.devices[0].driver.peak_bytes, 100);
    unplay(&p);
    maker_free(&m);
}

static void spaces_are_apart(void **state) {
    struct vt_maker m;
    struct played p;
    (void)state;
    maker_start(&m);
    maker_alloc(&m, 0, 1, VT_KIND_DEVICE, 2, 0, 0, 0x1000, 1, 0);
    maker_alloc(&m, 0, 2, VT_KIND_HOST, 16, VT_DEVICE_HOST, 0, 0x1000, 2, 0);
    maker_alloc(&m, 0, 3, VT_KIND_BLOCK, 2, 0, 0, 0x1000, 4, 0);
    maker_alloc(&m, 0, 4, VT_KIND_PHYSICAL, 2, 0, 0, 0x1000, 8, 0);
    maker_alloc(&m, 0, 5, VT_KIND_REGISTERED, 2, 0, 0, 0x1000, 16, 0);
    maker_alloc(&m, 0, 6, VT_KIND_MANAGED, 5, 0, 0, 0x2000, 32, 0);
    maker_free_at(&m, 0, 7, VT_KIND_HOST, 0x1000);
    maker_free_at(&m, 0, 8, VT_KIND_NONE, 0x2000);
    maker_free_at(&m, 0, 9, VT_KIND_NONE, 0x3000);
    play(&m, all, &p);
    assert_int_equal(p.r.replaced, 0);
    assert_int_equal(p.r.unknown_frees, 1);
    assert_int_equal(p.r.devices[0].driver.live_bytes, 9);
    assert_int_equal(p.r.devices[0].framework.live_bytes, 4);
    assert_int_equal(p.r.host.live_bytes, 16);
    assert_int_equal(p.r.host.peak_bytes, 18);
    assert_int_equal(p.r.managed.live_bytes, 0);
    assert_int_equal(p.r.managed.peak_bytes, 32);
    check_sums(&p.r);
    unplay(&p);
    maker_free(&m);
}

static void replacement(void **state) {
    struct vt_maker m;
    struct played p;
    (void)state;
    maker_start(&m);
    maker_alloc(&m, 0, 1, VT_KIND_DEVICE, 2, 0, 0, 0x1000, 100, 0);
    maker_alloc(&m, 0, 2, VT_KIND_DEVICE, 2, 0, 0, 0x1000, 7, 0);
    play(&m, all, &p);
    assert_int_equal(p.r.replaced, 1);
    assert_int_equal(p.r.devices[0].driver.live_bytes, 7);
    assert_int_equal(p.r.devices[0].driver.live_count, 1);
    assert_int_equal(p.r.devices[0].driver.largest_bytes, 100);
    check_sums(&p.r);
    unplay(&p);
    maker_free(&m);
}

/* Many live things of three contexts, among them kinds that outlive a context. */
static void contexts_end(void **state) {
    struct vt_maker m;
    struct played p;
    (void)state;
    maker_start(&m);
    for (uint64_t i = 0; i < 9000; i++)
        maker_alloc(&m, 0, 0, i % 4 == 3 ? VT_KIND_POOL : VT_KIND_DEVICE, 2, 0, 0, 0x1000 + i * 256,
                    1, (unsigned)(i % 3));
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, 0, 0x10, 1000, VT_CONTEXT_UNKNOWN);
    maker_bulk(&m, 0, 0, 1, false);
    maker_bulk(&m, 0, 0, 1, false);
    maker_bulk(&m, 0, 0, 2, true); /* teardown frees nothing */
    maker_bulk(&m, 0, 0, VT_CONTEXT_UNKNOWN, false);
    maker_bulk(&m, 0, 0, 70000, false);
    play(&m, all, &p);
    /* of 3000 in context 1 a quarter are a pool's */
    uint64_t went = 0;
    for (size_t i = 0; i < p.r.site_count; i++) {
        went += p.r.sites[i].context_freed_bytes;
        assert_int_equal(p.r.sites[i].context_freed_bytes, p.r.sites[i].context_freed_count);
    }
    assert_int_equal(went, 2250);
    assert_int_equal(p.r.devices[0].driver.live_bytes, 9000 - 2250 + 1000);
    assert_int_equal(p.r.devices[0].driver.free_count, 2250);
    check_sums(&p.r);
    unplay(&p);
    maker_free(&m);
}

static void windows(void **state) {
    struct vt_maker m;
    struct played p;
    (void)state;
    maker_start(&m);
    maker_alloc(&m, 0, 10, VT_KIND_DEVICE, 2, 0, 0, 0x1000, 100, 0);
    maker_alloc(&m, 0, 20, VT_KIND_DEVICE, 2, 0, 0, 0x2000, 50, 0);
    maker_free_at(&m, 0, 30, VT_KIND_DEVICE, 0x2000);
    maker_alloc(&m, 0, 40, VT_KIND_DEVICE, 2, 0, 0, 0x3000, 8, 0);
    maker_free_at(&m, 0, 50, VT_KIND_DEVICE, 0x1000);
    maker_alloc(&m, 0, 60, VT_KIND_DEVICE, 2, 0, 0, 0x4000, 16, 0);
    play(&m, (struct vt_window){35, 50}, &p);
    assert_int_equal(p.r.site_count, 2);
    assert_true(p.r.sites[0].before);
    assert_int_equal(p.r.sites[0].bytes_at_peak, 100);
    assert_int_equal(p.r.sites[0].live_bytes, 0);
    assert_int_equal(p.r.sites[0].alloc_count, 0);
    assert_false(p.r.sites[1].before);
    assert_int_equal(p.r.sites[1].live_bytes, 8);
    assert_int_equal(p.r.devices[0].driver.peak_bytes, 108);
    assert_int_equal(p.r.devices[0].driver.live_bytes, 8);
    assert_int_equal(p.r.devices[0].driver.alloc_count, 1);
    check_sums(&p.r);
    unplay(&p);
    /* a window that opens behind the last event */
    play(&m, (struct vt_window){1000, VT_TICKS_MASK}, &p);
    assert_int_equal(p.r.site_count, 1);
    assert_int_equal(p.r.sites[0].live_bytes, 24);
    check_sums(&p.r);
    unplay(&p);
    maker_free(&m);
}

/* Two runs of a program whose library was loaded elsewhere; and one where it is another build. */
static uint64_t id_of(uint64_t base, const char *build_id, uint32_t line) {
    struct vt_maker m;
    struct played p;
    uint64_t frames[] = {base + 0x123, vt_frame_python(4, line),
                         VT_FRAME_INTERPRETER | (base + line), 0x999};
    maker_start(&m);
    maker_module(&m, 0, 0, base, base + 0x1000, base, build_id, (uint32_t)strlen(build_id),
                 "/lib/x.so");
    maker_code(&m, 0, 4, 1, "f", "/home/x.py");
    maker_stack(&m, 0, 9, frames, 4);
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 1000, 0, 9, 0x1000, 1, 0);
    play(&m, all, &p);
    assert_int_equal(p.r.site_count, 1);
    uint64_t id = p.r.sites[0].id;
    unplay(&p);
    maker_free(&m);
    return id;
}

static void ids_are_stable(void **state) {
    (void)state;
    assert_int_equal(id_of(0x7f0000000000, "abc", 5), id_of(0x550000000000, "abc", 5));
    assert_int_not_equal(id_of(0x7f0000000000, "abc", 5), id_of(0x7f0000000000, "abd", 5));
    assert_int_not_equal(id_of(0x7f0000000000, "abc", 5), id_of(0x7f0000000000, "abc", 6));
}

/* A stack goes on with that of a thread that waited: it is another site for another caller. Numbers
 * that stand for nothing, or in a circle, do no harm. */
static void callers_count(void **state) {
    struct vt_maker m;
    struct played p;
    uint64_t engine[2][2] = {{0x100, vt_frame_caller(1)}, {0x100, vt_frame_caller(2)}};
    uint64_t unknown[] = {0x100, vt_frame_caller(99)}, alone[] = {0x100}, whole[] = {0x100, 0x201};
    uint64_t circle[2][2] = {{0x300, vt_frame_caller(8)}, {0x400, vt_frame_caller(7)}};
    uint64_t frames[] = {0x201, 0x202};
    (void)state;
    maker_start(&m);
    for (uint32_t i = 0; i < 2; i++) {
        maker_stack(&m, 0, 1 + i, frames + i, 1);
        maker_stack(&m, 0, 3 + i, engine[i], 2);
        maker_stack(&m, 0, 7 + i, circle[i], 2);
    }
    maker_stack(&m, 0, 5, unknown, 2);
    maker_stack(&m, 0, 6, alone, 1);
    maker_stack(&m, 0, 9, whole, 2);
    for (uint32_t stack = 3; stack <= 9; stack++)
        maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, stack, 0x1000 * stack, stack, 0);
    play(&m, all, &p);
    /* 3 is 9, the caller's frame in one stack; 5 is 6, because its caller is not there */
    assert_int_equal(p.r.site_count, 5);
    for (size_t i = 0; i < p.r.site_count; i++)
        if (p.r.sites[i].live_bytes != 3 + 9 && p.r.sites[i].live_bytes != 5 + 6)
            assert_int_equal(p.r.sites[i].live_count, 1);
    check_sums(&p.r);
    unplay(&p);
    maker_free(&m);
}

static void failures(void **state) {
    struct vt_maker m;
    struct played p;
    (void)state;
    maker_start(&m);
    uint64_t frames[] = {1, 2};
    maker_stack(&m, 0, 1, frames, 1);
    maker_stack(&m, 0, 2, frames + 1, 1);
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, 1, 0x1000, 10, 0);
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, 2, 0x2000, 20, 0);
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 1, 2, 0x3000, 500, 0);
    maker_fail(&m, 0, 0, 0, 1, 77, 2);
    maker_fail(&m, 0, 0, 0, 1, 77, 1); /* an invalid value is no want of memory */
    /* a thread goes on when its context is gone: no device was asked */
    maker_fail(&m, 0, 0, VT_DEVICE_UNKNOWN, 1, 77, 709);
    play(&m, all, &p);
    assert_int_equal(p.r.devices[0].driver.failed_count, 2);
    assert_true(p.r.devices[0].driver.used);
    assert_false(p.r.devices[VT_DEVICE_UNKNOWN].driver.used);
    assert_int_equal(p.r.fail_count, 1);
    assert_int_equal(p.r.fails[0].tracked_bytes, 30);
    assert_int_equal(p.r.fails[0].holder_count, 2);
    assert_int_equal(p.r.sites[p.r.fails[0].holders[0]].live_bytes, 20);
    assert_int_equal(p.r.sites[p.r.fails[0].holders[1]].live_bytes, 10);
    unplay(&p);
    maker_free(&m);

    maker_start(&m); /* but one that had no room was */
    maker_fail(&m, 0, 0, VT_DEVICE_UNKNOWN, 1, 77, 2);
    play(&m, all, &p);
    assert_true(p.r.devices[VT_DEVICE_UNKNOWN].driver.used);
    unplay(&p);
    maker_free(&m);
}

/* The exit scan may name an address twice, whose end the tracer did not see, and ones that are not
 * live: each allocation is lost once. */
static void lost_once(void **state) {
    struct vt_maker m;
    struct played p;
    struct {
        struct vt_rec_lost lost;
        uint64_t entries[4];
    } r = {{vt_word(VT_REC_LOST, 0, 0, sizeof r), 4, 0},
           {vt_lost_entry(0x1000, VT_SPACE_DEVICE), vt_lost_entry(0x2000, VT_SPACE_DEVICE),
            vt_lost_entry(0x1000, VT_SPACE_DEVICE), vt_lost_entry(0x9000, VT_SPACE_DEVICE)}};
    struct vt_rec_scan scan = {.word = vt_word(VT_REC_SCAN, 0, 0, sizeof scan),
                               .lost = 4,
                               .at = vt_scan_at(VT_TICKS_MASK)};
    (void)state;
    maker_start(&m);
    uint64_t frame = 1;
    maker_stack(&m, 0, 1, &frame, 1);
    for (uint64_t address = 0x1000; address <= 0x3000; address += 0x1000)
        maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, 1, address, 10, 0);
    maker_put(&m, 0, &scan, sizeof scan);
    maker_put(&m, 0, &r, sizeof r);
    play(&m, all, &p);
    assert_int_equal(p.r.sites[0].live_count, 3);
    assert_int_equal(p.r.sites[0].lost_count, 2);
    unplay(&p);
    maker_free(&m);
}

/* A block with a segment of its own, and what the log tells of it. */
static void put_told(struct vt_maker *m, uint64_t address, uint64_t size, uint64_t requested,
                     uint64_t stream, uint64_t pool) {
    maker_alloc(m, 0, 0, VT_KIND_DEVICE, 2, 0, 0, address, size, 0);
    const struct vt_rec_blockinfo r = {.word = vt_word(VT_REC_BLOCKINFO, VT_KIND_BLOCK, 2000, 0),
                                       .when = when(m, 0, 0),
                                       .requested = requested,
                                       .stream = stream,
                                       .pool = pool};
    maker_put(m, 0, &r, sizeof r);
    maker_alloc(m, 0, vt_when_ticks(r.when), VT_KIND_BLOCK, 2000, 0, 0, address, size, 0);
}

/* What a rehearsal without limits reserves at most. */
static uint64_t rehearsed(struct vt_maker *m) {
    struct vt_log log;
    struct vt_replay r;
    struct vt_rehearsal_setup setup = {.usable = UINT64_MAX, .device_bytes = UINT64_MAX};
    struct vt_string message = {0};
    assert_true(vt_cache_settings_read(NULL, &setup.settings, NULL));
    struct vt_rehearsal *rehearsal = vt_rehearsal_open(0, &setup, 1);
    assert_int_equal(maker_save(m, path), 0);
    assert_int_equal(vt_log_open(path, &log, &message), 0);
    assert_int_equal(
        vt_replay_run(&log, all, (struct vt_replay_options){.rehearsal = rehearsal}, &r, &message),
        0);
    uint64_t peak = vt_rehearsal_result(rehearsal, 0)->peak_reserved;
    vt_rehearsal_close(rehearsal);
    vt_replay_free(&r);
    vt_log_close(&log);
    maker_free(m);
    return peak >> 20;
}

#define A 0x700000000000ull
#define B 0x710000000000ull
#define M << 20

/* What the log tells of blocks reaches the rehearsal: bytes asked for, streams, private pools. */
static void told_blocks(void **state) {
    struct vt_maker m;
    (void)state;
    for (unsigned differ = 0; differ < 3; differ++) { /* in nothing, in the stream, in the pool */
        maker_start(&m);
        put_told(&m, A, 40ull M, 30 M, 0, 0);
        maker_free_at(&m, 0, 0, VT_KIND_BLOCK, A);
        put_told(&m, B, 30ull M, 30 M, differ == 1, differ == 2 ? 0x9000 : 0);
        assert_int_equal(rehearsed(&m), differ ? 60 : 30);
    }
}

/* Segments that return to the driver: the program has emptied the cache, if nothing else is known. */
static void emptied_cache(void **state) {
    enum { EMPTIED, REFUSED, RECOVERED, CASES };
    static const unsigned expected[CASES] = {50, 80, 50};
    struct vt_maker m;
    (void)state;
    for (unsigned i = 0; i < CASES; i++) {
        maker_start(&m);
        put_told(&m, A, 30ull M, 30 M, 0, 0);
        maker_free_at(&m, 0, 0, VT_KIND_BLOCK, A);
        if (i != EMPTIED)
            maker_fail(&m, 0, 0, 0, 0, 50 M, 2);
        if (i == RECOVERED)
            maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, 0, B + (1ull << 36), 1 M, 0);
        maker_free_at(&m, 0, 0, VT_KIND_DEVICE, A);
        put_told(&m, B, 50ull M, 50 M, 0, 0);
        assert_int_equal(rehearsed(&m), expected[i]);
    }
}

/* With a fraction of a device of 100 MiB the allocator itself releases segments: if the next request would exceed it,
 * or, with a threshold, if the reserve has exceeded that. */
static void emptied_by_fraction(void **state) {
    static const struct {
        const char *conf;
        uint64_t idle, next; /* MiB: a segment that returns, and the one after it */
        bool other;          /* something else happens between the two */
        unsigned expected;   /* the sum: the rehearsal has both at once */
    } rows[] = {
        {"per_process_memory_fraction:0.75", 30, 40, false, 40},
        {"per_process_memory_fraction:0.75", 30, 50, false, 80},
        {"per_process_memory_fraction:0.75", 30, 50, true, 50},
        {"garbage_collection_threshold:0.2", 30, 40, false, 40},
        {"garbage_collection_threshold:0.2,per_process_memory_fraction:0.9", 30, 40, false, 70},
        {"garbage_collection_threshold:0.5,per_process_memory_fraction:0.9", 30, 40, false, 40},
    };
    static const char name[] = "PYTORCH_CUDA_ALLOC_CONF";
    struct vt_maker m;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vt_rec_env env = {.name_bytes = sizeof name - 1,
                                 .value_bytes = (uint32_t)strlen(rows[i].conf)};
        maker_start(&m);
        put_parts(&m, 0, &env, sizeof env, VT_REC_ENV, name, env.name_bytes, rows[i].conf,
                  env.value_bytes);
        maker_device(&m, 0, 0, 100 M, "GPU");
        put_told(&m, A, rows[i].idle M, rows[i].idle M, 0, 0);
        put_told(&m, A + (1ull << 36), 1 M, 1 M, 0, 0);
        maker_free_at(&m, 0, 0, VT_KIND_BLOCK, A);
        maker_free_at(&m, 0, 0, VT_KIND_DEVICE, A);
        if (rows[i].other)
            maker_free_at(&m, 0, 0, VT_KIND_BLOCK, A + (1ull << 36));
        put_told(&m, B, rows[i].next M, rows[i].next M, 0, 0);
        assert_int_equal(rehearsed(&m), rows[i].expected + 2); /* a small segment beside them */
    }
}

/* Of several variables PyTorch reads one. */
static void settings_variable(void **state) {
    static const struct vt_variable variables[] = {{"PYTORCH_ALLOC_CONF", "max_split_size_mb:64"},
                                                   {"PYTORCH_CUDA_ALLOC_CONF", "backend:native"}};
    const char *name;
    (void)state;
    assert_string_equal(vt_replay_torch_settings(variables, 2, &name), "backend:native");
    assert_string_equal(name, "PYTORCH_CUDA_ALLOC_CONF");
    assert_string_equal(vt_replay_torch_settings(variables, 1, &name), "max_split_size_mb:64");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_slow_books),
        cmocka_unit_test(frees_come_first),
        cmocka_unit_test(spaces_are_apart),
        cmocka_unit_test(replacement),
        cmocka_unit_test(contexts_end),
        cmocka_unit_test(windows),
        cmocka_unit_test(ids_are_stable),
        cmocka_unit_test(callers_count),
        cmocka_unit_test(failures),
        cmocka_unit_test(lost_once),
        cmocka_unit_test(told_blocks),
        cmocka_unit_test(emptied_cache),
        cmocka_unit_test(emptied_by_fraction),
        cmocka_unit_test(settings_variable),
    };
    return cmocka_run_group_tests(tests, maker_make_folder, maker_remove_folder);
}
