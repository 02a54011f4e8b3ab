/* SPDX-License-Identifier: MIT */
/* A log's rate is its own, however short its process lived: readers at different times agree. */
#include "logfile/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* A log of this boot, so the current time could also give a rate. Both clocks count from boot, at one tick per
 * nanosecond. */
static struct vt_log make_log(uint64_t lived_ns, uint64_t ticks) {
    struct vt_log log = {.header = {.clock = VT_CLOCK_TSC,
                                    .start_ticks = 1,
                                    .start_monotonic_ns = 1,
                                    .calibration_ticks = 1 + ticks,
                                    .calibration_monotonic_ns = 1 + lived_ns}};
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (f) {
        if (fscanf(f, "%39s", log.header.boot_id) != 1)
            log.header.boot_id[0] = 0;
        fclose(f);
    }
    return log;
}

static void rate_is_in_the_log(void **state) {
    (void)state;
    for (uint64_t lived = 100; lived < 1000000000000u; lived *= 10) {
        struct vt_log log = make_log(lived, lived * 4);
        struct vt_clock clock = vt_clock_of(&log);
        assert_false(clock.guessed);
        assert_true(clock.ns_per_tick == 0.25);
        assert_int_equal(vt_clock_ns(clock, 4000), 1000);
    }
}

/* A pair with an impossible rate is ignored. */
static void impossible_rate(void **state) {
    (void)state;
    struct vt_log log = make_log(1000000, 3);
    assert_true(vt_clock_of(&log).ns_per_tick <= 20);
    log.header.boot_id[0] = 0;
    assert_true(vt_clock_of(&log).guessed);
    log.header.calibration_ticks = 0;
    assert_true(vt_clock_of(&log).guessed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rate_is_in_the_log),
                                       cmocka_unit_test(impossible_rate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
