/* SPDX-License-Identifier: MIT */
/* When memory has grown enough for another look at its owners (preload/books/rise.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "books/books.h"

static uint64_t address;

static bool was_due(void) {
    bool due = vt_tls.due & VT_DUE_RISEN;
    vt_tls.due = 0;
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
    vt_rise_forked();
    vt_live_forked();
    vt_rise_start();
    was_due();
    return 0;
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

static void each_doubling_of_a_stack(void **state) {
    static const unsigned expected[] = {8, 16, 32, 64};
    unsigned at[16];
    (void)state;
    assert_int_equal(rise(1, 1, 100, at), 4);
    assert_memory_equal(at, expected, sizeof expected);
    assert_int_equal(rise(2, 1, 9, at), 1); /* another one counts apart */
}

/* What falls and comes back to the same height tells nothing new; what goes on does. */
static void never_twice_at_one_height(void **state) {
    unsigned at[16];
    (void)state;
    assert_int_equal(rise(1, 1, 20, at), 2);
    for (unsigned i = 0; i < 20; i++)
        give(address - ((uint64_t)i << 20));
    assert_int_equal(rise(1, 1, 31, at), 0);
    assert_int_equal(rise(1, 32, 40, at), 1);
    assert_int_equal(at[0], 32);
}

static void other_stacks_do_not_hide_it(void **state) {
    unsigned at[16];
    (void)state;
    rise(1, 1, 5000, at);
    assert_int_equal(rise(2, 1, 16, at), 2);
}

static void each_rise_of_a_device_by_half(void **state) {
    (void)state;
    vt_rise_sum(0, (1 << 20) - 1);
    assert_false(was_due());
    vt_rise_sum(0, 1 << 20);
    assert_true(was_due());
    vt_rise_sum(0, 3 << 18);
    vt_rise_sum(0, (3 << 19) - 1);
    assert_false(was_due());
    vt_rise_sum(1, 1 << 20);
    assert_true(was_due());
    vt_rise_sum(0, 3 << 19);
    assert_true(was_due());
}

/* What lived when it began is counted; until then, and in a forked child, nothing is. */
static void begins(void **state) {
    unsigned at[16];
    (void)state;
    vt_rise_forked();
    assert_int_equal(rise(1, 1, 15, at), 0);
    vt_rise_start();
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
        cmocka_unit_test_setup(other_stacks_do_not_hide_it, start),
        cmocka_unit_test_setup(each_rise_of_a_device_by_half, start),
        cmocka_unit_test_setup(begins, start),
    };
    return cmocka_run_group_tests_name("rise", tests, NULL, NULL);
}
