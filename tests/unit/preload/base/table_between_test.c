/* SPDX-License-Identifier: MIT */
/* What another thread may do to a slot of the lock-free table between a look-up and the exchange
 * that follows it, at every such place: table.c is compiled here with a compare-and-swap that lets
 * the other one go first. */
#include "base/atomic.h"

static void (*between)(void);

static void let_other_go(void) {
    void (*other)(void) = between;
    between = 0;
    if (other)
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

#include "base/table.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { KEY = 1000 };
static struct vt_table table;
static uint64_t other_key; /* another one, whose search begins at the same slot */

static int find_other_key(void **state) {
    (void)state;
    for (other_key = KEY + 1; (vt_table_hash(other_key) ^ vt_table_hash(KEY)) & (FIRST_SLOTS - 1);)
        other_key++;
    return 0;
}

/* Before each test: one entry, counted once. */
static int one_entry(void **state) {
    uint64_t words[VT_TABLE_WORDS];
    (void)state;
    while (vt_table_take(&table, KEY, words) || vt_table_take(&table, other_key, words))
        continue;
    vt_table_insert(&table, KEY, (uint64_t[3]){10, 11, 1});
    return 0;
}

static void end_and_use_for(uint64_t key, uint32_t count) {
    assert_true(vt_table_count_down(&table, KEY, NULL));
    assert_true(vt_table_insert(&table, key, (uint64_t[3]){20, 21, count}));
}

static void use_for_other(void) {
    assert_true(vt_table_insert(&table, other_key, (uint64_t[3]){20, 21, 1}));
}

static void end_and_use_for_other(void) {
    end_and_use_for(other_key, 1);
}

static void end_and_use_again(void) {
    end_and_use_for(KEY, 1);
}

static void count_once_more(void) {
    assert_true(vt_table_count_up(&table, KEY, NULL));
}

static void expect(uint64_t key, uint64_t first, uint64_t count) {
    uint64_t words[VT_TABLE_WORDS];
    assert_true(vt_table_find(&table, key, words));
    assert_int_equal(words[0], first);
    assert_int_equal(words[2], count);
}

static void up_leaves_anothers_count(void **state) {
    (void)state;
    between = end_and_use_for_other;
    assert_false(vt_table_count_up(&table, KEY, NULL));
    expect(other_key, 20, 1);
}

static void down_leaves_anothers_count(void **state) {
    (void)state;
    between = end_and_use_for_other;
    assert_false(vt_table_count_down(&table, KEY, NULL));
    expect(other_key, 20, 1);
}

/* The new entry of the same key is counted, and its words are answered. */
static void counts_belong_to_the_words(void **state) {
    uint64_t words[VT_TABLE_WORDS];
    (void)state;
    between = end_and_use_again;
    assert_true(vt_table_count_up(&table, KEY, words));
    assert_true(words[0] == 20 && words[1] == 21 && words[2] == 2);
    expect(KEY, 20, 2);
    between = NULL;
    assert_true(vt_table_count_down(&table, KEY, words));
    between = end_and_use_again;
    assert_true(vt_table_count_down(&table, KEY, words));
    assert_true(words[0] == 20 && words[1] == 21 && words[2] == 0);
    assert_false(vt_table_find(&table, KEY, words));
}

static void count_that_moved(void **state) {
    uint64_t words[VT_TABLE_WORDS];
    (void)state;
    between = count_once_more;
    assert_true(vt_table_count_down(&table, KEY, words));
    assert_int_equal(words[2], 1);
    expect(KEY, 10, 1);
}

static void take_answers_what_it_took(void **state) {
    uint64_t words[VT_TABLE_WORDS];
    (void)state;
    between = end_and_use_again;
    assert_true(vt_table_take(&table, KEY, words));
    assert_true(words[0] == 20 && words[1] == 21);
    assert_false(vt_table_find(&table, KEY, words));
}

static void owner_leaves_anothers_entry(void **state) {
    (void)state;
    between = end_and_use_again;
    assert_false(vt_table_take_own(&table, KEY, 10));
    expect(KEY, 20, 1);
}

static bool every(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data) {
    (void)key;
    (void)words;
    (void)data;
    return true;
}

static void walk_leaves_new_entry(void **state) {
    (void)state;
    between = end_and_use_again;
    vt_table_each(&table, every, NULL, NULL);
    expect(KEY, 20, 1);
}

/* The slot is no longer free, or its entry no longer there, when the put comes to it. */
static void put_leaves_anothers_slot(void **state) {
    uint64_t words[VT_TABLE_WORDS];
    (void)state;
    assert_true(vt_table_take(&table, KEY, words));
    between = use_for_other;
    assert_int_equal(vt_table_put(&table, KEY, (uint64_t[3]){30, 31, 3}, words), VT_TABLE_NEW);
    expect(other_key, 20, 1);
    expect(KEY, 30, 3);
}

static void put_answers_what_it_replaced(void **state) {
    uint64_t words[VT_TABLE_WORDS];
    (void)state;
    between = end_and_use_again;
    assert_int_equal(vt_table_put(&table, KEY, (uint64_t[3]){30, 31, 3}, words), VT_TABLE_REPLACED);
    assert_true(words[0] == 20 && words[1] == 21 && words[2] == 1);
    expect(KEY, 30, 3);
    assert_true(vt_table_take(&table, KEY, words));
    assert_false(vt_table_find(&table, KEY, words));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(up_leaves_anothers_count, one_entry),
        cmocka_unit_test_setup(down_leaves_anothers_count, one_entry),
        cmocka_unit_test_setup(counts_belong_to_the_words, one_entry),
        cmocka_unit_test_setup(count_that_moved, one_entry),
        cmocka_unit_test_setup(take_answers_what_it_took, one_entry),
        cmocka_unit_test_setup(owner_leaves_anothers_entry, one_entry),
        cmocka_unit_test_setup(walk_leaves_new_entry, one_entry),
        cmocka_unit_test_setup(put_leaves_anothers_slot, one_entry),
        cmocka_unit_test_setup(put_answers_what_it_replaced, one_entry),
    };
    return cmocka_run_group_tests(tests, find_other_key, NULL);
}
