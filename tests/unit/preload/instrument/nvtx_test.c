/* SPDX-License-Identifier: MIT */
/* Texts that NVTX registers lie in memory of a fixed size: nvtx.c is compiled here with exchanges that
 * let another thread go first. */
#define _GNU_SOURCE /* before the first header, as in nvtx.c */
#include "base/atomic.h"

static void (*between)(void);

static void let_other_go(void) {
    void (*other)(void) = between;
    between = 0;
    if (other)
        other();
}

#undef vt_add
#define vt_add(p, v) (let_other_go(), __atomic_fetch_add((p), (v), __ATOMIC_RELAXED))
#undef vt_claim
#define vt_claim(p, expected, v)                                                                   \
    __extension__({                                                                                \
        __typeof__(*(p)) vt_was_ = (expected);                                                     \
        let_other_go();                                                                            \
        __atomic_compare_exchange_n((p), &vt_was_, (v), false, __ATOMIC_ACQ_REL,                   \
                                    __ATOMIC_ACQUIRE);                                             \
    })

#include "instrument/nvtx.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct text *others;

static void take_the_last(void) {
    others = new_text("a", 0);
}

static void room_is_never_exceeded(void **state) {
    (void)state;
    struct text *text = new_text("a", 0);
    assert_non_null(text);
    assert_string_equal(text->text, "a");
    uint32_t bytes = arena_used;
    arena_used = ARENA_MAX - bytes;
    between = take_the_last;
    assert_null(new_text("a", 0));
    assert_non_null(others);
    assert_int_equal(arena_used, ARENA_MAX);
    assert_true(is_ours(others));
    assert_false(is_ours(arena + ARENA_MAX)); /* another's handle may point there */
    assert_null(new_text("", 0));
    assert_int_equal(arena_used, ARENA_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(room_is_never_exceeded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
