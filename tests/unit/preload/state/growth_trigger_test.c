/* SPDX-License-Identifier: MIT */
/* When memory has grown enough for another look at its owners (preload/state/growth_trigger.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "state/state.h"

static uint64_t address;

static bool was_due(void) {
    bool due = vt_tls.due & VT_DUE_GROWTH;
    vt_tls.due = 0;
    if (due)
        vt_growth_trigger_reset();
    return due;
}

static uint64_t take(uint32_t stack, uint64_t size) {
    const struct vt_live what = {
        .address = address += 1 << 20, .size = size, .stack = stack, .kind = VT_KIND_BLOCK};
    assert_true(vt_live_insert(&what));
    return address;
}

static void give(uint64_t at) {
    struct vt_live was;
    assert_true(vt_live_remove(at, VT_KIND_BLOCK, &was));
}

static int start(void **state) {
    (void)state;
    vt_growth_trigger_forked();
    vt_live_forked();
    vt_growth_trigger_start();
    was_due();
    return 0;
}

/* Allocates and frees at once. Whether that was the time for a look. */
static bool pass(unsigned n) {
    bool due = false;
    while (n--) {
        give(take(1000, 1));
        due |= was_due();
    }
    return due;
}

/* How many allocations from `from` to `to` were worth a look; the first 16 of them. */
static unsigned rise(uint32_t stack, unsigned from, unsigned to, unsigned at[16]) {
    unsigned count = 0;
    for (unsigned i = from; i <= to; i++) {
        take(stack, 1);
        if (was_due() && count < 16)
            at[count++] = i;
    }
    return count;
}

/* 8, 16, 32 and 64, and a quarter more. */
static void each_doubling_of_a_stack(void **state) {
    static const unsigned expected[] = {10, 20, 40, 80};
    unsigned at[16];
    (void)state;
    assert_int_equal(rise(1, 1, 100, at), 4);
    assert_memory_equal(at, expected, sizeof expected);
    assert_int_equal(rise(2, 1, 35, at), 1); /* another one counts apart */
    assert_int_equal(at[0], 35);             /* 108 allocations when it had 8; 135 */
}

/* Memory that falls and returns to the same height does not trigger; further growth does. */
static void never_twice_at_one_height(void **state) {
    unsigned at[16];
    (void)state;
    assert_int_equal(rise(1, 1, 20, at), 2);
    for (unsigned i = 0; i < 20; i++)
        give(address - ((uint64_t)i << 20));
    assert_int_equal(rise(1, 1, 31, at), 0);
    assert_int_equal(rise(1, 32, 50, at), 1);
    assert_int_equal(at[0], 45); /* 52 allocations when it had 32; 65 */
}

/* What a step allocates and frees again is no growth, however often it does. */
static void a_step_is_no_growth(void **state) {
    unsigned at[16];
    (void)state;
    pass(100);
    for (int step = 0; step < 5; step++) {
        assert_int_equal(rise(1, 1, 8, at), 0);
        for (unsigned i = 0; i < 5; i++)
            give(address - ((uint64_t)i << 20));
        assert_false(pass(100));
        for (unsigned i = 0; i < 3; i++)
            give(address - ((uint64_t)(105 + i) << 20));
    }
    rise(1, 1, 8, at);
    assert_int_equal(rise(1, 9, 16, at), 0);
    assert_true(pass(1000));
}

static void next_look_waits(void **state) {
    unsigned at[16];
    (void)state;
    pass(100);
    assert_int_equal(rise(1, 1, 40, at), 1);
    assert_int_equal(at[0], 35); /* 135 allocations: the next at 202 */
    assert_int_equal(rise(2, 1, 8, at), 0);
    assert_false(pass(53)); /* 201 */
    assert_true(pass(1));
}

/* More stacks than can be watched: taken for growth. */
static void many_stacks(void **state) {
    unsigned at[16], due = 0;
    (void)state;
    pass(2000);
    for (uint32_t stack = 1; stack <= 33; stack++)
        due += rise(stack, 1, 8, at);
    assert_int_equal(due, 1);
}

static void other_stacks_do_not_hide_it(void **state) {
    unsigned at[16];
    (void)state;
    rise(1, 1, 5000, at);
    pass(10000);
    assert_int_equal(rise(2, 1, 8, at), 0);
    assert_true(pass(4096));
}

static void each_rise_of_a_device_by_half(void **state) {
    (void)state;
    pass(1);
    vt_growth_trigger_device(0, (1 << 20) - 1);
    assert_false(was_due());
    vt_growth_trigger_device(0, 1 << 20);
    assert_true(was_due());
    vt_growth_trigger_device(0, 3 << 18);
    vt_growth_trigger_device(0, (3 << 19) - 1);
    assert_false(was_due());
    vt_growth_trigger_device(1, 1 << 20);
    assert_true(was_due());
    vt_growth_trigger_device(0, 3 << 19);
    assert_true(was_due());
}

/* What lived when it began is counted; until then, and in a forked child, nothing is. */
static void begins(void **state) {
    unsigned at[16];
    (void)state;
    vt_growth_trigger_forked();
    assert_int_equal(rise(1, 1, 15, at), 0);
    vt_growth_trigger_start();
    was_due();
    assert_int_equal(rise(1, 16, 16, at), 1);
    assert_int_equal(vt_tls.newest, address);
    give(address);
    assert_int_equal(vt_tls.newest, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_doubling_of_a_stack, start),
        cmocka_unit_test_setup(never_twice_at_one_height, start),
        cmocka_unit_test_setup(a_step_is_no_growth, start),
        cmocka_unit_test_setup(next_look_waits, start),
        cmocka_unit_test_setup(many_stacks, start),
        cmocka_unit_test_setup(other_stacks_do_not_hide_it, start),
        cmocka_unit_test_setup(each_rise_of_a_device_by_half, start),
        cmocka_unit_test_setup(begins, start),
    };
    return cmocka_run_group_tests_name("rise", tests, NULL, NULL);
}
