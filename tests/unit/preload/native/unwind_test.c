/* SPDX-License-Identifier: MIT */
/*
 * Frames found from a thread's memory alone, compared with those of the C library's own unwinder: for the calling
 * thread, through a callback of the C library; and for a thread waiting in it.
 */
#include "native/native.h"
#include "memory/memory.h"

#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 64

static struct vt_owners walk;
static struct vt_scan scan;
static struct vt_stack_frame frames[MOST];
static uint32_t count;
static void *expected[MOST];
static int expected_count;

static void look_around(void) {
    memset(&scan, 0, sizeof scan);
    scan.modules = calloc(VT_SCAN_RANGES, sizeof *scan.modules);
    scan.code = calloc(VT_SCAN_RANGES, sizeof *scan.code);
    scan.frame = __builtin_frame_address(0);
    scan.most_work = UINT64_MAX;
    assert_true(vt_owners_read_open(&walk));
    vt_scan_find_threads(&scan);
    assert_true(vt_scan_read_open(&scan));
    assert_true(vt_scan_list_maps(&scan));
    assert_true(vt_scan_classify_maps(&scan));
}

__attribute__((noinline)) static void unwind_here(void) {
    const struct vt_caller caller = VT_CALLER;
    struct vt_registers here = {.pc = (uintptr_t)caller.to,
                                .sp = vt_caller_sp(&caller),
                                .fp = *(const uintptr_t *)caller.frame,
                                .fp_known = true};
    expected_count = backtrace(expected, MOST);
    count = vt_native_unwind(&walk, &scan, here, frames, MOST);
}

static int compare(const void *a, const void *b) {
    if (!count)
        unwind_here();
    return memcmp(a, b, sizeof(int));
}

/* A frame whose size is not known when it is compiled. */
__attribute__((noinline)) static void odd_frame(int items) {
    volatile int list[items];
    for (int i = 0; i < items; i++)
        list[i] = items - i;
    qsort((void *)list, (size_t)items, sizeof list[0], compare);
}

static void test_this_thread(void **state) {
    (void)state;
    look_around();
    count = 0;
    odd_frame(7);
    /* expected[0] lies in unwind_here */
    assert_true(count >= 5);
    assert_true((int)count <= expected_count - 1);
    for (uint32_t i = 0; i < count; i++) {
        assert_ptr_equal(expected[i + 1], frames[i].pc);
        assert_true(frames[i].start <= frames[i].end);
        if (i)
            assert_int_equal(frames[i - 1].end + VT_RETURN_AT_CFA, frames[i].start);
    }
}

static pthread_barrier_t ready, done;
static uintptr_t local_at;

__attribute__((noinline)) static void wait_here(void) {
    volatile int local = 1;
    local_at = (uintptr_t)&local;
    pthread_barrier_wait(&done);
    local = 2;
}

static void *worker(void *data) {
    pthread_barrier_wait(&ready);
    wait_here();
    return data;
}

/* Where a local variable of a thread that waits lies, its function is found. */
static void test_other_thread(void **state) {
    (void)state;
    pthread_t thread;
    bool found = false;
    pthread_barrier_init(&ready, NULL, 2);
    pthread_barrier_init(&done, NULL, 2);
    pthread_create(&thread, NULL, worker, NULL);
    pthread_barrier_wait(&ready);
    /* until it waits */
    while (!found) {
        look_around();
        if (scan.stacks_unknown) /* an emulator's /proc tells of its own stacks */
            skip();
        for (uint32_t t = 0; t < scan.thread_count; t++) {
            const struct vt_thread_seen *seen = &scan.threads[t];
            if (!seen->sp || seen->sp == (uintptr_t)scan.frame)
                continue;
            struct vt_registers from = {.pc = seen->pc, .sp = seen->sp};
            count = vt_native_unwind(&walk, &scan, from, frames, MOST);
            for (uint32_t i = 0; i < count; i++)
                found |= frames[i].start <= local_at && local_at < frames[i].end &&
                         frames[i].pc - (uintptr_t)wait_here < 256;
        }
        free(scan.modules);
        free(scan.code);
    }
    pthread_barrier_wait(&done);
    pthread_join(thread, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_this_thread),
        cmocka_unit_test(test_other_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
