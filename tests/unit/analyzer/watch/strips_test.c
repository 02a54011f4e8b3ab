/* SPDX-License-Identifier: MIT */
/* A device's bar fills its columns and hides no part; its course loses no peak. */
#include "watch/strips.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define GIB ((uint64_t)1 << 30)

static void expect_bar(uint64_t in_use, uint64_t cached, uint64_t untracked, uint64_t free_bytes,
                       unsigned columns, const unsigned expected[VT_STRIPS]) {
    struct vt_device device = {.untracked_bytes = untracked, .other_processes_bytes = VT_UNKNOWN};
    struct vt_watch_device d = {
        .device = &device, .in_use = in_use, .cached = cached, .free = free_bytes};
    unsigned widths[VT_STRIPS];
    vt_strips_bar(&d, columns, widths);
    for (unsigned i = 0; i < VT_STRIPS; i++)
        assert_int_equal(expected[i], widths[i]);
}

static void test_bar(void **state) {
    (void)state;
    expect_bar(12 * GIB, 6 * GIB, 0, 6 * GIB, 40, (const unsigned[]){20, 10, 0, 0, 10});
    /* one byte has a column, which the widest gives */
    expect_bar(1, 1, 1, 24 * GIB, 40, (const unsigned[]){1, 1, 1, 0, 37});
    expect_bar(24 * GIB, 1, 1, 0, 40, (const unsigned[]){38, 1, 1, 0, 0});
    /* nothing is known, or there is hardly any room */
    expect_bar(0, 0, 0, VT_UNKNOWN, 10, (const unsigned[]){0, 0, 0, 0, 10});
    expect_bar(1, 1, 1, 1, 2, (const unsigned[]){0, 0, 1, 0, 1});
}

static void test_course(void **state) {
    enum { COLUMNS = 10 };
    const uint64_t second = 1000000000u;
    struct vt_watch_point points[] = {{0, 0, 0},
                                      {10 * second, 5, 4},
                                      {32 * second, 90, VT_UNKNOWN}, /* a peak of a moment */
                                      {33 * second, 5, 5},
                                      {99 * second, 7, 2}};
    struct vt_watch_device d = {.course = points, .course_count = sizeof points / sizeof *points};
    struct vt_strip_course c;
    (void)state;
    struct vt_strip_level *levels = vt_strips_course(&d, 100 * second, COLUMNS, &c);
    const uint64_t live[COLUMNS] = {0, 5, 5, 90, 5, 5, 5, 5, 5, 7};
    const uint64_t in_use[COLUMNS] = {0, 4, 4, 5, 5, 5, 5, 5, 5, 5};
    assert_int_equal(90, c.highest);
    assert_int_equal(100 * second, c.span);
    for (unsigned i = 0; i < COLUMNS; i++) {
        assert_int_equal(live[i], levels[i].live);
        assert_int_equal(in_use[i], levels[i].in_use);
    }
    free(levels);
    /* for a long run the last five minutes, beginning with the memory live before */
    levels = vt_strips_course(&d, 1000 * second, COLUMNS, &c);
    assert_int_equal(300 * second, c.span);
    assert_int_equal(7, levels[0].live);
    assert_int_equal(7, c.highest);
    free(levels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bar),
        cmocka_unit_test(test_course),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
