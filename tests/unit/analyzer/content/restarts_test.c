/* SPDX-License-Identifier: MIT */
/*
 * Which ranks a report says were restarted. Fleets are made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "job/job.h"
#include "job/tables.h"
#include "content/content.h"

#include <stdlib.h>

/* A process of a rank, which began at `at` and lasted 100; `restart`: by its launcher's count. */
static void process(struct vt_job *f, int rank, uint64_t at, uint32_t restart, int status) {
    uint32_t number = f->process_count;
    vt_job_add_process(f, (struct vt_job_process){.id = number + 1,
                                                  .log = "x.vtl",
                                                  .run_id = "run",
                                                  .command = "python3 train.py",
                                                  .host = vt_job_add_host(f, "node", "boot"),
                                                  .rank = rank,
                                                  .launcher_restart = restart,
                                                  .pid = 1000 + number,
                                                  .ppid = 1,
                                                  .started_realtime = 1000 + at,
                                                  .started_monotonic = 1000 + at,
                                                  .duration = 100,
                                                  .ending = {VT_END_EXITED, status},
                                                  .quality.complete = true});
}

static void expect(struct vt_job *f, const char *expected) {
    vt_job_finish(f);
    char *said = vt_ranks_restarts(f);
    assert_string_equal(said ? said : "none", expected);
    free(said);
    vt_job_free(f);
}

/* With the launcher's count, and without. Helpers have the number of their rank, run beside it, and are no starts. */
static void helpers_are_no_starts(void **state) {
    (void)state;
    for (uint32_t counted = 0; counted < 2; counted++) {
        struct vt_job *f = vt_job_open();
        for (uint32_t start = 0; start < 2; start++)
            for (int rank = 0; rank < 3; rank++) {
                process(f, rank, start * 1000, start * counted, start ? 0 : 1);
                process(f, rank, start * 1000 + 10, start * counted, 7);
            }
        expect(f,
               "Ranks 0 to 2 were restarted once. Of the earlier starts, 3 exited with status 1.");
    }
}

static void as_often_as_the_launcher_says(void **state) {
    (void)state;
    struct vt_job *f = vt_job_open();
    process(f, 0, 0, 0, 0);
    process(f, 1, 5000, 3, 0); /* of the earlier starts there are no logs */
    expect(f, "Rank 1 was restarted 3 times.");
}

static void nobody_was(void **state) {
    (void)state;
    struct vt_job *f = vt_job_open();
    process(f, 0, 0, 0, 1);
    process(f, 0, 10, 0, 1);
    process(f, 1, 0, 0, 1);
    process(f, -1, 0, 0, 1);
    process(f, -1, 2000, 0, 1);
    expect(f, "none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(helpers_are_no_starts),
        cmocka_unit_test(as_often_as_the_launcher_says),
        cmocka_unit_test(nobody_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
