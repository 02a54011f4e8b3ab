/* SPDX-License-Identifier: MIT */
/*
 * Few ranks of which all lines vary by chance: who is named, and who has to be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fleet/fleet.h"
#include "fleet/tables.h"

enum { MIB = 1 << 20 };

/* A normal deviate, of the mean of 12 numbers by chance. */
static double deviate(uint64_t seed) {
    double sum = 0;
    for (uint64_t i = 0; i < 12; i++)
        sum += (double)(vt_mix(seed * 12 + i) >> 11) / (double)(1ull << 53);
    return sum - 6;
}

/* In how many of 200 jobs somebody is named, where all lines vary by chance with this standard deviation, and
 * rank 1 holds so much more at line 7. */
static unsigned named_of(int ranks, double noise, double more) {
    unsigned named = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct vt_fleet *f = vt_fleet_open();
        for (int r = 0; r < ranks; r++) {
            struct vt_fleet_process p = {.id = (uint64_t)r + 1,
                                         .log = "x.vtl",
                                         .run_id = "run",
                                         .command = "python3 train.py",
                                         .host = vt_fleet_add_host(f, "node", "boot"),
                                         .rank = r,
                                         .pid = 1000 + (uint32_t)r,
                                         .ppid = 1,
                                         .duration = 1000000,
                                         .ending.how = VT_END_EXITED,
                                         .complete = true};
            p.peak_bytes = 30ull * 100 * MIB;
            vt_fleet_add_process(f, p);
            for (int k = 0; k < 30; k++) {
                char text[32];
                uint64_t at = (seed * 8 + (uint64_t)r) * 30 + (uint64_t)k;
                double bytes = 100. * MIB * (1 + noise * deviate(at));
                snprintf(text, sizeof text, "train.py:%d", k);
                uint32_t line = vt_fleet_add_line(
                    f, (struct vt_fleet_line){.text = text, .layer = VT_LAYER_DRIVER});
                struct vt_fleet_cell *cell = vt_fleet_add_cell(f);
                cell->line = line;
                cell->verdict = VT_VERDICT_UNFREED;
                cell->peak_bytes = (uint64_t)(bytes * (r == 1 && k == 7 ? 1 + more : 1));
            }
        }
        vt_fleet_finish(f);
        named += f->outlier_count > 0;
        vt_fleet_free(f);
    }
    return named;
}

/* Three to seven ranks: what lines vary by is measured at the other lines. */
static void few_with_noise(void **state) {
    (void)state;
    assert_in_range(named_of(3, 0.1, 0), 0, 20); /* without THREE_NOISE 61 */
    assert_in_range(named_of(4, 0.1, 0), 0, 18); /* without FEW_NOISE 30 */
    assert_in_range(named_of(5, 0.1, 0), 0, 5);  /* 14 */
    assert_int_equal(named_of(3, 0.05, 0), 0);
    assert_in_range(named_of(3, 0.05, 0.5), 180, 200);
    assert_in_range(named_of(5, 0.05, 0.5), 160, 200); /* with THREE_NOISE 144 */
    assert_in_range(named_of(7, 0.05, 0.5), 125, 200);
    assert_int_equal(named_of(3, 0.05, 1), 200);
    assert_int_equal(named_of(3, 0, 0.5), 200); /* all other lines are equal */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_with_noise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
