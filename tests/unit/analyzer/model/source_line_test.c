/* SPDX-License-Identifier: MIT */
/* Which frames are on the same source line: file, line, function, module and offset beside the answers. */
#include "model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define C(function_, file_, line_)                                                                 \
    { .function = function_, .file = file_, .line = line_, .module = "p" }
#define PYTHON(function_, file_, line_)                                                            \
    { .function = function_, .file = file_, .line = line_, .python = true }
#define BARE(function_, module_, offset_)                                                          \
    { .function = function_, .module = module_, .offset = offset_ }

static const struct {
    struct vt_frame a, b;
    bool code, shown, named, function;
} rows[] = {
    {C("f()", "/x/a.c", 3), C("f()", "/x/a.c", 3), true, true, true, true},
    {C("f()", "/x/a.c", 3), C("f()", "/x/a.c", 4), false, false, true, true},
    {C("f()", "/x/a.c", 3), C("g()", "/x/a.c", 3), true, false, false, false},
    {C("f()", "/x/a.c", 3), C("f()", "/y/a.c", 3), false, false, true, false},
    {C("f()", "/x/a.c", 3), C("f.cold", "/x/a.c", 3), true, false, true, false},
    /* instances of a template look alike */
    {C("void f<int>(int)", "/x/a.h", 3), C("void f<char>(char)", "/x/a.h", 3), true, true, true,
     false},
    /* without lines */
    {BARE("f", "/x/libx.so.1", 16), BARE("f", "/x/libx.so.1", 32), false, true, true, true},
    {BARE("f", "/x/libx.so.1", 16), BARE("f", "/x/libx.so.2", 16), false, false, true, false},
    {BARE(NULL, "/x/libx.so.1", 16), BARE(NULL, "/x/libx.so.1", 32), false, false, false, false},
    {BARE(NULL, NULL, 16), BARE(NULL, NULL, 32), false, false, true, false}, /* generated code */
    /* a cell that ran twice */
    {PYTHON("<module>", "<ipython-input-1-77ab>", 2),
     PYTHON("<module>", "<ipython-input-9-77ab>", 2), true, true, true, false},
};

static void test_lines(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct vt_frame *a = &rows[i].a, *b = &rows[i].b;
        const bool expected[] = {rows[i].code, rows[i].shown, rows[i].named};
        for (enum vt_line_by by = VT_LINE_CODE; by <= VT_LINE_NAMED; by++)
            if ((vt_frame_line(a, by) == vt_frame_line(b, by)) != expected[by])
                fail_msg("row %zu, by %d: expected %d", i, by, expected[by]);
        if (vt_same_function(a, b) != rows[i].function)
            fail_msg("row %zu: expected the same function: %d", i, rows[i].function);
    }
}

/* A notebook's cell is edited between its runs; blocks of one size tell that it is the same. */
static void test_growth(void **state) {
    (void)state;
    struct vt_frame frames[] = {PYTHON("<module>", "<ipython-input-1-77ab>", 2),
                                PYTHON("<module>", "<ipython-input-2-80cd>", 2)};
    struct vt_stack stacks[2];
    struct vt_site sites[2];
    for (int i = 0; i < 2; i++) {
        stacks[i] = (struct vt_stack){.frames = &frames[i], .count = 1};
        stacks[i].line = vt_stack_line(&stacks[i], VT_LINE_CODE);
        sites[i] = (struct vt_site){.stack = &stacks[i], .alloc_count = 2, .allocated_bytes = 8192};
    }
    assert_int_not_equal(stacks[0].line, stacks[1].line);
    assert_int_equal(vt_site_growth_line(&sites[0]), vt_site_growth_line(&sites[1]));
    sites[1].allocated_bytes = 4096;
    assert_int_not_equal(vt_site_growth_line(&sites[0]), vt_site_growth_line(&sites[1]));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_growth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
