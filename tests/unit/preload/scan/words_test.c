/* SPDX-License-Identifier: MIT */
/*
 * The exit scan's small parts: which words of a row are looked at (the fast loop against the plain
 * one, on random words around every bound), and how a block is found from an address inside it.
 */
#include "scan/flood.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- words ---- */

static uint64_t seed = 12345;
static uint64_t random_word(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

enum { COUNT = 4099 };

static void test_words(void **state) {
    (void)state;
    static struct vt_target targets[COUNT];
    static uint64_t words[COUNT];
    const uint64_t low = 0x7f1234000000, bytes = 4096;
    struct vt_scan scan = {.targets = targets, .target_count = COUNT};
    for (uint32_t i = 0; i < COUNT; i++)
        targets[i] = (struct vt_target){.start = low + i * bytes, .end = low + (i + 1) * bytes};
    scan.target_low = low;
    scan.target_high = low + COUNT * bytes;
    struct flood f = {.scan = &scan, .mark = VT_MARK_USER};
    set_windows(&f);
    for (unsigned round = 0; round < 200; round++) {
        static bool expected[COUNT];
        memset(expected, 0, sizeof expected);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint64_t target = low + random_word() % (COUNT * bytes), start = target & ~(bytes - 1);
            if (target + 16 >= start + bytes) /* one element before the next */
                target = start + 8;
            switch (random_word() % 12) {
            case 0:
                words[i] = target;
                expected[(target - low) / bytes] = true;
                break;
            case 1: /* two digits of 30 bits */
                words[i] = (target >> 30) << 32 | (target & 0x3fffffff);
                expected[(target - low) / bytes] = true;
                break;
            case 2:
                words[i] = (random_word() & 1 ? low - 17 : scan.target_high);
                break;
            case 3:
                words[i] = (target >> 30) << 32 | (target & 0x3fffffff) | 1ull << 30;
                break;
            case 4:
                words[i] = (start + 1 + random_word() % (bytes - 1)) | 1ull << 63;
                break;
            /* Other forms: of the start alone. */
            case 5:
                words[i] = start | (random_word() << 48 & INT64_MAX) | 1ull << 48;
                expected[(start - low) / bytes] = true;
                break;
            case 6:
                words[i] = start << 16 | (random_word() & 0xffff);
                expected[(start - low) / bytes] = true;
                break;
            case 7: /* in the one before, and one element before the next */
                words[i] = start - 1 - random_word() % 16;
                expected[(start - low) / bytes] = true;
                if (start > low)
                    expected[(start - low) / bytes - 1] = true;
                break;
            case 8:
                words[i] = start - 17 - random_word() % 16;
                if (start > low)
                    expected[(start - low) / bytes - 1] = true;
                break;
            case 9:
                words[i] = (start + 1 + random_word() % (bytes - 1)) << 16;
                break;
            default:
                words[i] = random_word() % 1000;
            }
        }
        for (unsigned way = 0; way < 2; way++) {
            if (way == 1 && !VT_WIDE_HERE)
                continue;
            for (uint32_t i = 0; i < COUNT; i++)
                targets[i].reached = false;
            (way ? words_by_four : words_plain)(&f, words, COUNT, 0x1000);
            for (uint32_t i = 0; i < COUNT; i++)
                assert_int_equal(targets[i].reached, expected[i]);
        }
    }
}

/* ---- blocks ---- */

static void test_cells(void **state) {
    (void)state;
    static uint64_t start[1026], dead[1026];
    struct vt_span span = {.start = 0x100000,
                           .end = 0x100000 + 1024 * 1024,
                           .base = 0x100000,
                           .kind = VT_SPAN_CELLS,
                           .bits = {start, dead}};
    uintptr_t at[4000];
    unsigned n = 0;
    for (uintptr_t p = span.start + 32; p < span.end && n < 4000;) {
        at[n] = p;
        vt_bit_set(start, (p - span.base) / 16);
        if (n % 3 == 0)
            vt_bit_set(dead, (p - span.base) / 16);
        n++;
        p += 16 + 16 * (random_word() % (n % 50 ? 40 : 2000));
    }
    struct vt_range cell;
    assert_false(vt_scan_cell_at(&span, span.start + 8, &cell));
    for (unsigned i = 0; i < n; i++) {
        uintptr_t end = i + 1 < n ? at[i + 1] : span.end;
        if (end - at[i] > VT_CELL_MAX)
            continue;
        const uintptr_t tries[] = {at[i], at[i] + 8, end - 1, at[i] + (end - at[i]) / 2};
        for (unsigned k = 0; k < 4; k++) {
            bool found = vt_scan_cell_at(&span, tries[k], &cell);
            assert_int_equal(found, i % 3 != 0);
            if (found) {
                assert_int_equal(cell.start, at[i]);
                assert_int_equal(cell.end, end);
            }
        }
    }
}

/* ---- our own mappings ---- */

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
