/* SPDX-License-Identifier: MIT */
/*
 * diff.c: how alike two stacks are, which places are one, what changed. Models are made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../analyzer/diff/diff.c"
#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

#define MADE_SITES  8
#define MADE_FRAMES 6

struct made {
    struct vt_model model;
    struct vt_process process;
    struct vt_site sites[MADE_SITES];
    struct vt_stack stacks[MADE_SITES];
    struct vt_frame frames[MADE_SITES][MADE_FRAMES];
};

/* A site with the functions of `names` ("a b c") as its stack, `live` of `all` blocks of `size`. */
static void add(struct made *m, const char *names, uint64_t size, uint64_t live, uint64_t all) {
    uint32_t n = m->process.site_count++;
    char *words = strdup(names), *rest = words, *word;
    while ((word = strsep(&rest, " ")))
        m->frames[n][m->stacks[n].count++] =
            (struct vt_frame){.function = strdup(word), .file = "x.c", .user_code = true};
    free(words);
    m->stacks[n].frames = m->frames[n];
    m->sites[n] = (struct vt_site){.id = n + 1,
                                   .verdict = live ? VT_VERDICT_LOST : VT_VERDICT_FREED,
                                   .api = "cudaMalloc",
                                   .live_bytes = live * size,
                                   .live_count = live,
                                   .allocated_bytes = all * size,
                                   .alloc_count = all,
                                   .stack = &m->stacks[n]};
    m->process.sites = m->sites;
    m->model.processes = &m->process;
    m->model.process_count = 1;
}

static void release(struct made *m) {
    for (uint32_t i = 0; i < m->process.site_count; i++)
        for (uint32_t j = 0; j < m->stacks[i].count; j++)
            free((char *)(uintptr_t)m->frames[i][j].function);
}

static double alike(const char *a, const char *b) {
    struct made x = {0}, y = {0};
    struct vt_stack_key p, q;
    add(&x, a, 1, 1, 1);
    add(&y, b, 1, 1, 1);
    vt_stack_key_make(&x.sites[0], &p);
    vt_stack_key_make(&y.sites[0], &q);
    double found = likeness_of(&p, &q), back = likeness_of(&q, &p);
    assert_true(found == back);
    vt_stack_key_free(&p);
    vt_stack_key_free(&q);
    release(&x);
    release(&y);
    return found;
}

static void likeness(void **state) {
    (void)state;
    assert_true(alike("a b c", "a b c") == 1);
    assert_true(alike("a b c", "d e f") == 0);
    assert_true(alike("a b c", "c b a") < 0.4); /* the order counts */
    assert_true(alike("a b c", "a x b c") > 0.85);
    assert_true(alike("a b c d", "a x c d") == 0.75);
    assert_true(alike("a", "a b") > 0.6 && alike("a", "a b") < 0.7);
}

static void changes(void **state) {
    struct made before = {0}, after = {0};
    struct vt_diff diff;
    (void)state;
    add(&before, "get grows main", 100, 1, 1);
    add(&before, "get shrinks main", 200, 4, 4);
    add(&before, "get fixed main", 300, 5, 5);
    add(&before, "get gone main", 7777, 1, 1);
    add(&before, "get same main", 400, 2, 2);
    add(&before, "old_name caller main", 50, 3, 3);
    add(&after, "get grows main", 100, 3, 3);
    add(&after, "get shrinks main", 200, 1, 4);
    add(&after, "get fixed main", 300, 0, 5);
    add(&after, "get same main", 400, 2, 2);
    add(&after, "new_name caller main", 50, 3,
        3);                                 /* renamed: two of three frames, the same sizes */
    add(&after, "get other main", 9, 1, 1); /* no more alike to "gone", but for its sizes */
    vt_diff_make(&before.model, &after.model, &diff);
    static const struct {
        enum vt_diff_state state;
        uint64_t was, is;
        bool alike;
    } rows[] = {{VT_DIFF_APPEARED, 0, 9, false},  {VT_DIFF_GREW, 100, 300, true},
                {VT_DIFF_SHRANK, 800, 200, true}, {VT_DIFF_WENT, 7777, 0, false},
                {VT_DIFF_WENT, 1500, 0, true},    {VT_DIFF_SAME, 800, 800, true},
                {VT_DIFF_SAME, 150, 150, true}};
    assert_int_equal(diff.count, sizeof rows / sizeof *rows);
    for (uint32_t i = 0; i < diff.count; i++) {
        assert_int_equal(diff.rows[i].state, rows[i].state);
        assert_int_equal(diff.rows[i].sides[0].live_bytes, rows[i].was);
        assert_int_equal(diff.rows[i].sides[1].live_bytes, rows[i].is);
        assert_int_equal(diff.rows[i].likeness > 0, rows[i].alike);
    }
    assert_int_equal(diff.rows[6].likeness, 67);
    assert_int_equal(diff.counts[VT_DIFF_WENT], 2);
    assert_int_equal(diff.rows[4].sides[1].verdict, VT_VERDICT_FREED);
    assert_int_equal(diff.totals[0].leaked_bytes, 100 + 800 + 1500 + 7777 + 800 + 150);
    assert_int_equal(diff.totals[1].leaked_bytes, 300 + 200 + 800 + 150 + 9);
    vt_diff_free(&diff);
    release(&before);
    release(&after);
}

/* One place on two devices is one row; another API is another place. */
static void together(void **state) {
    struct made before = {0}, after = {0};
    struct vt_diff diff;
    (void)state;
    add(&before, "f main", 10, 1, 1);
    add(&before, "f main", 20, 1, 1);
    before.sites[1].device = 1;
    add(&after, "f main", 30, 1, 1);
    after.sites[0].api = "cudaMallocAsync";
    vt_diff_make(&before.model, &after.model, &diff);
    assert_int_equal(diff.count, 2);
    assert_int_equal(diff.rows[0].state, VT_DIFF_APPEARED);
    assert_int_equal(diff.rows[1].sides[0].live_bytes, 30);
    assert_ptr_equal(diff.rows[1].sides[0].site, &before.sites[1]); /* its largest */
    vt_diff_free(&diff);
    after.model.process_count = 0;
    vt_diff_make(&after.model, &after.model, &diff);
    assert_int_equal(diff.count, 0);
    vt_diff_free(&diff);
    release(&before);
    release(&after);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(likeness), cmocka_unit_test(changes),
                                       cmocka_unit_test(together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
