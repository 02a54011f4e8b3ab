/* SPDX-License-Identifier: MIT */
/* How long "once a second" is for a buffered log, on clocks of any frequency; and the descriptor. */
#define _GNU_SOURCE
#include "base/base.h"

#include <fcntl.h>

/* Another thread, which comes just before a file is opened. */
static void (*before_open)(void);

static long open_after_other(const char *path, int flags, unsigned mode) {
    void (*other)(void) = before_open;
    before_open = 0;
    if (other)
        other();
    return vt_descriptors_open(path, flags, mode);
}
#define vt_descriptors_open open_after_other

#include "log/log_file.h"

static bool disk_is_full;

static bool write_if_there_is_room(int fd, const void *data, uint64_t bytes, uint64_t offset) {
    return !disk_is_full && vt_log_space_write(fd, data, bytes, offset);
}
#define vt_log_space_write write_if_there_is_room

#include "log/log.c"
#include "log/log_chunks.c"
#include "log/log_clock.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct vt_log_header no_file;

/* As if the process had begun so long ago, on a clock of that frequency. */
static void expect_second(uint64_t frequency) {
    enum { SECONDS = 100 };
    struct vt_clock_pair now = clock_pair();
    vt_log_clock_start.ticks = now.ticks - SECONDS * frequency;
    vt_log_clock_start.monotonic_ns = now.monotonic_ns - SECONDS * 1000000000ull;
    rate = (struct vt_clock_pair){0, 0};
    vt_log_header = &no_file;
    vt_log_calibrate(vt_log_header);
    vt_log_header = NULL;
    assert_in_range(vt_log_second_ticks, frequency - frequency / 4, frequency + frequency / 4);
}

static void second_by_any_clock(void **state) {
    (void)state;
    vt_log_start_clock();
    expect_second(1000000000u);
    expect_second(24000000u * 100);
    expect_second(5200000000u);
}

/* Pids are ambiguous without it: each container counts from 1. */
static void header_names_pid_namespace(void **state) {
    struct vt_clock_pair start = clock_pair();
    struct vt_log_header *h = calloc(1, sizeof *h);
    struct stat st;
    (void)state;
    assert_non_null(h);
    assert_return_code(stat("/proc/self/ns/pid", &st), 0);
    vt_log_header_fill(h, &start, VT_CLOCK_MONOTONIC);
    assert_int_equal(h->pid, getpid());
    assert_int_equal(h->pid_namespace, st.st_ino);
    free(h);
}

static struct vt_thread thread = {.entered_at = &thread.nowhere};

/* As time passes, the log's own rate follows, so that a killed process's log needs no other. */
static void rate_is_never_far_behind(void **state) {
    struct vt_chunk_header chunk = {0};
    (void)state;
    thread.chunk = &chunk;
    vt_log_header = &no_file;
    rate = (struct vt_clock_pair){0, 0};
    vt_log_start_clock();
    vt_log_calibrate(vt_log_header);
    for (uint64_t second = 1000000000u, age = 1; age < 100; age *= 3) {
        vt_log_clock_start.ticks -= age * 3 * second;
        vt_log_clock_start.monotonic_ns -= age * second;
        no_file.calibration_ticks -= age * 3 * second;
        no_file.calibration_monotonic_ns -= age * second;
        vt_log_enter(&thread);
        vt_log_leave(&thread);
        uint64_t ticks = no_file.calibration_ticks - vt_log_clock_start.ticks,
                 ns = no_file.calibration_monotonic_ns - vt_log_clock_start.monotonic_ns;
        assert_in_range(vt_log_ticks(), ticks, 2 * ticks);
        assert_in_range(ticks, ns * 5 / 2, ns * 7 / 2);
    }
    thread.chunk = NULL;
    vt_log_header = NULL;
}

/* Without a clock nothing is measured: ticks that are only counted have no rate. */
static void no_rate_of_stopped_clock(void **state) {
    (void)state;
    vt_log_header = &no_file;
    rate = (struct vt_clock_pair){0, 0};
    vt_log_start_clock();
    vt_log_calibrate(vt_log_header);
    vt_log_clock_start.monotonic_ns -= 1000000000u;
    const struct vt_clock_pair measured = rate;
    vt_log_stop_clock(true);
    vt_log_calibrate(vt_log_header);
    assert_memory_equal(&rate, &measured, sizeof rate);
    vt_log_header = NULL;
}

/* A chunk that is not due is not written out; the file's time shows a write. */
static void flushed_when_due(void **state) {
    (void)state;
    thread.chunk = calloc(1, VT_CHUNK_BYTES);
    thread.chunk_number = 1;
    thread.used = sizeof *thread.chunk;
    vt_log_buffered = true;
    vt_log_header = &no_file;
    vt_log_start_clock();
    vt_put(&vt_log_second_ticks, (uint64_t)1 << 62);
    vt_log_clock_start.ticks -= 3000000000u;
    thread.flushed_ticks = 0;
    vt_log_leave(&thread);
    assert_int_equal(thread.flushed_ticks, 0);
    vt_put(&vt_log_second_ticks, (uint64_t)1000);
    vt_log_leave(&thread);
    assert_int_not_equal(thread.flushed_ticks, 0);
    free(thread.chunk);
    vt_log_header = NULL;
    vt_log_buffered = false;
}

/* A buffered log whose first write fails leaves nothing: no file, no descriptor, no memory. */
static void nothing_left_of_failed_log(void **state) {
    static struct vt_range ours[16384];
    uint32_t before, after;
    (void)state;
    setenv("VRAMTRACE_TEST_BUFFERED", "1", 1);
    vt_settings.output = "/tmp/vt_log_test.%p.vtl";
    vt_log_start_clock();
    assert_true(vt_mappings_list(ours, 16384, &before));
    disk_is_full = true;
    assert_false(vt_log_ready());
    disk_is_full = false;
    assert_true(vt_mappings_list(ours, 16384, &after));
    assert_int_equal(after, before);
    assert_int_equal(log_fd, -1);
    assert_int_equal(access(path, F_OK), -1);
    vt_log_drop(VT_DROP_NESTED); /* is counted all the same */
    assert_int_equal(vt_log_dropped(), 1);
    vt_log_forked();
    assert_true(vt_log_ready());
    unlink(path);
    vt_log_forked();
    vt_log_buffered = false;
    unsetenv("VRAMTRACE_TEST_BUFFERED");
}

static unsigned descriptors(void) {
    unsigned n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void check_descriptor(void) {
    struct use u = begin_use();
    assert_true(u.fd >= 0);
    end_use(u);
}

/* The program has closed our descriptor, and two threads find that together. */
static void descriptor_opened_by_one(void **state) {
    struct stat st;
    (void)state;
    strcpy(absolute, "/tmp/vt_log_test_XXXXXX");
    log_fd = mkstemp(absolute);
    assert_true(log_fd >= 0 && fstat(log_fd, &st) == 0);
    log_device = st.st_dev;
    log_inode = st.st_ino;
    unsigned before = descriptors();
    close(log_fd);
    before_open = check_descriptor;
    check_descriptor();
    assert_int_equal(descriptors(), before);
    close(log_fd);
    log_fd = -1;
    unlink(absolute);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_by_any_clock),      cmocka_unit_test(header_names_pid_namespace),
        cmocka_unit_test(rate_is_never_far_behind), cmocka_unit_test(no_rate_of_stopped_clock),
        cmocka_unit_test(flushed_when_due),         cmocka_unit_test(nothing_left_of_failed_log),
        cmocka_unit_test(descriptor_opened_by_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
