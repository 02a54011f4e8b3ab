/* SPDX-License-Identifier: MIT */
/* Which pointers in blocks that CUDA's libraries may own count as the program's (hints.c). */
#include "scan/flood.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LIVE 15u

static struct vt_hint hints[2 * LIVE];
static uint32_t hint_count;
static struct vt_target targets[LIVE];

static void hint(uint32_t target, uint32_t bytes, uint32_t offset) {
    hints[hint_count++] =
        (struct vt_hint){.target = target, .block_bytes = bytes, .offset = offset};
}

/* A record of each target, in a block of `bytes`; those from `split` on in one of `other_bytes`. */
static void records(uint32_t split, uint32_t bytes, uint32_t other_bytes) {
    hint_count = 0;
    for (uint32_t i = 0; i < LIVE; i++)
        hint(i, i < split ? bytes : other_bytes, 0);
}

/* How many targets count as reached; a bit for each is set in `which`. */
static uint32_t reached(uint32_t *which) {
    static struct vt_scan scan;
    uint32_t count = 0;
    memset(&scan, 0, sizeof scan);
    memset(targets, 0, sizeof targets);
    scan.targets = targets;
    scan.target_count = LIVE;
    scan.most_work = UINT64_MAX;
    *which = 0;
    vt_scan_weigh_hints(&scan, hints, hint_count, hints, hint_count);
    vt_scan_release(&scan);
    for (uint32_t i = 0; i < LIVE; i++)
        if (targets[i].reached) {
            *which |= 1u << i;
            count++;
        }
    return count;
}

static void test_tables(void **state) {
    uint32_t which;
    (void)state;
    records(LIVE, 128, 0);
    assert_int_equal(reached(&which), 0);
    records(LIVE / 2, 128, 256);
    assert_int_equal(reached(&which), LIVE);
}

/* malloc gives a chunk that is 16 bytes longer where the rest would be too small for a chunk. */
static void test_chunks_that_were_not_split(void **state) {
    uint32_t which;
    (void)state;
    for (uint32_t split = 0; split <= LIVE; split++) {
        records(split, 128, 144);
        assert_int_equal(reached(&which), 0);
        records(split, 144, 128);
        assert_int_equal(reached(&which), 0);
    }
    records(12, 128, 160);
    assert_int_equal(reached(&which), LIVE);
    /* An object of the program that is as long as such a chunk. */
    records(12, 128, 144);
    hint(3, 144, 0);
    assert_int_equal(reached(&which), 1);
    assert_int_equal(which, 1u << 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_chunks_that_were_not_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
