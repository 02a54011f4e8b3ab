/* SPDX-License-Identifier: MIT */
/*
 * The page's levels of detail: fewer pieces of a map hold the same bytes, the largest regions stay, and a
 * course that is made shorter keeps its peak.
 */
#include "report/html/html_time.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PIECES = 5000, REGIONS = 300, SLOTS = 1000 };

static uint64_t pieces_bytes(const struct vt_map_piece *pieces, uint32_t count, uint64_t *idle,
                             uint64_t *blocks) {
    uint64_t bytes = 0;
    *idle = *blocks = 0;
    for (uint32_t i = 0; i < count; i++) {
        bytes += pieces[i].bytes;
        *idle += pieces[i].idle_bytes;
        *blocks += pieces[i].blocks;
    }
    return bytes;
}

static void test_pieces_are_merged(void **state) {
    (void)state;
    static struct vt_map_piece pieces[PIECES], out[PIECES];
    uint64_t at = 0, idle, blocks, idle_after, blocks_after;
    for (uint32_t i = 0; i < PIECES; i++) {
        uint64_t bytes = i == 1234 ? 1 << 30 : 512 * (1 + i % 9);
        bool is_idle = i % 3 == 0;
        pieces[i] = (struct vt_map_piece){at, bytes, is_idle ? bytes : 0, is_idle ? VT_NO_SITE : i,
                                          is_idle ? 0 : 1};
        at += bytes;
    }
    struct vt_map_region region = {.bytes = at, .segment = true, .count = PIECES};
    struct vt_address_map map = {
        .regions = &region, .region_count = 1, .pieces = pieces, .piece_count = PIECES};
    bool shown = true;
    uint64_t all = pieces_bytes(pieces, PIECES, &idle, &blocks);
    uint64_t small = merge_below(&map, &shown, 200);
    uint32_t count = pieces_of(&map, &region, small, out);
    assert_true(count <= 200 && count > 50);
    assert_int_equal(pieces_bytes(out, count, &idle_after, &blocks_after), all);
    assert_int_equal(idle_after, idle);
    assert_int_equal(blocks_after, blocks);
    bool large = false;
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(out[i].offset, i ? out[i - 1].offset + out[i - 1].bytes : 0);
        large |= out[i].bytes == 1 << 30; /* the large one has no part of others */
    }
    assert_true(large);
    assert_int_equal(pieces_of(&map, &region, merge_below(&map, &shown, PIECES), out), PIECES);
}

static void test_largest_regions_stay(void **state) {
    (void)state;
    struct vt_map_region regions[REGIONS] = {{0}};
    struct vt_address_map map = {.regions = regions, .region_count = REGIONS};
    for (uint32_t i = 0; i < REGIONS; i++)
        regions[i].bytes = i % 10 ? 4096 : 65536 + i;
    for (uint32_t most = 1; most <= REGIONS + 1; most += 25) {
        uint32_t count = 0, large = 0;
        bool *shown = choose_regions(&map, most);
        for (uint32_t i = 0; i < REGIONS; i++) {
            count += shown[i];
            large += shown[i] && regions[i].bytes > 4096;
        }
        assert_int_equal(count, most < REGIONS ? most : REGIONS);
        assert_int_equal(large, most < REGIONS / 10 ? most : REGIONS / 10);
        free(shown);
    }
}

/* The numbers of a series in a written course: the highest and the last. */
static uint64_t highest_of(const char *text, const char *name, uint32_t *count, uint64_t *last) {
    char key[32];
    snprintf(key, sizeof key, "\"%s\":{\"unit\":", name);
    const char *at = strstr(text, key);
    assert_non_null(at);
    char *end;
    int64_t unit = strtoll(at + strlen(key), &end, 10), value = 0, high = 0;
    end = strchr(end, '[');
    for (*count = 0; *end != ']'; ++*count) {
        value += strtoll(end + 1, &end, 10);
        high = value > high ? value : high;
    }
    *last = (uint64_t)(value * unit);
    return (uint64_t)(high * unit);
}

static void test_a_peak_stays(void **state) {
    (void)state;
    static uint64_t at[SLOTS], live[SLOTS];
    for (uint32_t i = 0; i < SLOTS; i++) {
        at[i] = i * 1000;
        live[i] = i == 777 ? 1 << 30 : 1024 * (1 + i % 7);
    }
    live[SLOTS - 1] = 512;
    struct vt_band band = {.kind = VT_BAND_REST, .bytes = live};
    struct vt_course c = {.end = SLOTS * 1000,
                          .slot_count = SLOTS,
                          .at = at,
                          .live_bytes = live,
                          .bands = &band,
                          .band_count = 1};
    for (uint32_t numbers = 1; numbers <= 3 * SLOTS + 3; numbers += 500) {
        char *text = NULL;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        struct vt_json j = {.out = out, .first = true, .in_one_line = true, .inside_html = true};
        struct vt_html h = {.json = &j};
        write_course(&h, &c, numbers);
        fclose(out);
        uint32_t count, most = numbers / 3 > 64 ? numbers / 3 : 64;
        uint64_t last;
        assert_int_equal(highest_of(text, "live", &count, &last), 1 << 30);
        assert_int_equal(last, 512); /* including the end */
        assert_int_equal(highest_of(text, "bytes", &count, &last), 1 << 30);
        assert_int_equal(last, 512);
        assert_true(count <= most + 1);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_merged),
        cmocka_unit_test(test_largest_regions_stay),
        cmocka_unit_test(test_a_peak_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
