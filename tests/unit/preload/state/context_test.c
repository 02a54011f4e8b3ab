/* SPDX-License-Identifier: MIT */
/* What another thread may do while a context is numbered: context.c is compiled here with stores and
 * exchanges that let the other one go first. */
#include "base/atomic.h"

static void (*between)(void);
static unsigned skip; /* how many of these places pass by */

static void let_other_go(void) {
    void (*other)(void) = between;
    if (!other || (skip && skip--))
        return;
    between = 0;
    other();
}

#undef vt_claim
#define vt_claim(p, expected, v)                                                                   \
    __extension__({                                                                                \
        __typeof__(*(p)) vt_was_ = (expected);                                                     \
        let_other_go();                                                                            \
        __atomic_compare_exchange_n((p), &vt_was_, (v), false, __ATOMIC_ACQ_REL,                   \
                                    __ATOMIC_ACQUIRE);                                             \
    })
#undef vt_put
#define vt_put(p, v) (let_other_go(), __atomic_store_n((p), (v), __ATOMIC_RELAXED))

#include "state/context.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const CUcontext first = (CUcontext)0x1000, second = (CUcontext)0x2000;
enum { PLACES = 8 }; /* more than any function here has */
static unsigned others_number, others_device;

static int none(void **state) {
    (void)state;
    between = NULL;
    vt_context_forked();
    return 0;
}

static void number_first(void) {
    others_number = vt_context_number(first);
}

static void make_first_on_3(void) {
    others_number = vt_context_made(first, 3, false);
}

static void look_at_second(void) {
    others_number = vt_context_number(second);
    others_device = vt_context_device(others_number);
}

/* Both threads get one number, whichever comes first. */
static void numbered_once(void **state) {
    for (unsigned place = 0; place < PLACES; place++) {
        none(state);
        between = number_first;
        skip = place;
        unsigned number = vt_context_made(first, 3, true);
        if (between)
            break;
        assert_int_equal(number, others_number);
        assert_int_equal(vt_context_device(number), 3);
        assert_int_equal(vt_context_primary(3), number);
        assert_int_equal(vt_context_current(), number); /* the only one */
        assert_in_range(place, 0, PLACES - 2);
    }
}

/* A thread that only mentions the context takes nothing from the one that made it. */
static void device_stays(void **state) {
    for (unsigned place = 0; place < PLACES; place++) {
        none(state);
        between = make_first_on_3;
        skip = place;
        unsigned number = vt_context_number(first);
        if (between)
            break;
        assert_int_equal(number, others_number);
        assert_int_equal(vt_context_device(number), 3);
    }
}

/* A number that is used again says nothing about the context before: neither device nor owner. */
static void nothing_of_the_one_before(void **state) {
    for (unsigned place = 0; place < PLACES; place++) {
        none(state);
        unsigned owner = vt_context_made(first, 7, true);
        vt_context_alias((CUcontext)0x3000, owner);
        assert_int_equal(vt_context_number((CUcontext)0x3000), owner);
        vt_context_gone(1 - owner);
        between = look_at_second;
        skip = place;
        unsigned number = vt_context_made(second, 4, false);
        if (between)
            break;
        assert_int_equal(number, 1 - owner);
        assert_int_equal(others_number, number);
        assert_true(others_device == VT_DEVICE_UNKNOWN || others_device == 4);
    }
}

/* The end of a context that the driver refuses. */
static void stays_when_refused(void **state) {
    (void)state;
    unsigned number = vt_context_made(first, 2, false);
    uint64_t handle = vt_context_ends(number);
    assert_int_equal(vt_context_current(), VT_CONTEXT_UNKNOWN);
    vt_context_stays(number, handle);
    assert_int_equal(vt_context_number(first), number);
    assert_int_equal(vt_context_device(number), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(numbered_once, none),
        cmocka_unit_test_setup(device_stays, none),
        cmocka_unit_test_setup(nothing_of_the_one_before, none),
        cmocka_unit_test_setup(stays_when_refused, none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
