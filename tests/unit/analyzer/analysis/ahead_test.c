/* SPDX-License-Identifier: MIT */
/*
 * When a device will be full: a time that 64 bits do not hold is unknown, not whatever the
 * conversion of such a number gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/steps.h"

#include <math.h>

static void ahead(void **state) {
    (void)state;
    assert_true(vt_analysis_ahead(0) == 0);
    assert_true(vt_analysis_ahead(1.5e18) == 1500000000000000000u);
    assert_true(vt_analysis_ahead(0x1p63) == VT_UNKNOWN);
    assert_true(vt_analysis_ahead(8e10 * 1e9) == VT_UNKNOWN); /* 80 GiB, a byte a second */
    assert_true(vt_analysis_ahead(INFINITY) == VT_UNKNOWN);
    assert_true(vt_analysis_ahead(0 * INFINITY) == VT_UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ahead)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
