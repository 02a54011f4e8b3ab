/* SPDX-License-Identifier: MIT */
/* vt_python_merge: each test draws the two stacks as they lie, and states the one that must come
 * out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stack/python.h"

/* Addresses 100 to 199 are the interpreter's, 150 is its loop. */
static bool owns(uintptr_t a) {
    return a >= 100 && a < 200;
}
static bool is_eval(uintptr_t a) {
    return a == 150;
}

#define P(i) (VT_MERGED_PYTHON | (i))
#define I(a) (VT_MERGED_INTERPRETER | (a))

struct scene {
    const uint64_t *address, *sp, *anchors; /* `anchors` and `counts`: of each group */
    const uint32_t *counts;
    uint32_t n, groups;
    bool cut, truncated;
};

static void expect_merge(const struct scene *s, const uint64_t *want, size_t n_want,
                         bool want_unordered) {
    static struct vt_pystack py;
    py = (struct vt_pystack){.n_groups = s->groups, .truncated = s->truncated};
    for (uint32_t g = 0; g < s->groups; g++) {
        py.groups[g] = (struct vt_pygroup){s->anchors[g], py.n_frames, s->counts[g]};
        py.n_frames += s->counts[g];
    }
    struct vt_merge in = {s->address, s->sp, s->n, s->cut, &py, owns, is_eval};
    uint64_t out[64];
    bool unordered = !want_unordered;
    size_t n = vt_python_merge(&in, out, &unordered);
    assert_int_equal(n, n_want);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(out[i], want[i]);
    assert_int_equal(unordered, want_unordered);
}
#define ARRAY(type, ...) ((const type[]){__VA_ARGS__})
#define EXPECT(scene, unordered, ...)                                                              \
    expect_merge((scene), ARRAY(uint64_t, __VA_ARGS__),                                            \
                 sizeof ARRAY(uint64_t, __VA_ARGS__) / sizeof(uint64_t), unordered)

/* An extension (7) called from Python (two frames in one loop), called back from C (8), called from
 * Python, from main. */
static const uint64_t address[] = {7, 110, 150, 120, 8, 130, 150, 140, 9};
static const uint64_t sp[] = {1000, 1010, 1020, 1030, 1040, 1050, 1060, 1070, 1080};
static const uint32_t counts[] = {2, 1};
static const uint64_t anchors[] = {1025, 1061}, none[] = {0, 0};
static const struct scene plain = {address, sp, anchors, counts, 9, 2, false, false};

static void by_anchor(void **state) {
    (void)state;
    EXPECT(&plain, false, 7, I(110), P(0), P(1), I(150), I(120), 8, I(130), P(2), I(150), I(140),
           9);
}

/* 3.8, 3.9: no anchors, each loop is a frame whose address is in the loop's function. */
static void by_counting(void **state) {
    (void)state;
    struct scene s = plain;
    s.anchors = none;
    s.sp = NULL;
    EXPECT(&s, false, 7, I(110), P(0), P(1), I(150), I(120), 8, I(130), P(2), I(150), I(140), 9);
}

static void no_python(void **state) {
    (void)state;
    struct scene s = plain;
    s.groups = 0;
    EXPECT(&s, false, 7, I(110), I(150), I(120), 8, I(130), I(150), I(140), 9);
}

/* The outermost native frames are missing: the Python frames that they ran come last, none is lost.
 */
static void native_cut(void **state) {
    (void)state;
    struct scene s = plain;
    s.n = 5;
    s.cut = true;
    EXPECT(&s, false, 7, I(110), P(0), P(1), I(150), I(120), 8, P(2));
    s.n = 0;
    EXPECT(&s, false, P(0), P(1), P(2));
    s.n = 5;
    s.anchors = none;
    EXPECT(&s, false, 7, I(110), P(0), P(1), I(150), I(120), 8, P(2));
}

/* The Python chain was cut: the outer loops have no frames of ours any more. */
static void python_cut(void **state) {
    (void)state;
    struct scene s = plain;
    s.groups = 1;
    s.truncated = true;
    EXPECT(&s, false, 7, I(110), P(0), P(1), I(150), I(120), 8, I(130), I(150), I(140), 9);
    s.anchors = none;
    EXPECT(&s, false, 7, I(110), P(0), P(1), I(150), I(120), 8, I(130), I(150), I(140), 9);
}

/* What cannot be placed stands first, in one block, and says so: an anchor on another stack,
 * anchors out of order, more loops than groups, fewer loops than groups, anchors but no stack
 * pointers. */
static void unplaceable(void **state) {
    (void)state;
#define BLOCK_FIRST P(0), P(1), P(2), 7, I(110), I(150), I(120), 8, I(130), I(150), I(140), 9
    struct scene s = plain;
    s.anchors = ARRAY(uint64_t, 500, 1061);
    EXPECT(&s, true, BLOCK_FIRST);
    s.anchors = ARRAY(uint64_t, 1061, 1025);
    EXPECT(&s, true, BLOCK_FIRST);
    s.anchors = anchors;
    s.sp = NULL;
    EXPECT(&s, true, BLOCK_FIRST);
    s = plain;
    s.anchors = none;
    s.groups = 1;
    EXPECT(&s, true, P(0), P(1), 7, I(110), I(150), I(120), 8, I(130), I(150), I(140), 9);
    s = plain;
    s.anchors = ARRAY(uint64_t, 0, 0, 0);
    s.counts = ARRAY(uint32_t, 1, 1, 1);
    s.groups = 3;
    EXPECT(&s, true, BLOCK_FIRST);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_anchor),  cmocka_unit_test(by_counting), cmocka_unit_test(no_python),
        cmocka_unit_test(native_cut), cmocka_unit_test(python_cut),  cmocka_unit_test(unplaceable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
