/* SPDX-License-Identifier: MIT */
/*
 * The end of a process: the exit scan, the END mark, and the exit line (print_exit_line).
 *
 * exit runs handlers last-in-first-out. load.c registers ours early, so it runs after every static destructor and after
 * Python's finalization. A plain destructor of ours would run earlier, so late frees would look like leaks. _exit,
 * _Exit and quick_exit run no handler, so they are wrapped here; exec.c wraps exec*.
 *
 * Owners are searched before the first destructor, because a destroyed vector owns nothing. So we register a handler
 * after each one that the program registers (__cxa_atexit, which atexit and compilers call), and exit runs ours first.
 * The order of the program's own handlers is unchanged.
 */
#define _GNU_SOURCE
#include "state/state.h"
#include "base/base.h"
#include "event.h"
#include "life.h"
#include "instrument/instrument.h"
#include "scan/scan.h"
#include "snapshot/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void print_exit_line(void) {
    char line[256], *at = line;
    uint64_t bytes, count, dropped = vt_log_dropped(), then_bytes;
    uint64_t then = vt_triggers_python_ended(&then_bytes);
    vt_live_total(&bytes, &count);
    at = vt_text_put_number(at, count);
    at = vt_text_put(at, count == 1 ? " live allocation, " : " live allocations, ");
    at = vt_text_put_size(at, bytes);
    if (then > count) { /* leaked by Python code: freed by now, but still a leak */
        at = vt_text_put_number(vt_text_put(at, " ("), then);
        at = vt_text_put_size(vt_text_put(at, ", "), then_bytes);
        at = vt_text_put(at, " until Python ended)");
    }
    if (!count && vt_get(&vt_event_failed)) /* else it managed without that memory */
        at = vt_text_put_number(vt_text_put(at, "; an allocation failed with error "),
                                vt_get(&vt_event_failed));
    if (dropped) {
        at = vt_text_put(at, "; ");
        at = vt_text_put_number(at, dropped);
        at = vt_text_put(at, dropped == 1 ? " event dropped" : " events dropped");
    }
    const char *fate = vt_log_fate();
    vt_text_put(at, fate ? "; but its log " : "; vramtrace report ");
    vt_message_path(line, vt_log_path(), fate ? fate : "");
}

static uint32_t said; /* atomic: one line per process, even when two threads end it at once */

static void list_live(const struct vt_live *what, void *unused) {
    (void)unused;
    vt_log_list_add(&(struct vt_log_live){
        .word = vt_word(what->device, what->kind, what->hook, what->stack),
        .address = what->address,
        .size_context = (what->size & VT_SIZE_MASK) | (uint64_t)what->context << 48});
}

/* Dropped events may include frees, so the log also gets the live table. */
static void list_all_live(void) {
    if (!vt_log_dropped() || !vt_log_list_begin())
        return;
    vt_live_each(list_live, NULL);
    vt_log_list_done();
}

static inline __attribute__((always_inline)) void finish(enum vt_exit kind, int status) {
    if (!vt_log_is_mine())
        return;
    if (kind != VT_EXIT_EXEC && !vt_get(&vt_sys_sealed)) {
        vt_event_ends();
        vt_triggers_end();
        vt_scan_run(VT_MACHINE_CALLERS, true);
    }
    vt_seccomp_ends();
    vt_triggers_finish();
    list_all_live();
    vt_log_end(kind, status);
    if (!vt_settings.quiet && kind != VT_EXIT_EXEC && vt_claim(&said, 0, 1))
        print_exit_line();
}

static uint32_t watched;  /* atomic: from arming on */
static uint32_t begun;    /* atomic: one search per process; later handlers return at once */
static uint32_t followed; /* atomic: how many of the program's handlers one of ours follows */

/* 32 KiB of handlers. A program that keeps loading and closing a plug-in registers ever more, and closing removes only
 * the plug-in's own. */
enum { FOLLOWED_MOST = 1000 };

static void exit_begins(int status, void *unused) {
    (void)status, (void)unused;
    if (vt_log_is_mine() && vt_claim(&begun, 0, 1))
        vt_triggers_end();
}

/* Runs before the destructors of objects made before arming, and after all others. */
static void early_ones_begin(int status, void *unused) {
    (void)status, (void)unused;
    if (vt_log_is_mine())
        vt_triggers_exit_handlers_ran();
}

void vt_exit_watch(void) {
    if (vt_claim(&watched, 0, 1))
        vt_libc_on_exit(early_ones_begin, NULL);
}

/* The C library allocates memory for every 32nd handler, as it does for the program's. */
extern int __cxa_atexit(void (*function)(void *), void *data, void *dso);
VT_EXPORT int __cxa_atexit(void (*function)(void *), void *data, void *dso) {
    int (*real)(void (*)(void *), void *, void *) =
        __extension__(int (*)(void (*)(void *), void *, void *)) vt_libc_end(VT_LIBC_CXA_ATEXIT);
    vt_locks_enter();
    int result = real ? real(function, data, dso) : -1, error = errno;
    vt_locks_leave();
    if (vt_get(&watched) && !vt_get(&begun) && vt_get(&followed) < FOLLOWED_MOST) {
        vt_add(&followed, 1);
        vt_libc_on_exit(exit_begins, NULL);
    }
    errno = error;
    return result;
}

void vt_exit_handler(int status, void *unused) {
    (void)unused;
    finish(VT_EXIT_EXITED, status & 0xff);
}

static int quick_status;

void vt_exit_quick_handler(void *unused) {
    (void)unused;
    finish(VT_EXIT_EXITED, quick_status & 0xff);
}

/* Safe in a signal handler and in a forked child of a multithreaded process, like the C library's function: it looks up
 * no symbol. */
VT_EXPORT void _exit(int status) {
    finish(VT_EXIT_EXITED, status & 0xff);
    void (*real)(int) = __extension__(void (*)(int)) vt_libc_end(VT_LIBC__EXIT);
    if (real)
        real(status);
    for (;;)
        VT_SYS1(SYS_exit_group, status);
}

VT_EXPORT void _Exit(int status) {
    _exit(status);
}

VT_EXPORT void quick_exit(int status) {
    quick_status = status;
    void (*real)(int) = __extension__(void (*)(int)) vt_libc_end(VT_LIBC_QUICK_EXIT);
    if (real)
        real(status);
    _exit(status);
}

void vt_exit_exec_begins(void) {
    finish(VT_EXIT_EXEC, 0);
}

void vt_exit_exec_failed(void) {
    if (vt_log_is_mine())
        vt_log_unend();
}

void vt_exit_forked(void) {
    vt_put(&said, 0);
    vt_put(&begun, 0);
    vt_put(&vt_event_failed, 0);
}
