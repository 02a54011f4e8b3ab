/* SPDX-License-Identifier: MIT */
/* What VRAMTRACE_SNAPSHOT_LIMIT may be. */
#include "vramtrace/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define MIB ((uint64_t)1 << 20)

static void bounds_are_time_and_memory(void **state) {
    static const struct {
        const char *text;
        uint64_t ns, bytes;
    } good[] = {{"2s", 2000000000, 0},
                {"500ms", 500000000, 0},
                {"0.25s", 250000000, 0},
                {"256M", 0, 256 * MIB},
                {"1s,1.5G", 1000000000, 1536 * MIB},
                {"1ms,4096", 1000000, 4096}};
    static const char *const bad[] = {
        "",    "s",    "0s",    "0",   "2s,", ",2s", "256M,2s",         "2h",
        "2 s", "2s,0", "1s,2s", "2sx", "-1s", "2S",  "99999999999999s", "99E"};
    uint64_t ns, bytes;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(vt_text_read_bounds(good[i].text, &ns, &bytes), 0);
        assert_int_equal(ns, good[i].ns);
        assert_int_equal(bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!vt_text_read_bounds(bad[i], &ns, &bytes))
            fail_msg("'%s' was read", bad[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_time_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
