/* SPDX-License-Identifier: MIT */
/* How long "once a second" is for a buffered log, on clocks of any frequency. */
#include "log/log.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct vt_log_header no_file;

/* As if the process had begun so long ago, on a clock of that frequency. */
static void expect_second(uint64_t frequency) {
    enum { SECONDS = 100 };
    struct vt_clock_pair now = clock_pair();
    start.ticks = now.ticks - SECONDS * frequency;
    start.monotonic_ns = now.monotonic_ns - SECONDS * 1000000000ull;
    rate = (struct vt_clock_pair){0, 0};
    header = &no_file;
    calibrate();
    header = NULL;
    assert_in_range(second_ticks, frequency - frequency / 4, frequency + frequency / 4);
}

static void second_by_any_clock(void **state) {
    (void)state;
    vt_log_start_clock();
    expect_second(1000000000u);
    expect_second(24000000u * 100);
    expect_second(5200000000u);
}

static struct vt_thread thread;

/* A chunk that is not due is not written out: the write is told by its time. */
static void flushed_when_due(void **state) {
    (void)state;
    thread.chunk = calloc(1, VT_CHUNK_BYTES);
    thread.used = sizeof *thread.chunk;
    buffered = true;
    header = &no_file;
    vt_put(&second_ticks, (uint64_t)1 << 62);
    vt_log_start_clock();
    start.ticks -= 3000000000u;
    thread.flushed_ticks = 0;
    vt_log_leave(&thread);
    assert_int_equal(thread.flushed_ticks, 0);
    vt_put(&second_ticks, (uint64_t)1000);
    vt_log_leave(&thread);
    assert_int_not_equal(thread.flushed_ticks, 0);
    free(thread.chunk);
    header = NULL;
    buffered = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(second_by_any_clock),
                                       cmocka_unit_test(flushed_when_due)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
