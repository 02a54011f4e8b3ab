/* SPDX-License-Identifier: MIT */
/*
 * A snapshot of the owners: which named path holds each live allocation, now?
 *
 * Other threads change memory meanwhile, and no lock keeps Python's objects as they are. So the walk
 * is done in a child, which has a copy of the memory as it stood. It is made by a raw clone: no
 * handlers of fork run, and no signal and no wait of the program's tells of it. The child reads
 * memory, writes to a mapping that it shares with us, and ends; it never touches CUDA, takes no
 * lock, and is killed when its time is up. Where a copy could do harm, the walk is done in place,
 * and the result says so.
 *
 * Called through scan.h, at the moments that owners_moments.c knows.
 */
#define _GNU_SOURCE
#include "owners_parts.h"
#include "books/books.h"
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

#define PAGE       4096u
#define UNIT_BYTES ((uint64_t)4 << 30)   /* resident memory for which the bounds below are meant */
#define UNIT_NS    2000000000ull         /* time; larger processes have more */
#define UNIT_SPACE ((size_t)256 << 20)   /* memory */
#define UNIT_WORK  ((uint64_t)400 << 20) /* reads and edges: about half of the time */
#define WAIT_NS    20000000              /* between two looks whether the child still lives */
#define FORK_SAFE  509u                  /* Linux 5.9: fork copies pinned pages for the child */

/* --- what is looked for --- */

struct gathering {
    struct vt_owners_target *blocks, *others;
    uint32_t block_count, other_count, block_room, other_room;
};

static void count_target(const struct vt_live *what, void *data) {
    struct gathering *g = data;
    ++*(what->kind == VT_KIND_BLOCK ? &g->block_room : &g->other_room);
}

/* Physical memory has no address of its own. Of an array, only the handle refers to it. */
static void take_target(const struct vt_live *what, void *data) {
    struct gathering *g = data;
    bool is_block = what->kind == VT_KIND_BLOCK;
    uint32_t *count = is_block ? &g->block_count : &g->other_count;
    if (what->kind == VT_KIND_PHYSICAL || what->kind == VT_KIND_PHYSICAL_HOST ||
        *count == (is_block ? g->block_room : g->other_room))
        return;
    uint64_t size = what->size;
    if (!size || what->kind == VT_KIND_ARRAY || what->kind == VT_KIND_MIPMAP)
        size = 1;
    (is_block ? g->blocks : g->others)[(*count)++] = (struct vt_owners_target){
        .start = what->address, .end = what->address + size, .kind = what->kind};
}

/* Whether one of the blocks, which are sorted, lies in a driver allocation. */
static bool holds_block(const struct gathering *g, const struct vt_owners_target *t) {
    uint32_t low = 0, high = g->block_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (g->blocks[middle].start < t->start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->block_count && g->blocks[low].start < t->end;
}

static void gather_targets(struct vt_owners *w) {
    struct gathering g = {.block_room = 0};
    vt_live_each(count_target, &g);
    size_t room = (size_t)g.block_room + g.other_room;
    if (!room || !(w->targets = vt_owners_map(w, 2 * room * sizeof *w->targets)))
        return;
    g.blocks = w->targets + room;
    g.others = g.blocks + g.block_room;
    vt_live_each(take_target, &g);
    vt_scan_sort(g.blocks, g.block_count, sizeof *g.blocks);
    memcpy(w->targets, g.blocks, g.block_count * sizeof *g.blocks);
    w->target_count = g.block_count;
    for (uint32_t i = 0; i < g.other_count; i++)
        if (!holds_block(&g, &g.others[i]))
            w->targets[w->target_count++] = g.others[i];
    vt_scan_sort(w->targets, w->target_count, sizeof *w->targets);
    for (uint32_t i = 0; i + 1 < w->target_count; i++)
        if (w->targets[i].end > w->targets[i + 1].start)
            w->targets[i].end = w->targets[i + 1].start;
    if (w->target_count) {
        w->target_low = w->targets[0].start;
        w->target_high = w->targets[w->target_count - 1].end;
    }
}

/* --- bounds --- */

static uint64_t number_in(const char *text, unsigned skipped) {
    uint64_t n = 0;
    for (; skipped && *text; text++)
        skipped -= *text == ' ';
    for (; *text >= '0' && *text <= '9'; text++)
        n = n * 10 + (uint64_t)(*text - '0');
    return n;
}

static uint64_t resident_bytes(void) {
    char text[128];
    return vt_scan_file("/proc/self/statm", text, sizeof text) ? number_in(text, 1) * PAGE : 0;
}

static void set_bounds(struct vt_owners *w) {
    uint64_t resident = resident_bytes(), units = resident / UNIT_BYTES + 1;
    w->most_ns = vt_sys_clock_ns(CLOCK_MONOTONIC) + units * UNIT_NS;
    w->most_bytes = units * UNIT_SPACE;
    w->most_work = units * UNIT_WORK;
}

static bool has_registered(const struct vt_owners *w) {
    for (uint32_t i = 0; i < w->target_count; i++)
        if (w->targets[i].kind == VT_KIND_REGISTERED)
            return true;
    return false;
}

/* A cgroup's figure; 0: none, or no limit. Only of version 2, and of the process's own cgroup. */
static uint64_t cgroup_bytes(const char *name) {
    char path[512] = "/sys/fs/cgroup", text[512];
    if (!vt_scan_file("/proc/self/cgroup", text, 256) || strncmp(text, "0::/", 4) != 0)
        return 0;
    char *end = strchr(text, '\n');
    if (end)
        *end = 0;
    strcat(strcat(strcat(path, text + 3), "/"), name);
    return vt_scan_file(path, text, sizeof text) ? number_in(text, 0) : 0;
}

/* Whether the cgroup has room for the walk and for the pages that are written to meanwhile: where it
 * has not, a copy could end the program. */
static bool has_room(const struct vt_owners *w) {
    uint64_t most = cgroup_bytes("memory.max"), now = cgroup_bytes("memory.current");
    return !most || !now || (now < most && most - now > w->most_bytes / 4 + resident_bytes() / 8);
}

/* With strict overcommit, a copy counts as if it were all written to. Before Linux 5.9, the parent's
 * write to a page that a device writes to as well gives it another page. */
static bool may_copy(const struct vt_owners *w) {
    char text[128];
    if (vt_scan_file("/proc/sys/vm/overcommit_memory", text, sizeof text) && text[0] == '2')
        return false;
    if (!has_room(w))
        return false;
    if (!has_registered(w))
        return true;
    const char *at = text;
    if (!vt_scan_file("/proc/sys/kernel/osrelease", text, sizeof text))
        return false;
    uint64_t version = number_in(at, 0) * 100;
    while (*at && *at != '.')
        at++;
    return version + (*at ? number_in(at + 1, 0) : 0) >= FORK_SAFE;
}

/* --- the child --- */

static long futex(uint64_t *word, int what, uint32_t value, const long *time) {
    return VT_SYS4(SYS_futex, word, what, value, time);
}

static void walk_in_child(struct vt_owners *w) {
    struct rlimit none = {0, 0};
    VT_SYS2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    VT_SYS2(SYS_setrlimit, RLIMIT_CORE, &none);
    VT_SYS2(SYS_prctl, PR_SET_DUMPABLE, 0);
    VT_SYS3(SYS_close_range, 0, ~0u, 0);
    w->copy = true;
    vt_owners_walk(w);
    vt_publish(&w->answer->done, 1);
    futex(&w->answer->done, FUTEX_WAKE, 1, NULL);
    for (;;)
        VT_SYS1(SYS_exit_group, 0);
}

/* Waits until the child ends, and kills it when its time is up. */
static void wait_for(struct vt_owners *w, int pid) {
    uint64_t until = w->most_ns + (w->most_ns - vt_sys_clock_ns(CLOCK_MONOTONIC)) / 2;
    const long slice[2] = {0, WAIT_NS};
    while (!vt_see(&w->answer->done)) {
        futex(&w->answer->done, FUTEX_WAIT, 0, slice);
        long ended = VT_SYS4(SYS_wait4, pid, NULL, __WCLONE | WNOHANG, NULL);
        if (ended == pid || ended == -10 /* ECHILD */)
            return;
        if (vt_sys_clock_ns(CLOCK_MONOTONIC) > until)
            VT_SYS2(SYS_kill, pid, SIGKILL);
    }
    while (VT_SYS4(SYS_wait4, pid, NULL, __WCLONE, NULL) == -4 /* EINTR */)
        ;
}

/* False: there is no child. */
static bool walk_copy(struct vt_owners *w, uint64_t *copy_ns) {
    uint64_t began = vt_sys_clock_ns(CLOCK_MONOTONIC), was = vt_sys_hold_signals();
    w->answer->flags = VT_SNAPSHOT_PARTIAL; /* should it die */
    long pid = vt_sys(SYS_clone, 0, 0, 0, 0, 0, 0);
    if (pid == 0) {
        /* A fault may come: its handler is set when memory is read. */
        uint64_t faults = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1);
        VT_SYS4(SYS_rt_sigprocmask, SIG_UNBLOCK, &faults, NULL, sizeof faults);
        walk_in_child(w);
    }
    vt_sys_let_signals(was);
    *copy_ns = vt_sys_clock_ns(CLOCK_MONOTONIC) - began;
    if (pid < 0)
        return false;
    wait_for(w, (int)pid);
    return true;
}

/* --- the result --- */

static void write_records(struct vt_thread *t, const struct vt_owners *w) {
    for (uint64_t at = 0; at + 8 <= w->answer->bytes;) {
        uint64_t word;
        memcpy(&word, w->records + at, sizeof word);
        uint32_t bytes = vt_record_length(word);
        if (bytes < 16 || bytes > VT_RECORD_MAX_BYTES || bytes > w->answer->bytes - at)
            return;
        uint64_t *r = vt_log_reserve_entry(t, bytes);
        if (!r)
            return;
        memcpy(r + 1, w->records + at + 8, bytes - 8);
        vt_log_commit(t, r, word, bytes);
        at += bytes;
    }
}

struct moment {
    enum vt_snapshot_why why;
    uint32_t name;
    uint64_t ticks, began_ns, copy_ns;
};

static bool write_result(const struct vt_owners *w, const struct moment *m) {
    struct vt_recording recording = vt_event_open();
    if (!recording.thread)
        return false;
    write_records(recording.thread, w);
    if (w->answer->native_roots) /* their modules may be new */
        vt_stack_write_modules(recording.thread);
    struct vt_rec_snapshot *r = (void *)vt_log_reserve_entry(recording.thread, sizeof *r);
    if (r) {
        *r = (struct vt_rec_snapshot){
            .number = w->snapshot,
            .why = m->why,
            .ticks = m->ticks,
            .ns = vt_sys_clock_ns(CLOCK_MONOTONIC) - m->began_ns,
            .objects = w->answer->objects,
            .looked_for = w->target_count,
            .owned = w->answer->owned,
            .flags = w->answer->flags,
            .name = m->name,
            .copy_us = (uint32_t)(m->copy_ns / 1000),
        };
        vt_log_commit(recording.thread, &r->word, vt_word(VT_REC_SNAPSHOT, 0, 0, sizeof *r),
                      sizeof *r);
    }
    vt_event_close(&recording);
    return r != NULL;
}

static const struct vt_owners_readers readers = {
    .native = vt_owners_native,
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

static struct vt_owners_answer *share(struct vt_owners *w) {
    w->record_room = (size_t)w->target_count * sizeof(struct vt_owned) * (2 + VT_OWNED_OTHERS) +
                     w->most_bytes / 8;
    w->answer = vt_sys_mmap(PAGE + w->record_room, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    w->records = (uint8_t *)w->answer + PAGE;
    return w->answer;
}

static bool take(struct vt_owners *w, struct moment *m) {
    static uint32_t snapshots, steps; /* in this process; one snapshot at a time uses them */
    w->readers = &readers;
    gather_targets(w);
    if (!w->target_count)
        return false;
    set_bounds(w);
    if (!share(w))
        return false;
    w->snapshot = ++snapshots;
    w->first_number = steps + 1;
    vt_owners_native_open(w);
    if (!may_copy(w) || !walk_copy(w, &m->copy_ns))
        vt_owners_walk(w);
    steps += w->answer->steps;
    bool written = write_result(w, m);
    vt_sys_munmap(w->answer, PAGE + w->record_room);
    return written;
}

bool vt_owners_take(enum vt_snapshot_why why, uint32_t name) {
    static uint32_t taking; /* atomic: the pid, while one is taken; a forked child has another */
    uint32_t pid = (uint32_t)VT_SYS0(SYS_getpid), before = vt_get(&taking);
    /* Valgrind would report each word that the walk reads and the program never wrote. */
    if (vt_process_is_fresh_child() || !vt_log_is_open() || vt_scan_on_valgrind() ||
        before == pid || !vt_claim(&taking, before, pid))
        return false;
    struct moment m = {.why = why,
                       .name = name,
                       .ticks = vt_log_ticks(),
                       .began_ns = vt_sys_clock_ns(CLOCK_MONOTONIC)};
    /* Not on the stack: a thread's may have only 16 KiB. */
    struct vt_owners *w = vt_scan_memory(sizeof *w);
    bool taken = w && take(w, &m);
    if (w) {
        if (w->native && w->native->threads)
            vt_sys_munmap(w->native->threads, VT_SCAN_THREADS * sizeof *w->native->threads);
        vt_owners_unmap(w);
        vt_sys_munmap(w, (sizeof *w + PAGE - 1) & ~(size_t)(PAGE - 1));
    }
    vt_publish(&taking, 0);
    return taken;
}
