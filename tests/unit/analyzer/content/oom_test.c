/* SPDX-License-Identifier: MIT */
/* What to try where memory ran out, on models made for the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "content/sentences.h"

#include <stdlib.h>

#define GIB (1ull << 30)
#define MIB (1ull << 20)

/* The owner of the memory of the first of these sites. */
static const struct vt_memory_owner *held_by;

/* Two sites, of a line and of a backward pass that waits for another one, as the holders and the pins
 * of a failure: what to try. `large` holds most. */
static const char *tried(enum vt_oom_cause cause, uint32_t large, enum vt_verdict verdict,
                         uint64_t leaked) {
    static char advice[400];
    struct vt_frame frames[][2] = {
        {{.file = "a.py", .line = 7, .function = "main", .python = true, .user_code = true}},
        {{.function = "torch::autograd::generated::MulBackward0::apply"},
         {.file = "a.py",
          .line = 9,
          .function = "main",
          .python = true,
          .user_code = true,
          .waiting = true}}};
    struct vt_stack stacks[] = {{.frames = frames[0], .count = 1},
                                {.frames = frames[1], .count = 2, .user_frame = 1}};
    struct vt_site sites[] = {{.stack = &stacks[0], .verdict = verdict},
                              {.stack = &stacks[1], .verdict = VT_VERDICT_UNFREED}};
    struct vt_oom oom = {.cause = cause,
                         .outcome = VT_OOM_RAISED,
                         .requested_bytes = 4 * MIB,
                         .tracked_bytes = 100 * MIB,
                         .total_bytes = GIB,
                         .free_bytes = 0,
                         .leaked_bytes = leaked,
                         .holders = {large, !large},
                         .holder_bytes = {60 * MIB, 40 * MIB},
                         .holder_count = 2,
                         .pins = {{large, 1, MIB, 1, MIB}, {!large, 2, MIB, 1, MIB}},
                         .pin_count = 2};
    struct vt_process p = {
        .python = true, .sites = sites, .site_count = 2, .ooms = &oom, .oom_count = 1};
    struct vt_owned_by by = {.owner = held_by};
    sites[0].owned = (struct vt_owned_list){&by, held_by != NULL};
    vt_oom_write(&p);
    snprintf(advice, sizeof advice, "%s", oom.advice ? oom.advice : "");
    free(oom.advice);
    free(oom.why);
    return advice;
}

/* A leak that filled the device comes before all else. What a backward pass allocates cannot be moved,
 * and its place is named without "at". */
static void what_to_try(void **state) {
    const enum vt_verdict grows = VT_VERDICT_GROWING, unfreed = VT_VERDICT_UNFREED;
    (void)state;
    assert_string_equal(tried(VT_CAUSE_LIMIT, 1, grows, 60 * MIB),
                        "stop the leak of memory allocated at a.py:7 in main: it held 40.0 MiB; or "
                        "raise VRAMTRACE_LIMIT, or ask for less");
    assert_string_equal(tried(VT_CAUSE_LIMIT, 0, grows, 40 * MIB),
                        "raise VRAMTRACE_LIMIT, or ask for less");
    assert_string_equal(tried(VT_CAUSE_CAPACITY, 1, grows, 60 * MIB),
                        "stop the leak of memory allocated at a.py:7 in main: it held 40.0 MiB");
    assert_string_equal(tried(VT_CAUSE_CAPACITY, 1, unfreed, 0),
                        "free, or shrink, the memory allocated in backward of MulBackward0, from "
                        "a.py:9: it held 60.0 MiB");
    assert_string_equal(
        tried(VT_CAUSE_FRAGMENTATION, 1, unfreed, 0),
        "allocate the blocks kept from a.py:7 in main earlier or in memory of their "
        "own: 2 blocks (1.00 MiB) hold 1 segment with 1.00 MiB idle");
}

/* Views keep what they do not see. */
static void what_views_hold(void **state) {
    (void)state;
    struct vt_memory_owner rows = {
        .bytes = 60 * MIB, .unseen_bytes = 59 * MIB, .container = "rows", .container_length = 4};
    held_by = &rows;
    assert_string_equal(tried(VT_CAUSE_CAPACITY, 0, VT_VERDICT_UNFREED, 0),
                        "free, or shrink, the memory allocated at a.py:7 in main: it held 60.0 "
                        "MiB; `rows` keeps 60.0 MiB for views that see 1.00 MiB: keep .clone() of "
                        "each");
    rows.unseen_bytes = 30 * MIB;
    assert_string_equal(
        tried(VT_CAUSE_CAPACITY, 0, VT_VERDICT_UNFREED, 0),
        "free, or shrink, the memory allocated at a.py:7 in main: it held 60.0 MiB");
    held_by = NULL;
}

/* A failure's snapshot comes after it, however late, as on a busy machine: not the nearest one. */
static void which_snapshot(void **state) {
    (void)state;
    const uint64_t later = 10 * 1000000000ull;
    struct vt_snapshot snapshots[] = {{.at = 1100, .why = VT_SNAPSHOT_OOM},
                                      {.at = 1190, .why = VT_SNAPSHOT_GROWTH},
                                      {.at = 1500, .why = VT_SNAPSHOT_OOM},
                                      {.at = 2 * later, .why = VT_SNAPSHOT_OOM}};
    /* The fourth's thread proceeded to the fifth without a recovery. The wait for the last one is shorter than for
     * the sixth. */
    struct vt_oom ooms[] = {{.at = 1000, .thread = 7},     {.at = 1200, .thread = 7},
                            {.at = 1300, .thread = 8},     {.at = 1350, .thread = 7},
                            {.at = 1400, .thread = 7},     {.at = 1600, .thread = 7},
                            {.at = 3 * later, .thread = 7}};
    const struct vt_snapshot *expected[] = {&snapshots[0], &snapshots[2], &snapshots[2], NULL,
                                            &snapshots[2], NULL,          NULL};
    struct vt_process p = {
        .snapshots = snapshots, .snapshot_count = 4, .ooms = ooms, .oom_count = 7};
    for (int i = 0; i < 7; i++)
        assert_ptr_equal(vt_process_snapshot_at(&p, &ooms[i]), expected[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_to_try),
                                       cmocka_unit_test(what_views_hold),
                                       cmocka_unit_test(which_snapshot)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
