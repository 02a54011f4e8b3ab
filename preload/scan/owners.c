/* SPDX-License-Identifier: MIT */
/*
 * A snapshot of the owners: which named path holds each live allocation, now?
 *
 * Other threads change memory meanwhile, and no lock keeps Python's objects as they are. So the walk
 * is done in a child, which has a copy of the memory as it stood. It is made by a raw clone: no
 * handlers of fork run, and no signal and no wait of the program's tells of it. The child reads
 * memory, writes to a mapping that it shares with us, and ends; it never touches CUDA, takes no
 * lock, and is killed when its time is up. A program of one thread that waits for it needs no copy:
 * the child reads its memory. Where a copy could do harm, the walk is done in place, and the result
 * says so.
 *
 * The program need not wait for the child (vt_owners_begin): its answer is written at a later event,
 * or at the end. A small process has a few such children at most, and a new one takes the place of
 * the last; a large process has one. It goes on when the thread that made it ends, and ends with the
 * process.
 *
 * Called through scan.h, at the moments that owners_moments.c knows.
 */
#define _GNU_SOURCE
#include "owners_parts.h"
#include "event.h"
#include "scan_parts.h"
#include "stack/stack.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define PAGE          4096u
#define WAIT_NS       20000000            /* between two looks whether the child still lives */
#define AGAIN_NS      500000000           /* until the next look whether it runs, after its time */
#define COPIED_PER_NS 40u                 /* bytes: 27 ms for a GiB */
#define STACK         ((size_t)256 << 10) /* of a child that has our memory */
#define NICE          5
#define SMALL         ((uint64_t)256 << 20) /* resident bytes, up to which several copies cost little */

/* --- the child --- */

static long futex(uint64_t *word, int what, uint32_t value, const long *time) {
    return VT_SYS4(SYS_futex, word, what, value, time);
}

static long process; /* the child's parent, until it ends */

/* The kernel tells a child that the thread which made it has ended. The child has another parent then:
 * another thread of the process, or, when the process has ended, another process. */
static void thread_ended(int signal, siginfo_t *info, void *context) {
    (void)info;
    (void)context;
    if (VT_SYS0(SYS_getppid) != process)
        VT_SYS1(SYS_exit_group, 128 + signal);
}

/* Lets the child end with the process. The process may have ended before the kernel was asked. A child
 * in another pid namespace does not know its parent (0), and ends with the thread. */
static void end_with_process(void) {
    uint64_t hangup = 1ull << (SIGHUP - 1);
    vt_owners_on_signal(SIGHUP, thread_ended);
    VT_SYS2(SYS_prctl, PR_SET_PDEATHSIG, SIGHUP);
    VT_SYS4(SYS_rt_sigprocmask, SIG_UNBLOCK, &hangup, NULL, sizeof hangup);
    long now = VT_SYS0(SYS_getppid);
    if (now && now != process)
        VT_SYS1(SYS_exit_group, 128 + SIGHUP);
}

static void walk_in_child(void *data) {
    struct vt_owners *w = data;
    const uint64_t seconds =
        2 * w->most_cpu_ns / 1000000000u + 1; /* should the walk not end itself */
    struct rlimit none = {0, 0}, cpu = {seconds, seconds};
    /* A fault may come: its handler is set when memory is read. */
    uint64_t faults = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1);
    if (w->shares) /* the thread waits; a hangup has no handler but the program's */
        VT_SYS2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    else
        end_with_process();
    VT_SYS4(SYS_rt_sigprocmask, SIG_UNBLOCK, &faults, NULL, sizeof faults);
    VT_SYS2(SYS_setrlimit, RLIMIT_CORE, &none);
    VT_SYS2(SYS_setrlimit, RLIMIT_CPU, &cpu);
    if (!w->shares) {
        VT_SYS2(SYS_prctl, PR_SET_DUMPABLE, 0); /* belongs to the memory */
        VT_SYS3(SYS_close_range, 0, ~0u, 0);
    }
    if (w->passing) /* the program does not wait: its own threads come first */
        VT_SYS3(SYS_setpriority, PRIO_PROCESS, 0,
                20 - VT_SYS2(SYS_getpriority, PRIO_PROCESS, 0) + NICE);
    w->copy = true;
    if (!w->shares)
        vt_owners_drop_gone(w);
    vt_owners_walk(w);
    vt_publish(&w->answer->done, 1);
    futex(&w->answer->done, FUTEX_WAKE, 1, NULL);
    for (;;)
        VT_SYS1(SYS_exit_group, 0);
}

/* One that is taken. It can go on after vt_owners_begin() returned. */
struct moment {
    enum vt_snapshot_why why;
    uint32_t name;
    uint64_t ticks, began_ns, copy_ns, copy_cpu_ns;
    uint32_t number, looked_for;
    struct vt_owners_answer *answer;
    uint8_t *records;
    size_t room;       /* of both, mapped */
    int pid;           /* of the child; 0: none */
    bool disturbed;    /* it was: the memory is copied instead */
    uint64_t until_ns; /* it is killed if it does not run then */
};

static uint32_t steps;     /* in the log, so far */
static uint32_t snapshots; /* in this process */
static bool giving_up;     /* the process ends just now, which unmaps all */
static struct vt_owners_cost
    cost; /* atomic: of children that ended; of all copies, the last copy */

/* Whether the child has ended. It is killed when its time is up and it hangs: on a busy machine, a
 * child waits for a processor, which is no reason for another answer. One that runs too long ends by
 * its own limits. */
static bool has_ended(struct moment *m, bool wait) {
    struct rusage used = {0};
    long ended;
    do
        ended = VT_SYS4(SYS_wait4, m->pid, NULL, __WCLONE | (wait ? 0 : WNOHANG), &used);
    while (ended == -4 /* EINTR */);
    if (ended == m->pid)
        vt_add(&cost.spent, (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000u +
                                (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000u +
                                m->copy_cpu_ns);
    else if (ended != -10 /* ECHILD */ && vt_sys_clock_ns(CLOCK_MONOTONIC) > m->until_ns) {
        if (vt_owners_is_runnable((uint32_t)m->pid))
            m->until_ns = vt_sys_clock_ns(CLOCK_MONOTONIC) + AGAIN_NS;
        else
            VT_SYS2(SYS_kill, m->pid, SIGKILL);
    }
    return ended == m->pid || ended == -10;
}

static void wait_for(struct moment *m) {
    const long slice[2] = {0, WAIT_NS};
    while (!vt_see(&m->answer->done)) {
        futex(&m->answer->done, FUTEX_WAIT, 0, slice);
        if (has_ended(m, false))
            return;
    }
    has_ended(m, true);
}

/* False: there is no child. */
static bool walk_copy(struct vt_owners *w, struct moment *m) {
    uint64_t began = vt_sys_clock_ns(CLOCK_MONOTONIC),
             used = vt_sys_clock_ns(CLOCK_THREAD_CPUTIME_ID), was = vt_sys_hold_signals();
    w->answer->flags = VT_SNAPSHOT_PARTIAL; /* should it die */
    process = VT_SYS0(SYS_getpid);
    long pid = vt_sys(SYS_clone, 0, 0, 0, 0, 0, 0);
    if (pid == 0)
        walk_in_child(w);
    vt_sys_let_signals(was);
    if (pid < 0)
        return false;
    uint64_t now = vt_sys_clock_ns(CLOCK_MONOTONIC);
    m->pid = (int)pid;
    m->copy_ns = now - began;
    /* Not by the clock: on a busy machine it goes on while we wait for the processor. */
    m->copy_cpu_ns = vt_sys_clock_ns(CLOCK_THREAD_CPUTIME_ID) - used;
    vt_add(&cost.stood, m->copy_cpu_ns);
    vt_put(&cost.next, m->copy_cpu_ns);
    m->until_ns = w->most_ns;
    return true;
}

/* A child that has our memory, and a stack of its own. */
static long clone_sharing(void (*function)(void *), void *data, uint8_t *stack_end) {
    register long none4 __asm__("r10") = 0, none5 __asm__("r8") = 0;
    register void *called __asm__("r12") = __extension__(void *) function;
    register void *given __asm__("r13") = data;
    long pid;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %%r13, %%rdi\n\t"
                     "call *%%r12\n\t"
                     "ud2\n"
                     "1:"
                     : "=a"(pid)
                     : "a"(SYS_clone), "D"((long)CLONE_VM), "S"(stack_end), "d"(0l), "r"(none4),
                       "r"(none5), "r"(called), "r"(given)
                     : "rcx", "r11", "memory");
    return pid;
}

/* Waits for such a child. False: it was killed, because a signal arrived that the program handles. */
static bool wait_sharing(struct moment *m, uint64_t handled) {
    const long slice[2] = {0, WAIT_NS};
    uint64_t pending = 0;
    while (!vt_see(&m->answer->done)) {
        futex(&m->answer->done, FUTEX_WAIT, 0, slice);
        if (has_ended(m, false))
            return true;
        if (VT_SYS2(SYS_rt_sigpending, &pending, sizeof pending) == 0 && pending & handled) {
            VT_SYS2(SYS_kill, m->pid, SIGKILL);
            has_ended(m, true);
            return vt_see(&m->answer->done);
        }
    }
    has_ended(m, true);
    return true;
}

/* The program has one thread, which waits here, and its signals' handlers wait, too. So its memory
 * stands still, and nothing need be copied; in a child, because a fault or an end of it are not the
 * program's. False: there is no child, or it was disturbed. */
static bool walk_shared(struct vt_owners *w, struct moment *m) {
    uint8_t *stack = vt_owners_map(w, STACK);
    if (!stack)
        return false;
    w->answer->flags = VT_SNAPSHOT_PARTIAL; /* should it die */
    uint64_t handled = vt_scan_handled_signals(), was = vt_sys_hold_signals();
    handled &= ~was;
    w->shares = true;
    long pid = clone_sharing(walk_in_child, w, stack + STACK);
    vt_sys_let_signals(was | handled);
    m->pid = pid > 0 ? (int)pid : 0;
    m->until_ns = w->most_ns;
    bool done = pid > 0 && wait_sharing(m, handled);
    m->pid = 0;
    w->shares = false;
    vt_sys_let_signals(was);
    return done;
}

/* --- the result --- */

/* The child numbered its steps from 1: several children may be under way. */
static void number_steps(uint64_t *record, uint64_t word, uint32_t by) {
    struct vt_rec_step *step = (void *)record;
    struct vt_rec_owned *owned = (void *)record;
    struct vt_owned *entries = (void *)(owned + 1);
    if (vt_word_type(word) == VT_REC_STEP) {
        step->number += by;
        step->parent += step->parent ? by : 0;
    }
    struct vt_rec_around *around = (void *)record;
    struct vt_rec_hop *hop = (void *)record;
    if (vt_word_type(word) == VT_REC_AROUND) {
        around->step += by;
        around->hop += around->hop ? by : 0;
    }
    if (vt_word_type(word) == VT_REC_HOP) {
        hop->number += by;
        hop->parent += hop->parent ? by : 0;
    }
    for (uint32_t i = 0; vt_word_type(word) == VT_REC_OWNED && i < owned->count; i++)
        entries[i].step += by;
}

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
        number_steps(r, word, steps);
        vt_log_commit(t, r, word, bytes);
        at += bytes;
    }
}

static bool write_result(const struct moment *m) {
    struct vt_recording recording = vt_event_open();
    if (!recording.thread)
        return false;
    write_records(recording.thread, m);
    if (m->answer->native_roots) /* their modules may be new */
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

/* The end of one: writes what was found, but for a child that was killed as memory grew: there will
 * be another one. */
static bool conclude(struct moment *m) {
    struct vt_owners_answer *answer = m->answer;
    bool written = (m->why != VT_SNAPSHOT_GROWTH || vt_see(&answer->done)) && write_result(m);
    steps += answer->steps;
    m->pid = 0;
    m->answer = NULL;
    if (!giving_up)
        vt_sys_munmap(answer, m->room);
    return written;
}

static const struct vt_owners_readers readers = {
    .native = vt_owners_native,
    .seen = vt_owners_native_seen,
    .python_type = vt_owners_python_type,
    .python = vt_owners_python,
    .python_number = vt_owners_python_number,
    .python_roots = vt_owners_python_roots,
    .python_type_name = vt_owners_python_type_name,
    .class_type = vt_owners_class_type,
    .class_python = vt_owners_class_python,
    .class_roles = vt_owners_class_roles,
    .class_ = vt_owners_class,
    .class_later = vt_owners_class_later,
    .class_key = vt_owners_class_key,
    .class_name = vt_owners_class_name,
};

static bool share(struct vt_owners *w, struct moment *m) {
    w->record_room = (size_t)w->target_count * sizeof(struct vt_owned) * (2 + VT_OWNED_OTHERS) +
                     w->most_bytes / 8;
    m->room = PAGE + w->record_room;
    w->answer = vt_sys_mmap(m->room, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    w->records = (uint8_t *)w->answer + PAGE;
    m->records = w->records;
    m->answer = w->answer;
    return w->answer;
}

/* All that is live is kept by design. The snapshot says that it has seen that. */
static bool none_sought(struct vt_owners *w, struct moment *m) {
    m->number = ++snapshots;
    return share(w, m);
}

/* Begins one. False: nothing is live, or there is no memory; or, with `copy`, the memory cannot be
 * copied. */
static bool begin(struct vt_owners *w, struct moment *m, bool copy) {
    w->readers = &readers;
    /* As memory grows, the program does not know the address yet that it is being given. */
    vt_owners_gather(w, m->why == VT_SNAPSHOT_GROWTH ? vt_tls.newest : 0);
    if (!w->target_count)
        return w->kept_bytes && !copy && none_sought(w, m);
    vt_owners_set_bounds(w);
    w->passing = m->why == VT_SNAPSHOT_GROWTH;
    if (!w->passing)
        vt_owners_native_open(w);
    bool shared = !copy && !m->disturbed && vt_owners_may_share(w),
         copied = !shared && vt_owners_may_copy(w);
    if ((copy && !copied) || !share(w, m))
        return false;
    w->snapshot = m->number = ++snapshots;
    m->looked_for = w->target_count;
    m->disturbed = shared && !walk_shared(w, m);
    copied = copied && walk_copy(w, m);
    if (m->disturbed || (copy && !copied)) {
        m->answer = NULL;
        vt_sys_munmap(w->answer, m->room);
        return false;
    }
    if (!shared && !copied)
        vt_owners_walk(w);
    return true;
}

/* The same, with its memory. */
static bool begin_one(struct moment *m, enum vt_snapshot_why why, uint32_t name, uint64_t ticks,
                      bool copy) {
    *m = (struct moment){
        .why = why, .name = name, .ticks = ticks, .began_ns = vt_sys_clock_ns(CLOCK_MONOTONIC)};
    for (bool disturbed = false;; disturbed = true) {
        /* Not on the stack: a thread's may have only 16 KiB. */
        struct vt_owners *w = vt_scan_memory(sizeof *w);
        bool begun = w && begin(w, m, copy);
        if (w) {
            if (w->native)
                vt_scan_give_back(w->native);
            vt_owners_unmap(w);
            vt_sys_munmap(w, (sizeof *w + PAGE - 1) & ~(size_t)(PAGE - 1));
        }
        if (begun || disturbed || !m->disturbed)
            return begun;
    }
}

/* --- what is under way --- */

static uint32_t taking; /* atomic: the pid, while a thread is here; a forked child has another */
/* By whoever has `taking`; without an answer: none. The oldest first. */
static struct moment going[3];
#define GOING_MOST (sizeof going / sizeof *going)

static bool enter(void) {
    uint32_t pid = (uint32_t)VT_SYS0(SYS_getpid), before = vt_get(&taking);
    return !vt_process_is_fresh_child() && vt_log_is_open() && before != pid &&
           vt_claim(&taking, before, pid);
}

static void leave(void) {
    vt_publish(&taking, 0);
}

/* Writes what is done. Returns enum vt_owners_state. */
static unsigned finish(bool wait) {
    unsigned state = 0, kept = 0;
    for (unsigned i = 0; i < GOING_MOST; i++) {
        struct moment *m = &going[i];
        if (m->answer && wait)
            wait_for(m);
        if (m->answer && (wait || has_ended(m, false)))
            state |= conclude(m) ? 0 : VT_OWNERS_LOST;
        if (m->answer)
            going[kept++] = *m;
    }
    memset(&going[kept], 0, (GOING_MOST - kept) * sizeof *going);
    return state | (kept ? VT_OWNERS_GO_ON : 0);
}

bool vt_owners_take(enum vt_snapshot_why why, uint32_t name) {
    /* Valgrind would report each word that the walk reads and the program never wrote. */
    if (vt_scan_on_valgrind() || !enter())
        return false;
    struct moment m;
    finish(true);
    bool taken = begin_one(&m, why, name, vt_log_ticks(), false);
    if (taken && m.pid)
        wait_for(&m);
    taken = taken && conclude(&m);
    leave();
    return taken;
}

/* Where the next one's place is. What was begun last as memory grew gives way: the next sees more, and
 * the last one of all is waited for at the end. NULL: there is none. */
static struct moment *place(void) {
    unsigned count = 0, most = vt_owners_resident() < SMALL ? GOING_MOST : 1;
    while (count < GOING_MOST && going[count].answer)
        count++;
    if (count < most)
        return &going[count];
    struct moment *last = &going[count - 1];
    if (last->why != VT_SNAPSHOT_GROWTH)
        return NULL;
    VT_SYS2(SYS_kill, last->pid, SIGKILL);
    has_ended(last, true);
    conclude(last);
    return last;
}

bool vt_owners_begin(enum vt_snapshot_why why, uint32_t name, uint64_t ticks) {
    if (vt_scan_on_valgrind() || !enter())
        return false;
    finish(false);
    struct moment *m = place();
    bool begun = m && begin_one(m, why, name, ticks, true);
    leave();
    return begun;
}

bool vt_owners_under_way(void) {
    return vt_get(&going[0].answer) != NULL;
}

void vt_owners_give_up(void) {
    if (!enter())
        return;
    giving_up = true;
    finish(false);
    unsigned kept = 0;
    for (unsigned i = 0; i < GOING_MOST && going[i].answer; i++)
        if (going[i].why == VT_SNAPSHOT_GROWTH)
            VT_SYS2(SYS_kill, going[i].pid,
                    SIGKILL); /* it is init's to bury, and its memory's end */
        else
            going[kept++] = going[i];
    memset(&going[kept], 0, (GOING_MOST - kept) * sizeof *going);
    leave();
}

unsigned vt_owners_finish(bool wait) {
    if (!vt_owners_under_way())
        return 0;
    if (!enter())
        return VT_OWNERS_GO_ON;
    unsigned state = finish(wait);
    leave();
    return state;
}

struct vt_owners_cost vt_owners_cost(void) {
    struct vt_owners_cost now = {vt_get(&cost.spent), vt_get(&cost.stood), vt_get(&cost.next)};
    if (!now.next)
        now.next = vt_owners_resident() / COPIED_PER_NS;
    return now;
}

/* The children that go on are the parent's, and so is what they find. */
void vt_owners_forked(void) {
    for (unsigned i = 0; i < GOING_MOST; i++)
        if (going[i].answer)
            vt_sys_munmap(going[i].answer, going[i].room);
    memset(going, 0, sizeof going);
    memset(&cost, 0, sizeof cost);
}
