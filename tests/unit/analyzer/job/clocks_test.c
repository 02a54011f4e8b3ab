/* SPDX-License-Identifier: MIT */
/*
 * What the ranks of two hosts say of their clocks. Each limit of clocks.c has a row that fails without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "job/job.h"
#include "job/tables.h"

#define MS 1000000ull

/* A rank, which began and ended so many ms after some moment, as its host's clock has it. */
static void rank(struct vt_job *f, int number, uint64_t begin, uint64_t end, enum vt_end how) {
    bool second = number > 1;
    struct vt_job_process p = {
        .id = (uint64_t)number + 1,
        .log = "x.vtl",
        .run_id = "run",
        .command = "python3 train.py",
        .host = vt_job_add_host(f, second ? "two" : "one", second ? "later boot" : "boot"),
        .rank = number,
        .pid = 1000 + (uint32_t)number,
        .ppid = 1,
        .started_realtime = (1000000 + begin) * MS,
        .started_monotonic = (second ? 5000 : 100000) * MS + begin * MS,
        .duration = (end - begin) * MS,
        .ending.how = how,
        .quality.complete = true};
    vt_job_add_process(f, p);
    struct vt_job_cell *cell = vt_job_add_row(f, VT_CELL_ROWS, &(struct vt_job_cell){0});
    cell->line = vt_job_add_line(f, (struct vt_job_line){.text = "x", .layer = VT_LAYER_DRIVER});
    cell->peak_bytes = 1 << 20;
}

/* The delay of the second host in ms, from begins and ends of two ranks on each host, where the last one ended like
 * this. */
static int64_t later(const uint64_t times[8], enum vt_end how) {
    struct vt_job *f = vt_job_open();
    for (int i = 0; i < 4; i++)
        rank(f, i, times[2 * i], times[2 * i + 1], i == 3 ? how : VT_END_EXITED);
    vt_job_finish(f);
    uint32_t one = f->processes[0].host, two = f->processes[2].host;
    int64_t by = f->hosts[two].later_by;
    assert_int_equal(f->hosts[one].later_by, 0);
    assert_true(!by || f->hosts[two].later_than == one);
    vt_job_free(f);
    return by / (int64_t)MS;
}

#define LATER(how, ...) later((const uint64_t[8]){__VA_ARGS__}, how)

static void clocks_that_are_apart(void **state) {
    (void)state;
    assert_int_equal(LATER(VT_END_EXITED, 500, 60000, 900, 60100, 37000, 97000, 37400, 97100),
                     36750);
    assert_int_equal(LATER(VT_END_EXITED, 50000, 90000, 50100, 90100, 20000, 60000, 20100, 60100),
                     -30000);
}

static void nobody_can_tell(void **state) {
    (void)state;
    /* the same time */
    assert_int_equal(LATER(VT_END_EXITED, 500, 60000, 900, 60100, 700, 60050, 400, 60000), 0);
    /* APART_NS: a launcher takes as long */
    assert_int_equal(LATER(VT_END_EXITED, 0, 60000, 0, 60000, 900, 60900, 900, 60900), 0);
    /* it joined late, and all ended together */
    assert_int_equal(LATER(VT_END_EXITED, 500, 60000, 900, 60100, 37000, 61000, 37400, 61000), 0);
    /* APART_SPREADS: also one after the other on each host */
    assert_int_equal(LATER(VT_END_EXITED, 0, 60000, 20000, 80000, 40000, 100000, 60000, 120000), 0);
    /* times that no clock has, from a log that is not right */
    assert_int_equal(LATER(VT_END_EXITED, 0, 1, 0, 1, INT64_MAX / MS, 1, INT64_MAX / MS, 1), 0);
    /* an end that is not known */
    assert_int_equal(LATER(VT_END_RUNNING, 500, 60000, 900, 60100, 37000, 97000, 37400, 97100), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_that_are_apart),
        cmocka_unit_test(nobody_can_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
