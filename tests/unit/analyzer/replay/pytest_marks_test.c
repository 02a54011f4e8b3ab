/* SPDX-License-Identifier: MIT */
/*
 * The pytest plugin's marks: which blocks get a holder, and that no text does harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "logfile/logfile.h"
#include "replay/replay.h"
#include "replay/walk.h"

#include <stdlib.h>
#include <string.h>

static struct vt_replay replay;
static struct vt_walk walk;
static struct vt_replay_origin origin = {.site = 3};

static int start(void **state) {
    (void)state;
    replay = (struct vt_replay){0};
    walk = (struct vt_walk){.r = &replay};
    replay.origins = &origin;
    vt_addresses_start(&replay.live);
    return 0;
}

static int stop(void **state) {
    (void)state;
    vt_pytest_free(&replay.pytest);
    vt_addresses_free(&replay.live);
    return 0;
}

static void allocate(uint64_t address, uint32_t at) {
    uint64_t key = vt_address_key(address, VT_SPACE_BLOCK);
    uint32_t *slot = vt_addresses_slot(&replay.live, key);
    if (slot)
        vt_addresses_remove(&replay.live, slot);
    *vt_addresses_add(&replay.live, key) =
        (struct vt_address){.key = key, .size = 512, .allocated_at = at & 0xffffff};
}

/* The name of a block's holder; NULL: it has none. */
static const char *holder(uint64_t address) {
    const struct vt_pytest_marks *t = &replay.pytest;
    uint32_t at = vt_map_get(&t->by_key, vt_address_key(address, VT_SPACE_BLOCK));
    return at == VT_MAP_NONE ? NULL : t->holders[t->blocks[at].holder].name;
}

static void tell(uint64_t now, const char *name) {
    walk.now = now;
    assert_true(vt_pytest_is(name));
    vt_pytest_apply(&walk, name);
}

/* A nested set-up has its own blocks; earlier blocks belong to none. */
static void test_made(void **state) {
    (void)state;
    allocate(0x1000, 1);
    tell(5, "vramtrace:setup");
    allocate(0x2000, 6);
    tell(7, "vramtrace:setup");
    allocate(0x3000, 8);
    tell(9, "vramtrace:made session inner");
    tell(10, "vramtrace:made module outer");
    assert_null(holder(0x1000));
    assert_string_equal(holder(0x2000), "outer");
    assert_string_equal(holder(0x3000), "inner");
    assert_int_equal(replay.pytest.holder_count, 2);
}

/* A fixture's block stays its own where a model is said to hold it; a new block at an address does
 * not inherit. */
static void test_held(void **state) {
    (void)state;
    allocate(0x1000, 1);
    allocate(0x2000, 1);
    tell(2, "vramtrace:held model Net#0 1000,2000");
    assert_string_equal(holder(0x1000), "Net#0");
    tell(3, "vramtrace:held module net 1000");
    tell(4, "vramtrace:held model Net#0 1000");
    assert_string_equal(holder(0x1000), "net");
    allocate(0x1000, 9);
    tell(10, "vramtrace:held model Net#1 1000,4000");
    assert_string_equal(holder(0x1000), "Net#1");
    assert_null(holder(0x4000));
}

static void test_left(void **state) {
    (void)state;
    tell(1, "vramtrace:left fails 20 5242880 20 00ff test_a.py::test_b[a b]");
    assert_int_equal(replay.pytest.left_count, 1);
    const struct vt_pytest_left *left = replay.pytest.left;
    assert_true(left->fails && left->rounds == 20 && left->bytes == 5242880 && left->blocks == 20);
    assert_int_equal(left->site, 0xff);
    assert_string_equal(left->test, "test_a.py::test_b[a b]");
}

static void test_nonsense(void **state) {
    static const char *const names[] = {
        "vramtrace:",
        "vramtrace:made",
        "vramtrace:made x",
        "vramtrace:held",
        "vramtrace:held a b",
        "vramtrace:held a b ,,",
        "vramtrace:held a b z",
        "vramtrace:held a b 0",
        "vramtrace:held a b ffffffffffffffffff",
        "vramtrace:left",
        "vramtrace:left fails",
        "vramtrace:left fails 0 1 1 1 t",
        "vramtrace:left fails 1 1 0 1 t",
        "vramtrace:left fails x 1 1 1 t",
        "vramtrace:other",
    };
    char longest[400] = "vramtrace:made ";
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tell(i, names[i]);
    memset(longest + strlen(longest), 'x', 300);
    tell(1, longest);
    for (int i = 0; i < 2 * VT_TOLD_DEPTH; i++)
        tell(1, "vramtrace:setup");
    for (int i = 0; i < 3 * VT_TOLD_DEPTH; i++)
        tell(2, "vramtrace:made class a");
    assert_int_equal(replay.pytest.left_count, 0);
    assert_int_equal(replay.pytest.block_count, 0);
    assert_false(vt_pytest_is("vramtrac"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_made, start, stop),
        cmocka_unit_test_setup_teardown(test_held, start, stop),
        cmocka_unit_test_setup_teardown(test_left, start, stop),
        cmocka_unit_test_setup_teardown(test_nonsense, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
