/* SPDX-License-Identifier: MIT */
/* The text about a growing line: the amount is its own, or that of all lines of its leak; a line with a share is
 * never shown without one. */
#include "watch/watch_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect_hint(const struct vt_watch_process *w, uint32_t line, const char *expected) {
    char *hint = vt_watch_words_hint(w, &w->lines[line]);
    if (expected)
        assert_string_equal(expected, hint);
    else
        assert_null(hint);
    free(hint);
}

static void test_hint(void **state) {
    struct vt_growth alone = {.per = "step",
                              .marked = true,
                              .iterations = 9,
                              .pace = 1 << 20,
                              .full_in = 60000000000u},
                     together = {
                         .per = "rhythm", .iterations = 9, .pace = 8 << 20, .full_in = VT_UNKNOWN};
    struct vt_leak leaks[] = {{.growth = &alone}, {.growth = &together}};
    struct vt_watch_line lines[] = {
        {.leak = &leaks[0]}, {.leak = &leaks[1]}, {0}, {.leak = &leaks[1]}};
    struct vt_watch_process w = {.now = 60000000000u, .lines = lines, .line_count = 4};
    (void)state;
    expect_hint(&w, 0, "grows by 1.00 MiB per step; device full in 0:01:00");
    expect_hint(&w, 1, "part of a leak: 8.00 MiB per iteration");
    expect_hint(&w, 2, NULL);
    together.full_in = 60000000000u;
    expect_hint(&w, 3, "part of a leak: 8.00 MiB per iteration; full in 0:01:00");
}

static void expect_share(uint64_t bytes, double share, const char *expected) {
    char *text = vt_watch_words_share(&(struct vt_watch_line){.bytes = bytes, .share = share});
    assert_string_equal(expected, text);
    free(text);
}

static void test_share(void **state) {
    (void)state;
    expect_share(1, 0.0001, "<1 %");
    expect_share(1, 0.006, "1 %");
    expect_share(1, 1, "100 %");
    expect_share(0, 0, "0 %");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_hint),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
