/* SPDX-License-Identifier: MIT */
/* While a call is in progress whose record is written after it, with a time from before, the log says
 * so: a reader of the running process waits for it. */
#include "event.h"
#include "base/base.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static struct vt_call call = {.hook = VT_HOOK_cuMemFree_v2};

static uint64_t entered_at(void) {
    return *vt_thread_self()->entered_at;
}

static int open_log(void **state) {
    (void)state;
    vt_settings.output = "/tmp/vt_event_test.%p.vtl";
    vt_log_start_clock();
    vt_event_meminfo(&call, 1, 2);
    unlink(vt_log_path());
    return vt_log_is_open() && vt_tls.thread && !entered_at() ? 0 : -1;
}

/* Whatever is recorded meanwhile, in this wrapper or in one that the driver calls. */
static void others_meanwhile(uint64_t ticks) {
    assert_in_range(entered_at(), 1, ticks);
    vt_event_meminfo(&call, 1, 2);
    assert_in_range(entered_at(), 1, ticks);
    uint64_t inner = vt_event_before_call(true);
    assert_in_range(entered_at(), 1, ticks);
    vt_event_after_call(inner);
    assert_in_range(entered_at(), 1, ticks);
    struct vt_freeing inner_free = vt_event_free_begin(0x2000, VT_KIND_HOST);
    vt_event_free_end(&call, &inner_free, 0);
    assert_in_range(entered_at(), 1, ticks);
}

static void held_until_after_call(void **state) {
    (void)state;
    uint64_t ticks = vt_event_before_call(true);
    others_meanwhile(ticks);
    vt_event_after_call(ticks);
    assert_int_equal(entered_at(), 0);
    vt_event_meminfo(&call, 1, 2);
    assert_int_equal(entered_at(), 0);
}

static void held_until_freed(void **state) {
    (void)state;
    struct vt_freeing freeing = vt_event_free_begin(0x1000, VT_KIND_DEVICE);
    others_meanwhile(freeing.ticks);
    vt_event_free_end(&call, &freeing, 0);
    assert_int_equal(entered_at(), 0);
    freeing = vt_event_free_begin(0x1000, VT_KIND_DEVICE);
    vt_event_free_end(&call, &freeing, 1); /* refused */
    assert_int_equal(entered_at(), 0);
}

static __attribute__((noinline)) uint64_t never_ends(void) {
    return vt_event_before_call(true);
}

/* A call that was jumped out of holds nothing for ever. */
static void left_by_a_jump(void **state) {
    (void)state;
    assert_true(never_ends());
    assert_in_range(entered_at(), 1, vt_log_ticks());
    vt_event_jumped((uintptr_t)__builtin_frame_address(0));
    assert_int_equal(entered_at(), 0);
    assert_true(never_ends()); /* in a way that we do not see */
    uint64_t was = entered_at(), ticks = never_ends();
    assert_in_range(entered_at(), was + 1, ticks);
    vt_event_after_call(ticks);
    assert_int_equal(entered_at(), 0);
}

static void *first_event_is_a_free(void *arg) {
    (void)arg;
    struct vt_freeing freeing = vt_event_free_begin(0x1000, VT_KIND_DEVICE);
    bool held = vt_tls.thread && entered_at() && entered_at() <= freeing.ticks &&
                vt_tls.thread->entered_at != &vt_tls.thread->nowhere;
    vt_event_free_end(&call, &freeing, 0);
    return held && !entered_at() ? NULL : "not held";
}

/* Also for a thread's first event. */
static void held_from_first_event(void **state) {
    pthread_t thread;
    void *fault;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, first_event_is_a_free, NULL), 0);
    assert_int_equal(pthread_join(thread, &fault), 0);
    assert_null(fault);
}

static uint64_t announced_then;
static void due(void) {
    if (vt_tls.due & VT_DUE_SERVED)
        return;
    vt_tls.due = VT_DUE_SERVED;
    vt_event_meminfo(&call, 1, 2);
    announced_then = entered_at();
    vt_tls.due = 0;
}
static void nothing(void) {}
VT_PROCESS_STEPS static const struct vt_process_steps steps = {nothing, nothing, nothing, nothing,
                                                               due};

/* Due work may have the event's time, so the event stays announced until it is done. */
static void announced_until_due_is_done(void **state) {
    (void)state;
    struct vt_recording recording = vt_event_open();
    uint64_t ticks = entered_at();
    vt_tls.due = VT_DUE_LOOK;
    vt_event_close(&recording);
    assert_int_not_equal(ticks, 0);
    assert_int_equal(announced_then, ticks);
    assert_int_equal(entered_at(), 0);
    struct vt_freeing freeing = vt_event_free_begin(0x1000, VT_KIND_DEVICE);
    vt_tls.due = VT_DUE_LOOK;
    vt_event_free_end(&call, &freeing, 0);
    assert_int_equal(announced_then, freeing.ticks);
    assert_int_equal(entered_at(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_until_after_call), cmocka_unit_test(held_until_freed),
        cmocka_unit_test(held_from_first_event), cmocka_unit_test(announced_until_due_is_done),
        cmocka_unit_test(left_by_a_jump)};
    return cmocka_run_group_tests(tests, open_log, NULL);
}
