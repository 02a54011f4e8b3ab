/* SPDX-License-Identifier: MIT */
/*
 * permute.c: what a change's p is, that many lines cost only what they must, and that no set of figures is named by more than two
 * of a hundred splits. runs.c: what a figure's state is by that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "diff/runs.c" /* sum_up() */

#include <string.h>

enum { MOST = 32 };

static uint64_t numbers[2][MOST][MOST];

/* Figures of `first` and of `second` runs: values[figure] has both. */
static uint32_t test(uint64_t values[][MOST], uint32_t count, uint32_t first, uint32_t second,
                     double *p) {
    struct vt_runs_figure figures[MOST] = {{0}};
    const uint32_t runs[2] = {first, second};
    for (uint32_t i = 0; i < count; i++) {
        figures[i].values[0] = numbers[0][i];
        figures[i].values[1] = numbers[1][i];
        memcpy(numbers[0][i], values[i], first * sizeof(uint64_t));
        memcpy(numbers[1][i], values[i] + first, second * sizeof(uint64_t));
    }
    uint32_t splits = vt_permute(figures, count, runs);
    for (uint32_t i = 0; i < count; i++)
        p[i] = figures[i].p;
    return splits;
}

static void near(double found, double expected) {
    assert_true(found > expected - 1e-9 && found < expected + 1e-9);
}

static void chances(void **state) {
    uint64_t apart[][MOST] = {{10, 11, 12, 13, 14, 40, 41, 42, 43, 44}};
    uint64_t larger[][MOST] = {{10, 11, 12, 13, 14, 40, 41, 42, 43, 44, 45}};
    uint64_t mixed[][MOST] = {{10, 41, 12, 43, 14, 40, 11, 42, 13, 44}};
    uint64_t modes[][MOST] = {{10, 10, 90, 90, 10, 90, 10, 10, 90, 90}};
    double p[1];
    (void)state;
    assert_int_equal(test(apart, 1, 5, 5, p), 252);
    near(p[0], 2.0 / 252); /* and its mirror image */
    assert_int_equal(test(larger, 1, 5, 6, p), 462);
    near(p[0], 1.0 / 462);
    test(mixed, 1, 5, 5, p);
    assert_true(p[0] > 0.1);
    test(modes, 1, 5, 5, p);
    assert_true(p[0] > 0.1);
    assert_int_equal(test(apart, 1, 4, 6, p), 0);
    assert_true(p[0] < 0);
}

/* Noisy figures that are apart at other splits do not hide one that is further apart. */
static void many(void **state) {
    uint64_t values[MOST][MOST];
    double p[MOST];
    uint64_t seed = 1;
    (void)state;
    for (uint32_t i = 0; i < MOST; i++)
        for (uint32_t run = 0; run < 10; run++) {
            seed = vt_mix(seed + 1);
            values[i][run] = (seed % 1000) << i % 20; /* quiet ones and loud ones */
        }
    test(values, MOST, 5, 5, p);
    for (uint32_t i = 0; i < MOST; i++)
        assert_true(p[i] > VT_PERMUTE_CHANCE);
    for (uint32_t run = 5; run < 10; run++)
        values[0][run] += 4000;
    test(values, MOST, 5, 5, p);
    near(p[0], 2.0 / 252);
    for (uint32_t i = 1; i < MOST; i++)
        assert_true(p[i] > VT_PERMUTE_CHANCE);
}

/* A row of runs at random order each time: in how many of all orders is any figure named? */
static void false_alarms(void **state) {
    uint64_t values[6][MOST], split[6][MOST];
    double p[6];
    uint64_t seed = 3;
    uint32_t named = 0, orders = 0;
    (void)state;
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t run = 0; run < 10; run++) {
            seed = vt_mix(seed + 1);
            values[i][run] = i < 2 ? seed % 2 * 1000 + seed / 2 % 9 : seed % 1000; /* two modes */
        }
    for (uint32_t mask = 0; mask < 1024; mask++) {
        if (__builtin_popcount(mask) != 5)
            continue;
        for (uint32_t i = 0; i < 6; i++)
            for (uint32_t run = 0, at[2] = {0, 5}; run < 10; run++)
                split[i][at[!(mask & 1u << run)]++] = values[i][run];
        test(split, 6, 5, 5, p);
        bool any = false;
        for (uint32_t i = 0; i < 6; i++)
            any |= p[i] <= VT_PERMUTE_CHANCE;
        named += any;
        orders++;
    }
    assert_int_equal(orders, 252);
    assert_in_range(named, 1, 5); /* 2 % of them */
}

/* Too many splits to try all: random ones, the same each time. An eighth is left out at either end. */
static void random_splits(void **state) {
    uint64_t values[2][MOST];
    double p[2], again[2];
    (void)state;
    for (uint32_t run = 0; run < 24; run++) {
        values[0][run] = 100 + run % 12 + (run >= 12) * 50;
        values[1][run] = run * 7 % 24;
    }
    values[0][3] = 100000;
    assert_int_equal(test(values, 2, 12, 12, p), 10000);
    near(p[0], 1.0 / 10000);
    assert_true(p[1] > 0.1);
    test(values, 2, 12, 12, again);
    assert_memory_equal(p, again, sizeof p);
}

static enum vt_runs_state state_of(uint64_t *before, uint64_t *after, double p) {
    const uint32_t runs[2] = {5, 5};
    struct vt_runs_figure figure = {.values = {before, after}, .p = p};
    sum_up(&figure, runs);
    return figure.state;
}

static void states(void **state) {
    uint64_t same[] = {7, 7, 7, 7, 7}, other[] = {8, 8, 8, 8, 8}, noisy[] = {9, 5, 7, 8, 6};
    (void)state;
    assert_int_equal(state_of(same, same, 1), VT_RUNS_SAME);
    assert_int_equal(state_of(same, other, 1),
                     VT_RUNS_CHANGED); /* exactly, whatever noise others have */
    assert_int_equal(state_of(same, noisy, 0.03), VT_RUNS_NOISE);
    assert_int_equal(state_of(noisy, other, 0.008), VT_RUNS_CHANGED);
    assert_int_equal(state_of(same, other, -1), VT_RUNS_FEW);
    assert_int_equal(state_of(same, same, -1), VT_RUNS_SAME);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(chances), cmocka_unit_test(many),
                                       cmocka_unit_test(false_alarms),
                                       cmocka_unit_test(random_splits), cmocka_unit_test(states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
