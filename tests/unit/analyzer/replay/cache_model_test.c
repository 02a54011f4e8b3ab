/* SPDX-License-Identifier: MIT */
/*
 * The model of PyTorch's allocator by its rules: pools, segments, splitting, streams, what returns to
 * the driver, and the settings. tests/cases/522 and tests/frameworks/run_oom hold it against more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "replay/cache_model.h"

#define MIB (1ull << 20)

static const struct vt_cache_settings defaults = {.max_split = UINT64_MAX};

static void settings(void **state) {
    (void)state;
    struct vt_cache_settings s = vt_cache_settings_read(NULL);
    assert_false(s.expandable);
    assert_true(s.max_split == UINT64_MAX);
    s = vt_cache_settings_read("garbage_collection_threshold:0.8, expandable_segments:True");
    assert_true(s.expandable);
    s = vt_cache_settings_read("max_split_size_mb:64,expandable_segments:False");
    assert_false(s.expandable);
    assert_true(s.max_split == 64 * MIB);
    assert_true(vt_cache_settings_read("max_split_size_mb").max_split == UINT64_MAX);
    assert_true(vt_cache_settings_read(",,:").max_split == UINT64_MAX);
}

static void pools(void **state) {
    struct vt_cache_model *m = vt_cache_open(defaults, 64 * MIB, 64 * MIB);
    (void)state;
    uint32_t small = vt_cache_alloc(m, 1, 0);
    assert_true(vt_cache_reserved(m) == 2 * MIB);
    assert_true(vt_cache_alloc(m, MIB, 0) && vt_cache_reserved(m) == 2 * MIB);
    uint32_t large = vt_cache_alloc(m, MIB + 1, 0);
    assert_true(vt_cache_reserved(m) == 22 * MIB);
    assert_true(vt_cache_alloc(m, 5 * MIB, 1) && vt_cache_reserved(m) == 42 * MIB); /* a stream */
    assert_true(vt_cache_alloc(m, 11 * MIB, 0) && vt_cache_reserved(m) == 42 * MIB);
    assert_true(vt_cache_alloc(m, 20 * MIB + 1, 0) && vt_cache_reserved(m) == 64 * MIB);
    assert_false(vt_cache_alloc(m, 9 * MIB, 0));
    vt_cache_free(m, large); /* 8.5 MiB are idle beside it, as there were before */
    assert_true(vt_cache_alloc(m, 2 * MIB, 0));
    vt_cache_free(m, small);
    assert_false(vt_cache_alloc(m, 10 * MIB, 0));
    vt_cache_close(m);
}

/* Wholly free segments are returned when a request fails, others never. */
static void releases(void **state) {
    struct vt_cache_model *m = vt_cache_open(defaults, 60 * MIB, 60 * MIB);
    uint32_t blocks[3];
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(blocks[i] = vt_cache_alloc(m, 20 * MIB, 0));
    vt_cache_free(m, blocks[0]);
    vt_cache_free(m, blocks[1]);
    assert_true(vt_cache_reserved(m) == 60 * MIB);
    uint32_t pin = vt_cache_alloc(m, 3 * MIB, 0);
    assert_false(vt_cache_alloc(m, 30 * MIB, 0));
    assert_true(vt_cache_reserved(m) == 40 * MIB);
    vt_cache_free(m, pin);
    assert_true(vt_cache_alloc(m, 30 * MIB, 0));
    vt_cache_close(m);
}

static void expandable(void **state) {
    struct vt_cache_settings s = {.expandable = true, .max_split = UINT64_MAX};
    struct vt_cache_model *m = vt_cache_open(s, 100 * MIB, 100 * MIB);
    uint32_t blocks[5];
    (void)state;
    for (int i = 0; i < 5; i++)
        assert_true(blocks[i] = vt_cache_alloc(m, 18 * MIB, 0));
    assert_true(vt_cache_reserved(m) == 100 * MIB);
    for (int i = 0; i < 4; i++)
        vt_cache_free(m, blocks[i]);
    assert_true(blocks[0] = vt_cache_alloc(m, 70 * MIB, 0)); /* in one piece */
    vt_cache_free(m, blocks[0]);
    /* of the 72 MiB before the live block 60 are whole pieces; behind it are 10 more */
    assert_false(vt_cache_alloc(m, 75 * MIB, 0));
    assert_true(vt_cache_reserved(m) == 40 * MIB);
    assert_true(vt_cache_alloc(m, MIB / 2, 0) && vt_cache_reserved(m) == 42 * MIB);
    assert_false(vt_cache_alloc(m, 68 * MIB, 0));
    assert_true(vt_cache_alloc(m, 40 * MIB, 0) && vt_cache_reserved(m) == 82 * MIB);
    vt_cache_close(m);
}

static void max_split(void **state) {
    struct vt_cache_settings s = {.max_split = 32 * MIB};
    struct vt_cache_model *m = vt_cache_open(s, 100 * MIB, 100 * MIB);
    (void)state;
    uint32_t big = vt_cache_alloc(m, 40 * MIB, 0);
    vt_cache_free(m, big);
    assert_true(vt_cache_alloc(m, 4 * MIB, 0)); /* not out of the big one */
    assert_true(vt_cache_reserved(m) == 60 * MIB);
    assert_true(big = vt_cache_alloc(m, 35 * MIB, 0)); /* which is given whole */
    assert_true(vt_cache_reserved(m) == 60 * MIB);
    vt_cache_free(m, big);
    assert_true(vt_cache_alloc(m, 70 * MIB, 0)); /* and returned for this one */
    assert_true(vt_cache_reserved(m) == 90 * MIB);
    vt_cache_close(m);
}

/* A damaged log's sizes. */
static void hostile(void **state) {
    struct vt_cache_model *m = vt_cache_open(defaults, UINT64_MAX, UINT64_MAX);
    (void)state;
    assert_false(vt_cache_alloc(m, UINT64_MAX, 0));
    assert_true(vt_cache_alloc(m, 0, 0));
    uint32_t taken = 0;
    for (int i = 0; i < 1 << 20; i++)
        taken += vt_cache_alloc(m, 10ull << 40, 0) != 0;
    assert_in_range(taken, 1 << 10, (1 << 21) - 1); /* until the addresses end */
    assert_false(vt_cache_alloc(m, 30ull << 40, 0));
    vt_cache_close(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings),   cmocka_unit_test(pools),     cmocka_unit_test(releases),
        cmocka_unit_test(expandable), cmocka_unit_test(max_split), cmocka_unit_test(hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
