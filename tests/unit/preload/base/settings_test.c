/* SPDX-License-Identifier: MIT */
/*
 * settings.c: sizes and shares are read as the command reads them, and written as it writes them.
 */
#include "../preload/base/settings.c"
#include "tests/unit/sizes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void reads(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof size_rows / sizeof *size_rows; i++) {
        const char *text = size_rows[i].text;
        uint64_t bytes = size_rows[i].bytes;
        vt_settings.limit = vt_settings.alarm = vt_settings.alarm_share = 0;
        read_limit("VRAMTRACE_LIMIT", text);
        read_alarm("VRAMTRACE_ALARM", text);
        if (vt_settings.limit != (bytes ? bytes : UINT64_MAX))
            fail_msg("limit %s: %llu", text, (unsigned long long)vt_settings.limit);
        if (vt_settings.alarm != bytes || vt_settings.alarm_share != size_rows[i].share)
            fail_msg("alarm %s: %llu, share %u", text, (unsigned long long)vt_settings.alarm,
                     vt_settings.alarm_share);
    }
}

static void writes(void **state) {
    char text[32];
    (void)state;
    for (size_t i = 0; i < sizeof size_texts / sizeof *size_texts; i++) {
        char *end = vt_text_put_size(text, size_texts[i].bytes);
        assert_string_equal(text, size_texts[i].text);
        assert_ptr_equal(end, text + strlen(text));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads), cmocka_unit_test(writes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
