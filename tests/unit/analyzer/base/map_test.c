/* SPDX-License-Identifier: MIT */
/*
 * The map of 64-bit keys against a plain array: put, replaced, removed in any order, keys that share
 * a home among them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/util.h"

enum { KEYS = 200, STEPS = 200000 };

static void random_steps(void **state) {
    (void)state;
    struct vt_map map = {0};
    uint32_t values[KEYS], there = 0;
    uint64_t random = 1;
    for (unsigned k = 0; k < KEYS; k++)
        values[k] = VT_MAP_NONE;
    assert_int_equal(vt_map_remove(&map, 7), VT_MAP_NONE); /* of an empty one */
    for (unsigned i = 0; i < STEPS; i++) {
        random = vt_mix(random + i);
        unsigned k = (unsigned)(random % KEYS);
        /* now few keys, now so many that they stand in each other's way */
        if (random >> 32 & (i / 4096 & 1 ? 3 : 1)) {
            there += values[k] == VT_MAP_NONE;
            values[k] = i;
            vt_map_put(&map, k, i);
        } else {
            there -= values[k] != VT_MAP_NONE;
            assert_int_equal(vt_map_remove(&map, k), values[k]);
            values[k] = VT_MAP_NONE;
        }
        assert_int_equal(map.used, there);
        if (i % 64 == 0)
            for (unsigned n = 0; n < KEYS; n++)
                assert_int_equal(vt_map_get(&map, n), values[n]);
    }
    vt_map_free(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
