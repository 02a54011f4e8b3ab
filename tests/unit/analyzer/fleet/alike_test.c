/* SPDX-License-Identifier: MIT */
/*
 * Which values of peers are alike: one outlier, groups, noise. Each limit of alike.c has a test that
 * fails without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fleet/alike.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 2000 };

static int compare(const void *a, const void *b) {
    const struct vt_alike_value *x = a, *y = b;
    return VT_ORDER({x->value, y->value}, {x->process, y->process});
}

/* The groups as text, each with its values: "100 101 | 130"; the one that the others are compared with
 * in brackets. "alike": nobody differs. */
static char *groups_of(const uint64_t *given, uint32_t count, uint64_t least) {
    static char text[4096];
    struct vt_alike_value values[MOST];
    uint32_t have = 0, groups, most;
    size_t length = 0;
    for (uint32_t i = 0; i < count; i++)
        if (given[i])
            values[have++] = (struct vt_alike_value){given[i], i};
    qsort(values, have, sizeof *values, compare);
    struct vt_alike *list = vt_alike_find(values, have, count, least, &groups, &most);
    if (!list)
        return strcpy(text, "alike");
    for (uint32_t i = 0; i < groups; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i ? " | " : "",
                                   i == most ? "[" : "");
        for (uint32_t k = list[i].first; k < list[i].end; k++)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%llu",
                                       k > list[i].first ? " " : "",
                                       (unsigned long long)vt_alike_at(values, have, count, k));
        length += (size_t)snprintf(text + length, sizeof text - length, "%s", i == most ? "]" : "");
    }
    free(list);
    return text;
}

#define GROUPS(least, ...)                                                                         \
    groups_of((const uint64_t[]){__VA_ARGS__},                                                     \
              sizeof(const uint64_t[]){__VA_ARGS__} / sizeof(uint64_t), least)

static void one_outlier(void **state) {
    (void)state;
    assert_string_equal(GROUPS(5, 640, 642, 912, 644), "[640 642 644] | 912");
    assert_string_equal(GROUPS(5, 640, 100, 642), "100 | [640 642]");
    assert_string_equal(GROUPS(5, 0, 0, 256, 0, 0), "[0 0 0 0] | 256");
    assert_string_equal(GROUPS(5, 256, 256, 0, 256), "0 | [256 256 256]");
    assert_string_equal(GROUPS(5, 100, 0, 0, 300, 0, 0), "[0 0 0 0] | 100 | 300");
}

static void two_processes(void **state) {
    (void)state;
    assert_string_equal(GROUPS(5, 900, 640), "[640] | 900");
    assert_string_equal(GROUPS(5, 640, 0), "[0] | 640");
    assert_string_equal(GROUPS(5, 640, 650), "alike");
    assert_string_equal(GROUPS(5, 640, 640), "alike");
}

static void stages_of_a_pipeline(void **state) {
    (void)state;
    /* four stages of two: only the first, or only the last, hold embeddings */
    assert_string_equal(GROUPS(20, 2100, 2100, 0, 0, 0, 0, 0, 0), "[0 0 0 0 0 0] | 2100 2100");
    assert_string_equal(GROUPS(20, 3100, 3110, 1000, 1010, 1005, 1000, 3200, 3190),
                        "[1000 1000 1005 1010] | 3100 3110 3190 3200");
    /* two stages: no majority */
    assert_string_equal(GROUPS(20, 2100, 2100, 2100, 2100, 0, 0, 0, 0),
                        "[0 0 0 0] | 2100 2100 2100 2100");
    /* activations fall from stage to stage */
    assert_string_equal(GROUPS(20, 400, 400, 300, 300, 200, 200, 100, 100),
                        "[100 100] | 200 200 | 300 300 | 400 400");
}

/* GAP_PERCENT: without it the two groups of 2 % noise are parted. */
static void small_gaps(void **state) {
    (void)state;
    assert_string_equal(GROUPS(0, 980, 980, 1020, 1020), "alike");
    assert_string_equal(GROUPS(0, 980, 980, 1100, 1100), "[980 980] | 1100 1100");
    assert_string_equal(GROUPS(200, 980, 980, 1100, 1100), "alike");
}

/* GAP_SPREADS: without it 1060 and 1180 would be parted from what is spread as wide. */
static void wide_noise(void **state) {
    (void)state;
    assert_string_equal(GROUPS(10, 1000, 1050, 1100, 1060, 1180, 1020), "alike");
    assert_string_equal(GROUPS(10, 1000, 1050, 1100, 1060, 1600, 1020),
                        "[1000 1020 1050 1060 1100] | 1600");
}

/* FEW and FEW_PERCENT: few values lie like this by chance, unless two of them are equal. */
static void few(void **state) {
    (void)state;
    assert_string_equal(GROUPS(10, 1000, 1001, 1080), "alike");
    assert_string_equal(GROUPS(10, 1000, 1001, 1180), "[1000 1001] | 1180");
    assert_string_equal(GROUPS(10, 1000, 1000, 1080), "[1000 1000] | 1080");
    assert_string_equal(GROUPS(10, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1080),
                        "[1000 1001 1002 1003 1004 1005 1006] | 1080");
}

/* MOST_PART: without it all but two would be named. */
static void all_differ(void **state) {
    (void)state;
    assert_string_equal(GROUPS(10, 100, 200), "[100] | 200");
    assert_string_equal(GROUPS(10, 100, 200, 300), "alike");
    assert_string_equal(GROUPS(10, 100, 100, 200, 300, 400, 500, 600, 700, 800), "alike");
}

static uint64_t random_state;

static double chance(void) {
    random_state = vt_mix(random_state + 0x9e3779b97f4a7c15ull);
    return (double)(random_state >> 11) / (double)(1ull << 53);
}

/* How often of a thousand times somebody is named among `count` values with noise; with `planted`, how
 * often the first, which holds so much more, is named alone. */
static unsigned often(uint32_t count, double noise, double planted) {
    unsigned named = 0;
    for (unsigned run = 0; run < 1000; run++) {
        uint64_t values[MOST];
        struct vt_alike_value sorted[MOST];
        uint32_t groups, most;
        for (uint32_t i = 0; i < count; i++) {
            double value = 1e9 * (1 + noise * (2 * chance() - 1));
            values[i] = (uint64_t)(i ? value : value * (1 + planted));
            sorted[i] = (struct vt_alike_value){values[i], i};
        }
        qsort(sorted, count, sizeof *sorted, compare);
        struct vt_alike *list = vt_alike_find(sorted, count, count, 10000000, &groups, &most);
        if (planted > 0)
            named += list && groups == 2 && most == 0 && list[1].first == count - 1 &&
                     sorted[count - 1].process == 0;
        else
            named += list != NULL;
        free(list);
    }
    return named;
}

static void noise(void **state) {
    static const uint32_t counts[] = {2, 3, 4, 5, 6, 7, 8, 16, 64, 1000};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        random_state = counts[i];
        assert_int_equal(0, often(counts[i], 0.02, 0));
        if (counts[i] > 2)
            assert_int_equal(1000, often(counts[i], 0.02, 0.25));
    }
    /* batches of any length, which make a line's peak differ by a fifth */
    for (uint32_t count = 3; count < 8; count++) {
        random_state = count;
        assert_in_range(often(count, 0.1, 0), 0, 60);
        assert_in_range(often(count, 0.1, 1), 900, 1000);
    }
    random_state = 1;
    assert_in_range(often(8, 0.1, 0), 0, 20);
    assert_in_range(often(64, 0.1, 0), 0, 0);
    assert_in_range(often(1000, 0.1, 0), 0, 0);
    assert_in_range(often(8, 0.1, 1), 950, 1000);
}

/* MANY: with the spread of all, 12 stragglers that are spread wide would hide a rank that holds twice
 * as much. */
static void stragglers(void **state) {
    uint64_t values[100];
    (void)state;
    for (uint32_t i = 0; i < 100; i++)
        values[i] = i < 88 ? 1000 + i / 2 : 1040 + (i - 88) * 40;
    values[0] = 2500;
    char *text = groups_of(values, 100, 10);
    assert_non_null(strstr(text, "] | 2500"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_outlier),
        cmocka_unit_test(two_processes),
        cmocka_unit_test(stages_of_a_pipeline),
        cmocka_unit_test(small_gaps),
        cmocka_unit_test(few),
        cmocka_unit_test(wide_noise),
        cmocka_unit_test(all_differ),
        cmocka_unit_test(noise),
        cmocka_unit_test(stragglers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
