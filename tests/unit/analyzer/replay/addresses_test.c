/* SPDX-License-Identifier: MIT */
/*
 * The table of live allocations: it finds entries that were added and not removed, and keeps its promised size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "replay/addresses.h"

#include <stdlib.h>

enum { KEYS = 5000 };

static uint64_t key_of(uint32_t i) {
    return vt_address_key(0x7f0000000000ull + 512ull * i, VT_SPACE_DEVICE);
}

/* Saves the table and loads it into another one: its numbers are the same. */
static void reload(struct vt_addresses *live) {
    struct vt_addresses old = *live;
    struct vt_state s;
    VT_SCOPED_STRING message = {0};
    vt_state_save(&s, NULL);
    vt_addresses_state(live, &s);
    assert_int_equal(vt_state_end(&s, "memory", &message), 0);
    VT_SCOPED uint8_t *saved = s.saved;
    vt_addresses_start(live);
    vt_state_load(&s, saved, s.length);
    vt_addresses_state(live, &s);
    assert_int_equal(vt_state_end(&s, "memory", &message), 0);
    assert_int_equal(live->used, old.used);
    assert_int_equal(live->numbers, old.numbers);
    assert_int_equal(live->unused, old.unused);
    assert_int_equal(live->line_count, old.line_count);
    vt_addresses_free(&old);
}

/* Adds and removes keys at random; the table must hold the same as an array. */
static void test_random(void **state) {
    (void)state;
    struct vt_addresses live;
    static bool here[KEYS];
    uint64_t random = 1;
    size_t count = 0, again = 0;
    vt_addresses_start(&live);
    for (uint32_t step = 0; step < 200000; step++) {
        random = vt_mix(random + step);
        uint32_t i = (uint32_t)(random % KEYS);
        uint32_t *slot = vt_addresses_slot(&live, key_of(i));
        assert_int_equal(slot != NULL, here[i]);
        /* it fills and empties in turn */
        bool add = random >> 32 & 3 ? step / 40000 % 2 == 0 : step / 40000 % 2;
        if (add && !slot) {
            struct vt_address *entry = vt_addresses_add_again(&live, key_of(i));
            again += entry != NULL;
            if (!entry)
                entry = vt_addresses_add(&live, key_of(i));
            entry->size = i;
            count++;
        } else if (!add && slot) {
            assert_int_equal(vt_addresses_in(&live, slot)->size, i);
            vt_addresses_remove(&live, slot);
            count--;
        } else if (slot && random >> 40 & 1) { /* it goes, and its address is given out again */
            vt_addresses_remove(&live, slot);
            assert_null(vt_addresses_find(&live, key_of(i)));
            struct vt_address *entry = vt_addresses_add_again(&live, key_of(i));
            if (!entry)
                entry = vt_addresses_add(&live, key_of(i));
            entry->size = i;
            again++;
        }
        here[i] = add;
        assert_int_equal(live.used, count);
        if (step % 1000 == 999)
            reload(&live);
    }
    assert_true(again > 1000);
    size_t by_number = 0, at;
    const struct vt_address *entry;
    for (at = 0; (entry = vt_addresses_next(&live, &at)); by_number++)
        assert_true(here[entry->size]);
    assert_int_equal(by_number, count);
    for (uint32_t i = 0; i < KEYS; i++) {
        entry = vt_addresses_find(&live, key_of(i));
        assert_int_equal(entry != NULL, here[i]);
        if (entry)
            assert_int_equal(entry->key, key_of(i));
    }
    vt_addresses_free(&live);
}

/* Keys with one hash fill many lines. */
static void test_collisions(void **state) {
    (void)state;
    enum { MANY = 100 };
    struct vt_addresses live;
    uint64_t keys[MANY], key = 1;
    vt_addresses_start(&live);
    for (int i = 0; i < MANY; key++)
        if (vt_addresses_home(&live, vt_addresses_hash(key)) == live.line_count - 2)
            keys[i++] = key;
    for (int i = 0; i < MANY; i++)
        vt_addresses_add(&live, keys[i]);
    for (int i = 0; i < MANY; i += 2)
        vt_addresses_remove(&live, vt_addresses_slot(&live, keys[i]));
    for (int i = 0; i < MANY; i++)
        assert_int_equal(vt_addresses_find(&live, keys[i]) != NULL, i % 2);
    for (int i = 1; i < MANY; i += 2)
        vt_addresses_remove(&live, vt_addresses_slot(&live, keys[i]));
    for (uint32_t i = 0; i < live.line_count * VT_ADDRESSES_LINE; i++)
        assert_int_equal(live.lines[i], 0);
    vt_addresses_free(&live);
}

/* At any size beyond the first, and after many were removed: at most 32 bytes each. */
static void test_size(void **state) {
    (void)state;
    struct vt_addresses live;
    vt_addresses_start(&live);
    for (uint32_t i = 0; i < 3000000; i++) {
        vt_addresses_add(&live, key_of(i));
        if (live.used >= 1 << 16)
            assert_true(vt_addresses_bytes(&live) <= 32 * live.used);
    }
    reload(&live);
    uint32_t numbers = live.numbers;
    for (uint32_t i = 0; i < 1000000; i++)
        vt_addresses_remove(&live, vt_addresses_slot(&live, key_of(i)));
    for (uint32_t i = 3000000; i < 4000000; i++)
        vt_addresses_add(&live, key_of(i));
    assert_int_equal(live.numbers, numbers);
    vt_addresses_free(&live);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_collisions),
        cmocka_unit_test(test_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
