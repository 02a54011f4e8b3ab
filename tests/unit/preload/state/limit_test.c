/* SPDX-License-Identifier: MIT */
/*
 * limit.c and the values of its options: requests within the limit always pass and others never do, with eight
 * threads at once; when an alarm is due; valid sizes.
 */
#define _GNU_SOURCE
#include "state/limit.c"
#include "base/settings.c"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define THREADS 8
#define ROUNDS  200000
#define DEVICE  3

static uint64_t refused_small, let_through;

static bool try_take(struct vt_call *call, uint64_t bytes) {
    *call = (struct vt_call){.hook = 1};
    return vt_limit_reserve(call, VT_KIND_DEVICE, DEVICE, bytes);
}

static int set_up(void **state) {
    (void)state;
    vt_limit_forked();
    memset(totals, 0, sizeof totals);
    vt_settings = (struct vt_settings){.limit = UINT64_MAX};
    return 0;
}

/* Seven threads hold 100 at most, of 1000; the eighth asks for more than there is. */
static void *hold_a_little(void *unused) {
    struct vt_call call;
    for (int i = 0; i < ROUNDS; i++) {
        if (!try_take(&call, 100)) {
            vt_add(&refused_small, 1);
            continue;
        }
        const struct vt_live now = {.size = 100, .kind = VT_KIND_DEVICE, .device = DEVICE};
        vt_limit_finalize_(&call, i % 3 ? &now : NULL); /* the driver refuses every third */
        if (i % 3)
            vt_limit_freed_(&now);
    }
    return unused;
}

static void *ask_too_much(void *unused) {
    struct vt_call call;
    for (int i = 0; i < ROUNDS; i++)
        if (try_take(&call, 1001))
            vt_add(&let_through, 1);
    return unused;
}

static void run(void *(*first)(void *), void *(*others)(void *)) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, i ? others : first, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void what_fits_is_never_refused(void **state) {
    (void)state;
    vt_settings.limit = 1000;
    refused_small = let_through = 0;
    run(ask_too_much, hold_a_little);
    assert_int_equal(0, refused_small);
    assert_int_equal(0, let_through);
    assert_int_equal(0, taken[DEVICE]);
    assert_int_equal(0, live[DEVICE]);
}

static uint64_t held, most;

/* All eight ask for what only some can have. */
static void *compete(void *unused) {
    struct vt_call call;
    for (int i = 0; i < ROUNDS; i++) {
        if (!try_take(&call, 300))
            continue;
        uint64_t now = vt_add(&held, 300) + 300, seen = vt_get(&most);
        while (now > seen && !vt_claim(&most, seen, now))
            seen = vt_get(&most);
        vt_add(&held, -300);
        vt_limit_finalize_(&call, NULL);
    }
    return unused;
}

static void never_more_than_the_limit(void **state) {
    (void)state;
    vt_settings.limit = 1000;
    held = most = 0;
    run(compete, compete);
    assert_true(most <= 900);
    assert_true(most >= 300);
    assert_int_equal(0, taken[DEVICE]);
}

static void what_came_may_differ_from_what_was_taken(void **state) {
    (void)state;
    struct vt_call call;
    const struct vt_live pitched = {.size = 700, .kind = VT_KIND_DEVICE, .device = DEVICE},
                         elsewhere = {.size = 50, .kind = VT_KIND_POOL, .device = 5},
                         managed = {.size = 900, .kind = VT_KIND_POOL_MANAGED, .device = DEVICE};
    vt_settings.limit = 1000;
    assert_true(try_take(&call, 600));
    vt_limit_finalize_(&call, &pitched);
    assert_int_equal(700, taken[DEVICE]);
    assert_int_equal(300, vt_limit_free(DEVICE, 5000));
    assert_false(try_take(&call, 301));
    assert_int_equal(VT_FAIL_LIMIT, call.refused);
    assert_true(try_take(&call, 50));
    vt_limit_finalize_(&call, &elsewhere);
    assert_int_equal(700, taken[DEVICE]);
    assert_int_equal(50, taken[5]);
    assert_true(try_take(&call, 100)); /* taken for a pool that turned out to be managed */
    vt_limit_finalize_(&call, &managed);
    vt_limit_freed_(&managed);
    assert_int_equal(700, taken[DEVICE]);
    vt_limit_freed_(&pitched);
    assert_int_equal(0, taken[DEVICE]);
    assert_int_equal(200, vt_limit_free(DEVICE, 200));
    assert_int_equal(1000, vt_limit_total(DEVICE, 4000));
    assert_int_equal(800, vt_limit_total(DEVICE, 800));
    /* Host and managed memory is not limited. */
    call = (struct vt_call){.hook = 1};
    assert_true(vt_limit_reserve(&call, VT_KIND_HOST, DEVICE, 5000));
    assert_true(vt_limit_reserve(&call, VT_KIND_MANAGED, DEVICE, 5000));
    assert_int_equal(0, call.reserved);
    assert_false(try_take(&call, UINT64_MAX));
}

static void an_alarm_in_percent(void **state) {
    (void)state;
    vt_settings.alarm_share = 900000;
    vt_settings.alarm_text = "90%";
    assert_int_equal(0, alarm_bytes(DEVICE)); /* no total known: none */
    vt_limit_total(DEVICE, 150754820096);
    assert_int_equal(135679338086, alarm_bytes(DEVICE));
    vt_limit_total(DEVICE, UINT64_MAX);
    assert_int_equal(16602069666338596453ull, alarm_bytes(DEVICE));
}

static void sizes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes; /* 0: not a size */
    } cases[] = {{"1", 1},
                 {"22548578304", 22548578304},
                 {"512M", 512ull << 20},
                 {"512m", 512ull << 20},
                 {"512MiB", 512ull << 20},
                 {"512MB", 512ull << 20},
                 {"1.5G", 3ull << 29},
                 {"1.5GiB", 3ull << 29},
                 {"0.5k", 512},
                 {"3.k", 3072},
                 {"7B", 7},
                 {"2.999999999999G", 3221225471},
                 {"15E", 15ull << 60},
                 {"18446744073709551615", UINT64_MAX},
                 {"", 0},
                 {"0", 0},
                 {"0.0G", 0},
                 {"G", 0},
                 {".5G", 0},
                 {"-1", 0},
                 {"+1", 0},
                 {" 1", 0},
                 {"1 ", 0},
                 {"1 G", 0},
                 {"0x10", 0},
                 {"1e9", 0},
                 {"1.5.5G", 0},
                 {"1Gi", 0},
                 {"1GG", 0},
                 {"1iB", 0},
                 {"16E", 0},
                 {"18446744073709551616", 0},
                 {"nan", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t bytes = 0;
        bool is_size = read_size(cases[i].text, &bytes);
        if (is_size != (cases[i].bytes > 0) || (is_size && bytes != cases[i].bytes))
            fail_msg("\"%s\": expected %llu, found %llu (%d)", cases[i].text,
                     (unsigned long long)cases[i].bytes, (unsigned long long)bytes, is_size);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_fits_is_never_refused, set_up),
        cmocka_unit_test_setup(never_more_than_the_limit, set_up),
        cmocka_unit_test_setup(what_came_may_differ_from_what_was_taken, set_up),
        cmocka_unit_test_setup(an_alarm_in_percent, set_up),
        cmocka_unit_test_setup(sizes, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
