/* SPDX-License-Identifier: MIT */
/*
 * The lock-free table behind the tracer's state (preload/base/table.c, and live.c on it): random work of four threads
 * compared with each thread's expectation, growth over several tables, invalid addresses, ends of contexts.
 * Everything is included here, so that -DALONE makes a program without the rest of the library, for the sanitizers:
 *   gcc -DALONE -fsanitize=thread -Iinclude -Ipreload -g -O1 tests/unit/preload/state/live_test.c -lcmocka
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/table.c"
#include "state/live.c"

#ifdef ALONE /* the exit scan needs our own memory ranges: not in this test */
bool vt_sys_sealed;
bool vt_sys_careful;
bool vt_sys_is_free(void) {
    return true;
}
void vt_mappings_add(const void *start, size_t bytes) {
    (void)start;
    (void)bytes;
}
void vt_mappings_remove(const void *start) {
    (void)start;
}
__thread struct vt_tls vt_tls;
struct vt_peak_device vt_peak_devices[VT_PEAK_DEVICES];
void vt_peak_freed_(const struct vt_live *was) {
    (void)was;
}
bool vt_growth_trigger_on;
void vt_growth_trigger_allocated_(const struct vt_live *what) {
    (void)what;
}
void vt_growth_trigger_freed_(uint32_t stack) {
    (void)stack;
}
#endif

/* The limit's accounting: the bytes returned to it. */
bool vt_limit_on;
static uint64_t given_back;
static void (*at_giving_back)(void);
void vt_limit_freed_(const struct vt_live *was) {
    given_back += was->size;
    if (at_giving_back)
        at_giving_back();
}

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define OWN     20000u
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) /* these are slow */
#define STEPS 60000u
#define GROWN 120000u
#else
#define STEPS 400000u
#define GROWN 600000u
#endif

struct worker {
    unsigned number;
    uint32_t random;
    uint64_t size[OWN]; /* 0: not live */
    unsigned faults;
};

static uint32_t next(struct worker *w) {
    w->random ^= w->random << 13;
    w->random ^= w->random >> 17;
    w->random ^= w->random << 5;
    return w->random;
}

/* Addresses of different threads lie between each other. */
static uint64_t address_of(const struct worker *w, unsigned i) {
    return 0x7f0000000000ull + ((uint64_t)i * THREADS + w->number) * 512;
}

static unsigned kind_of(unsigned i) {
    static const unsigned kinds[] = {VT_KIND_DEVICE, VT_KIND_POOL, VT_KIND_HOST, VT_KIND_MANAGED};
    return kinds[i % 4];
}

static void *work(void *arg) {
    struct worker *w = arg;
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned i = next(w) % OWN;
        struct vt_live what = {.address = address_of(w, i),
                               .size = 1 + next(w),
                               .stack = step,
                               .context = (uint16_t)w->number,
                               .hook = 2,
                               .kind = (uint8_t)kind_of(i),
                               .device = (uint8_t)w->number};
        struct vt_live was;
        bool replaced;
        if (i & 1 && (!w->size[i] || next(w) % 8 == 0)) {
            w->faults += !vt_live_put(&what, &was, &replaced);
            w->faults += replaced != (w->size[i] > 0) || (replaced && was.size != w->size[i]);
            w->size[i] = what.size;
        } else if (!w->size[i]) {
            w->faults += vt_live_remove(what.address, what.kind, &was);
            w->faults += !vt_live_insert(&what);
            w->size[i] = what.size;
        } else {
            w->faults += !vt_live_remove(what.address, what.kind, &was);
            w->faults += was.size != w->size[i] || was.address != what.address ||
                         was.kind != what.kind || was.device != w->number ||
                         was.context != w->number;
            w->faults += vt_live_remove(what.address, what.kind, &was);
            w->size[i] = 0;
        }
    }
    return NULL;
}

static void random_work_matches_what_each_thread_knows(void **unused) {
    (void)unused;
    static struct worker workers[THREADS];
    pthread_t threads[THREADS];
    uint64_t bytes = 0, count = 0, found_bytes, found_count;
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].random = 1234567u + i;
        assert_int_equal(0, pthread_create(&threads[i], NULL, work, &workers[i]));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(0, workers[i].faults);
        for (unsigned k = 0; k < OWN; k++)
            if (workers[i].size[k] && vt_kind_layer(kind_of(k)) == VT_LAYER_DRIVER) {
                bytes += workers[i].size[k];
                count++;
            }
    }
    vt_live_total(&found_bytes, &found_count);
    assert_int_equal(bytes, found_bytes);
    assert_int_equal(count, found_count);
    /* A context's end takes what it owns, and leaves the pools'. */
    for (unsigned i = 0; i < THREADS; i++) {
        uint64_t owned = 0;
        struct vt_live was;
        for (unsigned k = 0; k < OWN; k++)
            if (vt_kind_owner(kind_of(k)) == VT_OWNER_CONTEXT)
                owned += workers[i].size[k];
        assert_int_equal(owned, vt_live_remove_context(i));
        for (unsigned k = 0; k < OWN; k++)
            assert_int_equal(workers[i].size[k] && vt_kind_owner(kind_of(k)) != VT_OWNER_CONTEXT,
                             vt_live_remove(address_of(&workers[i], k), kind_of(k), &was));
    }
    vt_live_total(&found_bytes, &found_count);
    assert_int_equal(0, found_bytes + found_count);
}

static void it_grows_and_finds_everything_again(void **unused) {
    (void)unused;
    const unsigned n = GROWN; /* the first tables have 16,384 and 65,536 slots */
    struct vt_live was;
    uint64_t bytes, count;
    for (unsigned i = 0; i < n; i++) {
        struct vt_live what = {
            .address = 0x100000000ull + 256ull * i, .size = i + 1, .kind = VT_KIND_DEVICE};
        assert_true(vt_live_insert(&what));
    }
    vt_live_total(&bytes, &count);
    assert_int_equal(n, count);
    assert_int_equal((uint64_t)n * (n + 1) / 2, bytes);
    for (unsigned i = n; i-- > 0;) {
        assert_true(vt_live_remove(0x100000000ull + 256ull * i, VT_KIND_DEVICE, &was));
        assert_int_equal(i + 1, was.size);
    }
    vt_live_total(&bytes, &count);
    assert_int_equal(0, count);
}

static void spaces_are_apart_and_no_address_is_none(void **unused) {
    (void)unused;
    struct vt_live was, device = {.address = 0x5000, .size = 1, .kind = VT_KIND_DEVICE},
                        host = {.address = 0x5000, .size = 2, .kind = VT_KIND_HOST},
                        wild = {.address = ~0ull, .size = 3, .kind = VT_KIND_DEVICE};
    assert_true(vt_live_insert(&device));
    assert_true(vt_live_insert(&host));
    assert_false(vt_live_insert(&wild));
    assert_false(vt_live_remove(~0ull, VT_KIND_DEVICE, &was));
    assert_false(vt_live_remove(0, VT_KIND_DEVICE, &was));
    assert_false(vt_live_remove(0x5000, VT_KIND_BLOCK, &was));
    assert_true(vt_live_remove(0x5000, VT_KIND_POOL, &was)); /* a free need not know the kind */
    assert_int_equal(VT_KIND_DEVICE, was.kind);
    assert_true(vt_live_remove(0x5000, VT_KIND_HOST, &was));
    assert_int_equal(2, was.size);
}

/* A block's free was not seen, and its address is given out again. */
static void what_takes_a_place_tells_what_was_there(void **unused) {
    (void)unused;
    struct vt_live was, first = {.address = 0x5000, .size = 1, .stack = 3, .kind = VT_KIND_BLOCK},
                        next = {.address = 0x5000, .size = 2, .stack = 4, .kind = VT_KIND_BLOCK};
    bool replaced;
    assert_true(vt_live_put(&first, &was, &replaced) && !replaced);
    assert_true(vt_live_put(&next, &was, &replaced) && replaced);
    assert_true(was.address == 0x5000 && was.size == 1 && was.stack == 3);
    assert_true(vt_live_remove(0x5000, VT_KIND_BLOCK, &was));
    assert_int_equal(2, was.size);
    assert_false(vt_live_remove(0x5000, VT_KIND_BLOCK, &was));
}

/* A context has ended, and the driver has given one of its addresses to another context's memory
 * before the old entry was taken out: by then, or while the walk is at work. */
static const struct vt_live
    old = {.address = 0x10000, .size = 5, .context = 1, .kind = VT_KIND_DEVICE},
    new = {.address = 0x10000, .size = 7, .context = 2, .kind = VT_KIND_DEVICE};

static void allocate_again(void) {
    at_giving_back = NULL;
    vt_live_insert(&new);
}

static void expect_new_and_end_it(void) {
    struct vt_live was;
    assert_true(vt_live_remove(0x10000, VT_KIND_DEVICE, &was));
    assert_int_equal(was.context, 2);
    assert_int_equal(given_back, 5);
    assert_false(vt_live_remove(0x10000, VT_KIND_DEVICE, &was));
    given_back = 0;
}

static void memory_that_is_another_contexts_already(void **state) {
    (void)state;
    vt_limit_on = true;
    vt_live_contexts_end();
    vt_live_insert(&old);
    vt_live_insert(&new);
    assert_int_equal(vt_live_remove_context(1), 0);
    expect_new_and_end_it();
    vt_live_insert(&old);
    at_giving_back = allocate_again;
    assert_int_equal(vt_live_remove_context(1), 5);
    expect_new_and_end_it();
    vt_limit_on = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_work_matches_what_each_thread_knows),
        cmocka_unit_test(it_grows_and_finds_everything_again),
        cmocka_unit_test(spaces_are_apart_and_no_address_is_none),
        cmocka_unit_test(what_takes_a_place_tells_what_was_there),
        cmocka_unit_test(memory_that_is_another_contexts_already),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
