/* SPDX-License-Identifier: MIT */
/*
 * A snapshot of the owners: which named path holds each live allocation at this moment?
 *
 * Other threads change memory meanwhile, and no lock keeps Python's objects unchanged. So the walk is done in a child,
 * which has a copy of the memory. The child is made by a raw clone: no fork handlers run, the program gets no signal
 * when the child ends, and only a wait with __WALL returns the child. The child reads memory, writes to a mapping that
 * it shares with us, and ends. It never touches CUDA, takes no lock, and is killed when its time is up. If the
 * program's only thread waits, no copy is needed: the child reads the program's memory. If a copy could do harm, or
 * cannot be made, the walk is done in place, but only while every other thread sleeps, and the result records that.
 * Otherwise the log records that no snapshot was taken.
 *
 * The program need not wait for the child (vt_snapshot_begin): the answer is written at a later event, or at the end.
 * Until then the log announces it, so that a reader of a running process's log waits. Only one such child runs at a
 * time. It survives the thread that made it, and ends with the process.
 *
 * Called by triggers.c.
 */
#define _GNU_SOURCE
#include "copy.h"
#include "event.h"
#include "pyobjects/pyobjects.h"
#include "scan/scan.h"
#include "stack/stack.h"
#include "torch/torch.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define PAGE     4096u
#define WAIT_NS  20000000            /* between two checks whether the child still exists */
#define AGAIN_NS 500000000           /* until the next check, for a child whose time is up */
#define STACK    ((size_t)256 << 10) /* of a child */

/* --- the child --- */

static long futex(void *word, int what, uint32_t value, const long *time) {
    return VT_SYS4(SYS_futex, word, what, value, time);
}

/* Sets a handler in the child, which has its own table of handlers. */
static void on_signal(int number, void (*handler)(int, siginfo_t *, void *)) {
    const struct { /* the kernel's struct sigaction */
        uintptr_t handler, flags, restorer;
        uint64_t mask;
    } action = {(uintptr_t)handler, SA_SIGINFO | SA_RESTART | VT_MACHINE_SA_RESTORER,
                (uintptr_t)VT_MACHINE_RESTORER, 0};
    VT_SYS4(SYS_rt_sigaction, number, &action, NULL, sizeof action.mask);
}

static void faulted(int signal, siginfo_t *info, void *context) {
    (void)info;
    if (vt_owners_faulted(context))
        return;
    vt_copy_guard_wait_if_leaving();
    VT_SYS1(SYS_exit_group, 128 + signal);
}

static long process; /* the program's pid */

/* The kernel signals the child when the thread that made it has ended. The child's parent is then another thread of the
 * process, or, if the process has ended, another process. */
static void thread_ended(int signal, siginfo_t *info, void *context) {
    (void)info;
    (void)context;
    if (VT_SYS0(SYS_getppid) != process)
        VT_SYS1(SYS_exit_group, 128 + signal);
}

/* Makes the child end with the process, which may have ended before the request to the kernel. A child in another pid
 * namespace cannot see its parent (0), and ends with the thread. */
static void end_with_process(void) {
    uint64_t hangup = 1ull << (SIGHUP - 1);
    on_signal(SIGHUP, thread_ended);
    VT_SYS2(SYS_prctl, PR_SET_PDEATHSIG, SIGHUP);
    VT_SYS4(SYS_rt_sigprocmask, SIG_UNBLOCK, &hangup, NULL, sizeof hangup);
    long now = VT_SYS0(SYS_getppid);
    if (now && now != process)
        VT_SYS1(SYS_exit_group, 128 + SIGHUP);
}

/* The thread that made the copy waits for this function. */
static void detach(struct vt_owners *w) {
    enum vt_detached how = vt_copy_detach(w->shares_descriptors);
    if (how == VT_DETACHED)
        vt_copy_guard_die_first();
    w->answer->detached_ns = vt_sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    vt_publish(&w->answer->detached, how);
    futex(&w->answer->detached, FUTEX_WAKE, 1, NULL);
    while (how != VT_DETACHED)
        VT_SYS1(SYS_exit_group, 0);
}

static void walk_in_child(void *data) {
    struct vt_owners *w = data;
    const uint64_t seconds =
        2 * w->most_cpu_ns / 1000000000u + 1; /* in case the walk does not end itself */
    struct rlimit none = {0, 0}, cpu = {seconds, seconds};
    uint64_t faults = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1);
    if (!w->shares)
        detach(w);
    if (w->shares) /* the thread waits; SIGHUP would run the program's handler */
        VT_SYS2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    else
        end_with_process();
    VT_SYS4(SYS_rt_sigprocmask, SIG_UNBLOCK, &faults, NULL, sizeof faults);
    VT_SYS2(SYS_setrlimit, RLIMIT_CORE, &none);
    VT_SYS2(SYS_setrlimit, RLIMIT_CPU, &cpu);
    vt_copy_give_way(false);
    if (!w->shares) {
        /* a property of the memory, so only for a copy */
        VT_SYS2(SYS_prctl, PR_SET_DUMPABLE, 0);
        /* before the priority is lowered, because the guard must run in time */
        vt_copy_guard_begin(w->answer, &vt_bounds_room);
    }
    if (w->passing)
        vt_copy_give_way(true);
    on_signal(SIGSEGV, faulted);
    on_signal(SIGBUS, faulted);
    w->copy = true;
    if (!w->shares)
        vt_targets_drop_freed(w);
    vt_owners_walk(w);
    vt_publish(&w->answer->done, 1);
    futex(&w->answer->done, FUTEX_WAKE, 1, NULL);
    if (!w->shares)
        vt_copy_guard_end();
    for (;;)
        VT_SYS1(SYS_exit_group, 0);
}

/* A snapshot that is being taken. It may continue after vt_snapshot_begin() has returned. */
struct moment {
    enum vt_snapshot_why why;
    uint32_t name;
    uint64_t ticks, began_ns, copy_ns;
    uint64_t reserved_ns; /* limit of the child's processor time; 0: the usual limit */
    uint32_t number, looked_for;
    struct vt_owners_answer *answer;
    uint8_t *records;
    size_t room;    /* bytes of answer and records, mapped together */
    int pid;        /* of the child; 0: none */
    bool disturbed; /* the shared walk was interrupted: the memory is copied instead */
    bool replaced;  /* killed, because a newer one replaces it */
    /* the child may get no processor: it is killed when its time is up, even if it is only waiting */
    bool starved;
    uint64_t until_ns;     /* a child that is not running at that time is killed */
    uint32_t missed;       /* enum vt_missed: why no snapshot was taken; 0: it was */
    uint64_t needed, left; /* bytes that a copy would have needed, and that were left */
};

static uint32_t steps;     /* number of the last step in the log */
static uint32_t snapshots; /* number of the last snapshot of this process */
static bool giving_up;     /* the process is about to end, which unmaps everything */

/* Whether the child has ended. Kills a child that hangs when its time is up, but not one that only waits for a
 * processor on a busy machine: the answer must not depend on load. A child that runs too long ends by its own
 * limits. */
static bool has_ended(struct moment *m, bool wait) {
    struct rusage used = {0};
    long ended;
    if (vt_get(&vt_sys_sealed)) /* no call can wait for it or kill it: it ends by its own limits */
        return true;
    do
        ended = VT_SYS4(SYS_wait4, m->pid, NULL, __WCLONE | (wait ? 0 : WNOHANG), &used);
    while (ended == -4 /* EINTR */);
    if (ended == m->pid) {
        int64_t ns = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000 +
                     (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
        vt_cost_spent(ns - (int64_t)m->reserved_ns);
        if (m->reserved_ns && !m->replaced)
            vt_cost_searched((uint64_t)ns, m->answer->flags & VT_SNAPSHOT_PARTIAL);
    } else if (ended != -10 /* ECHILD */ && vt_sys_clock_ns(CLOCK_MONOTONIC) > m->until_ns) {
        if (!m->starved && vt_bounds_is_runnable((uint32_t)m->pid))
            m->until_ns = vt_sys_clock_ns(CLOCK_MONOTONIC) + AGAIN_NS;
        else
            VT_SYS2(SYS_kill, m->pid, SIGKILL);
    }
    return ended == m->pid || ended == -10;
}

/* Waits for a child. False: the child was killed, because one of these signals arrived. */
static bool wait_for(struct moment *m, uint64_t signals) {
    const long slice[2] = {0, WAIT_NS};
    uint64_t pending = 0;
    while (!vt_see(&m->answer->done)) {
        futex(&m->answer->done, FUTEX_WAIT, 0, slice);
        if (has_ended(m, false))
            return true;
        if (signals && VT_SYS2(SYS_rt_sigpending, &pending, sizeof pending) == 0 &&
            pending & signals) {
            VT_SYS2(SYS_kill, m->pid, SIGKILL);
            has_ended(m, true);
            return vt_see(&m->answer->done);
        }
    }
    has_ended(m, true);
    return true;
}

/* Waits until the child has released everything (detach.c). False: there is no child. */
static bool wait_detached(struct moment *m) {
    const long slice[2] = {0, WAIT_NS};
    while (!vt_see(&m->answer->detached)) {
        futex(&m->answer->detached, FUTEX_WAIT, 0, slice);
        if (!vt_see(&m->answer->detached) && has_ended(m, false))
            return false;
    }
    if (vt_see(&m->answer->detached) == VT_DETACHED)
        return true;
    has_ended(m, true);
    return false;
}

/* Walks in a copy. False: there is no child. */
static bool walk_copy(struct vt_owners *w, struct moment *m) {
    /* on this kernel, a child that shares the table of descriptors cannot get another table */
    static bool own_table;
    /* a thread's own stack may be small, or shared memory */
    uint8_t *stack = vt_owners_map(w, STACK);
    uint64_t began = vt_sys_clock_ns(CLOCK_MONOTONIC),
             used = vt_sys_clock_ns(CLOCK_THREAD_CPUTIME_ID), was = vt_sys_hold_signals();
    bool made = false;
    w->answer->flags = VT_SNAPSHOT_PARTIAL; /* in case the child dies */
    process = VT_SYS0(SYS_getpid);
    for (bool again = stack; again && !made;) {
        w->shares_descriptors = !own_table;
        w->answer->detached = 0;
        long pid = vt_machine_clone(own_table ? 0 : CLONE_FILES, walk_in_child, w, stack + STACK);
        if (pid < 0)
            break;
        m->pid = (int)pid;
        m->until_ns = w->most_ns;
        vt_cost_spent((int64_t)m->reserved_ns);
        made = wait_detached(m);
        again = w->answer->detached == VT_DETACH_NO_TABLE;
        own_table |= again;
    }
    vt_sys_let_signals(was);
    m->pid = made ? m->pid : 0;
    if (!made)
        return false;
    m->copy_ns = vt_sys_clock_ns(CLOCK_MONOTONIC) - began;
    /* Processor time, because on a busy machine elapsed time includes waiting. */
    vt_cost_copied(vt_sys_clock_ns(CLOCK_THREAD_CPUTIME_ID) - used + w->answer->detached_ns);
    return true;
}

/* The program's only thread waits here, and its signal handlers also wait. So the memory does not change, and need not
 * be copied. The walk still runs in a child, so that a fault or an abort does not hit the program. False: there is no
 * child, or a signal interrupted it. */
static bool walk_shared(struct vt_owners *w, struct moment *m) {
    uint8_t *stack = vt_owners_map(w, STACK);
    if (!stack)
        return false;
    w->answer->flags = VT_SNAPSHOT_PARTIAL; /* in case the child dies */
    uint64_t handled = vt_scan_handled_signals(), was = vt_sys_hold_signals();
    handled &= ~was;
    w->shares = true;
    long pid = vt_machine_clone(CLONE_VM, walk_in_child, w, stack + STACK);
    vt_sys_let_signals(was | handled);
    m->pid = pid > 0 ? (int)pid : 0;
    m->until_ns = w->most_ns;
    bool done = pid > 0 && wait_for(m, handled);
    m->pid = 0;
    w->shares = false;
    vt_sys_let_signals(was);
    return done;
}

/* --- the result --- */

static void write_records(struct vt_thread *t, const struct moment *m) {
    for (uint64_t at = 0; at + 8 <= m->answer->bytes;) {
        uint64_t word;
        memcpy(&word, m->records + at, sizeof word);
        uint32_t bytes = vt_record_length(word);
        if (bytes < 16 || bytes > VT_RECORD_MAX_BYTES || bytes > m->answer->bytes - at)
            return;
        uint64_t *r = vt_log_reserve_entry(t, bytes);
        if (!r)
            return;
        memcpy(r + 1, m->records + at + 8, bytes - 8);
        vt_log_commit(t, r, word, bytes);
        at += bytes;
    }
}

static bool write_result(const struct moment *m) {
    struct vt_recording recording = vt_event_open();
    if (!recording.thread)
        return false;
    write_records(recording.thread, m);
    if (m->answer->native_roots) /* the roots' modules may not be in the log yet */
        vt_stack_write_modules(recording.thread);
    struct vt_rec_snapshot *r = (void *)vt_log_reserve_entry(recording.thread, sizeof *r);
    if (r) {
        *r = (struct vt_rec_snapshot){
            .number = m->number,
            .why = m->why,
            .ticks = m->ticks,
            .ns = vt_sys_clock_ns(CLOCK_MONOTONIC) - m->began_ns,
            .objects = m->answer->objects,
            .looked_for = m->looked_for,
            .owned = m->answer->owned,
            .flags = m->answer->flags,
            .name = m->name,
            .copy_us = (uint32_t)(m->copy_ns / 1000),
        };
        vt_log_commit(recording.thread, &r->word, vt_word(VT_REC_SNAPSHOT, 0, 0, sizeof *r),
                      sizeof *r);
    }
    vt_event_close(&recording);
    return r != NULL;
}

static void write_missed(const struct moment *m) {
    struct vt_recording recording = vt_event_open();
    if (!recording.thread)
        return;
    struct vt_rec_missed *r = (void *)vt_log_reserve_entry(recording.thread, sizeof *r);
    if (r) {
        *r = (struct vt_rec_missed){.why = m->why,
                                    .reason = m->missed,
                                    .ticks = m->ticks,
                                    .needed = m->needed,
                                    .room = m->left};
        vt_log_commit(recording.thread, &r->word, vt_word(VT_REC_MISSED, 0, 0, sizeof *r),
                      sizeof *r);
    }
    vt_event_close(&recording);
}

/* Finishes a snapshot and writes the result. If the child left early, or was killed on growth, writes that it did not
 * finish. False: the child died, and another child may succeed. */
static bool conclude(struct moment *m) {
    struct vt_owners_answer *answer = m->answer;
    uint32_t left = vt_see(&answer->left);
    bool given_up = vt_get(&vt_sys_sealed) && !vt_see(&answer->done); /* still being written */
    if (!left && (given_up || m->why == VT_SNAPSHOT_GROWTH) && !vt_see(&answer->done))
        left = VT_MISSED_LEFT;
    m->missed = left ? left : m->missed;
    bool written = !m->missed && write_result(m);
    if (m->missed && !m->replaced && !given_up)
        write_missed(m); /* the log has a note of its own about a seccomp filter */
    steps = answer->steps;
    m->pid = 0;
    m->answer = NULL;
    vt_log_withdraw();
    if (!giving_up)
        vt_sys_munmap(answer, m->room);
    return written || left; /* another child would leave as well */
}

static const struct vt_owners_readers readers = {
    .native = vt_native_walk,
    .python_type = vt_py_type,
    .python = vt_py_read,
    .python_number = vt_py_number,
    .python_roots = vt_py_roots,
    .python_type_name = vt_py_type_name,
    .class_type = vt_torch_type,
    .class_python = vt_torch_python,
    .class_roles = vt_torch_roles,
    .class_ = vt_torch_class,
    .class_later = vt_torch_later,
    .class_key = vt_class_key,
    .class_name = vt_class_name,
};

static bool map_answer(struct vt_owners *w, struct moment *m) {
    w->record_room = (size_t)w->target_count * sizeof(struct vt_owned) * (2 + VT_OWNED_OTHERS) +
                     w->most_bytes / 8;
    m->room = PAGE + w->record_room;
    w->answer = vt_sys_mmap(m->room, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    w->records = (uint8_t *)w->answer + PAGE;
    m->records = w->records;
    m->answer = w->answer;
    if (w->answer)
        w->answer->steps = steps;
    return w->answer;
}

/* Walks in the calling thread. False: other threads ran, so the walk did not see a single moment. */
static bool walk_in_place(struct vt_owners *w) {
    uint64_t before, after;
    if (!vt_bounds_may_search_in_place(w, &before))
        return false;
    vt_owners_walk(w);
    return vt_room_asleep(&after) && after == before;
}

/* Begins a snapshot. False: nothing is live, there is no memory, the snapshot is missed, or (with `copy`) the memory
 * cannot be copied. */
static bool begin_walk(struct vt_owners *w, struct moment *m, bool copy) {
    uint64_t turns;
    w->readers = &readers;
    /* On growth, the program does not yet have the address that this event returns. */
    vt_targets_gather(w, m->why == VT_SNAPSHOT_GROWTH ? vt_tls.newest : 0);
    /* if all live memory is kept by design, an empty snapshot records that */
    if (!w->target_count) {
        m->number = w->kept_bytes && !copy ? ++snapshots : 0;
        return m->number && map_answer(w, m);
    }
    vt_bounds_set(w);
    w->passing = m->why == VT_SNAPSHOT_GROWTH;
    if (m->reserved_ns && m->reserved_ns < w->most_cpu_ns)
        w->most_cpu_ns = m->reserved_ns;
    if (!w->passing)
        vt_native_open(w);
    bool shared = !copy && !m->disturbed && vt_bounds_may_share(w) &&
                  vt_bounds_may_search_in_place(w, &turns);
    m->missed = shared ? 0 : vt_bounds_why_not_copy(w, &m->needed, &m->left);
    if ((copy && m->missed) || !map_answer(w, m))
        return false;
    w->snapshot = m->number = ++snapshots;
    m->looked_for = w->target_count;
    m->disturbed = shared && !walk_shared(w, m);
    if (!shared && !m->missed && !walk_copy(w, m))
        m->missed = VT_MISSED_REFUSED;
    if (m->missed && !copy && walk_in_place(w))
        m->missed = 0;
    if (!m->disturbed && !m->missed)
        return true;
    m->answer = NULL;
    vt_sys_munmap(w->answer, m->room);
    return false;
}

/* The same, and maps the memory for the walk. If the snapshot is missed, writes that to the log, except for a phase's
 * copy: there the caller then tries without a copy. */
static bool begin_one(struct moment *m, bool copy) {
    m->began_ns = vt_sys_clock_ns(CLOCK_MONOTONIC);
    for (bool disturbed = false;; disturbed = true) {
        /* Not on the stack, because a thread's stack may have only 16 KiB. */
        struct vt_owners *w = vt_memory_map(sizeof *w);
        bool begun = w && begin_walk(w, m, copy);
        if (w) {
            if (w->native)
                vt_scan_release(w->native);
            vt_owners_unmap(w);
            vt_sys_munmap(w, (sizeof *w + PAGE - 1) & ~(size_t)(PAGE - 1));
        }
        if (begun || disturbed || !m->disturbed) {
            if (!begun && m->missed && (!copy || m->why == VT_SNAPSHOT_GROWTH))
                write_missed(m);
            return begun;
        }
    }
}

/* --- the running search --- */

/* atomic: the pid, while a thread is here; a forked child has its own pid */
static uint32_t taking;
/* Written only by the holder of `taking`. If `answer` is NULL, no search is running. */
static struct moment running;

static bool enter_alone(void) {
    uint32_t pid = (uint32_t)VT_SYS0(SYS_getpid), before = vt_get(&taking);
    return !vt_process_is_fresh_child() && vt_log_is_open() && before != pid &&
           vt_claim(&taking, before, pid);
}

static void leave_to_others(void) {
    vt_publish(&taking, 0);
}

/* Writes the running search if it is finished. Returns enum vt_snapshot_state. */
static unsigned finish_running(bool wait) {
    if (running.answer && wait) {
        static const int priority = 0;
        /* the program waits now, so a search at idle priority gets normal priority, if the kernel allows it */
        running.starved = running.why == VT_SNAPSHOT_GROWTH &&
                          VT_SYS3(SYS_sched_setscheduler, running.pid, SCHED_OTHER, &priority) < 0;
        wait_for(&running, 0);
    }
    if (running.answer && (wait || has_ended(&running, false)))
        return conclude(&running) ? 0 : VT_SNAPSHOT_LOST;
    return running.answer ? VT_SNAPSHOT_RUNNING : 0;
}

bool vt_snapshot_take(enum vt_snapshot_why why, uint32_t name) {
    /* Valgrind would report each uninitialized word that the walk reads. */
    if (vt_scan_on_valgrind() || !enter_alone())
        return false;
    struct moment m = {.why = why, .name = name};
    finish_running(true);
    vt_log_announce(vt_log_ticks());
    m.ticks = vt_log_ticks(); /* later than the announced time */
    bool taken = begin_one(&m, false);
    if (taken && m.pid)
        wait_for(&m, 0);
    taken = taken && conclude(&m) && !m.missed;
    vt_log_withdraw();
    leave_to_others();
    return taken;
}

/* Kills a running search on growth, because a newer one sees more; at its end, the program waits for the last. False:
 * the running search cannot be replaced. */
static bool replace_running(void) {
    if (!running.answer)
        return true;
    if (running.why != VT_SNAPSHOT_GROWTH)
        return false;
    if (VT_SYS2(SYS_kill, running.pid, SIGKILL) < 0)
        return false; /* the program has dropped its rights; the copy has not */
    running.replaced = true;
    has_ended(&running, true);
    conclude(&running);
    return true;
}

bool vt_snapshot_begin(enum vt_snapshot_why why, uint32_t name, uint64_t ticks, uint64_t most_ns) {
    if (vt_scan_on_valgrind() || !enter_alone())
        return false;
    finish_running(false);
    bool begun = replace_running();
    if (begun) {
        vt_log_announce(ticks ? ticks : vt_log_ticks());
        ticks = ticks ? ticks : vt_log_ticks();
        running = (struct moment){.why = why, .name = name, .ticks = ticks, .reserved_ns = most_ns};
        begun = begin_one(&running, true);
        if (!begun)
            vt_log_withdraw();
    }
    leave_to_others();
    return begun;
}

bool vt_snapshot_is_running(void) {
    return vt_get(&running.answer) != NULL;
}

void vt_snapshot_abandon(void) {
    if (!enter_alone())
        return;
    giving_up = true;
    finish_running(false);
    if (running.answer && running.why == VT_SNAPSHOT_GROWTH) {
        VT_SYS2(SYS_kill, running.pid, SIGKILL); /* init reaps it, and its memory is released */
        memset(&running, 0, sizeof running);
        vt_log_withdraw();
    }
    leave_to_others();
}

unsigned vt_snapshot_finish(bool wait) {
    if (!vt_snapshot_is_running())
        return 0;
    if (!enter_alone())
        return VT_SNAPSHOT_RUNNING;
    unsigned state = finish_running(wait);
    leave_to_others();
    return state;
}

/* In a forked child: the running search and its result belong to the parent. */
void vt_snapshot_forked(void) {
    if (running.answer)
        vt_sys_munmap(running.answer, running.room);
    memset(&running, 0, sizeof running);
    vt_cost_forked();
}
