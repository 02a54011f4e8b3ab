/* SPDX-License-Identifier: MIT */
/* What a snapshot of the owners looks for, and what another thread freed before the memory was copied. */
#include "state/state.h"
#include "snapshot/copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define AT(i) (0x7f0000000000ull + (i) * (uint64_t)0x1000)

static void insert(unsigned i, uint32_t stack) {
    const struct vt_live what = {
        .address = AT(i), .size = 512, .stack = stack, .kind = VT_KIND_BLOCK};
    assert_true(vt_live_insert(&what));
}

static void remove_one(unsigned i) {
    struct vt_live was;
    assert_true(vt_live_remove(AT(i), VT_KIND_BLOCK, &was));
}

static void what_was_freed_is_not_looked_for(void **state) {
    (void)state;
    struct vt_owners *w = calloc(1, sizeof *w);
    for (unsigned i = 0; i < 5; i++)
        insert(i, 7);
    vt_targets_gather(w, AT(4));
    assert_int_equal(w->target_count, 4);
    remove_one(1);
    remove_one(2); /* and its address is another allocation's now */
    insert(2, 8);
    insert(5, 7); /* a new one */
    vt_targets_drop_freed(w);
    assert_int_equal(w->target_count, 2);
    assert_non_null(vt_owners_target_at(w, AT(0) + 511));
    assert_null(vt_owners_target_at(w, AT(1)));
    assert_null(vt_owners_target_at(w, AT(2)));
    assert_non_null(vt_owners_target_at(w, AT(3)));
    vt_owners_unmap(w);
    free(w);
    for (unsigned i = 0; i < 6; i++)
        if (i != 1)
            remove_one(i);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_freed_is_not_looked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
