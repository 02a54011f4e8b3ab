/* SPDX-License-Identifier: MIT */
/*
 * Numbers that are joined to sets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#include <stdlib.h>

static void named_by_the_least(void **state) {
    (void)state;
    uint32_t *sets = vt_sets_make(6);
    vt_sets_join(sets, 5, 3);
    vt_sets_join(sets, 1, 4);
    vt_sets_join(sets, 4, 5);
    vt_sets_join(sets, 3, 1); /* one set already */
    static const uint32_t least[] = {0, 1, 2, 1, 1, 1};
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(vt_sets_find(sets, i), least[i]);
    free(sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(named_by_the_least)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
