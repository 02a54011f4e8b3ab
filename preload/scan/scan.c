/* SPDX-License-Identifier: MIT */
/*
 * The exit scan: which live allocations still have a pointer to them when the process ends. One without a pointer is
 * `lost`, a certain leak; one with a pointer may be meant to live as long as the process. flood.c follows the pointers;
 * analyzer/analysis/verdicts.c gives the verdict.
 *
 * Called by exit.c before the END mark (in exit's last handler, _exit and quick_exit); by wrap_context.c before an
 * ending runtime frees pinned memory; and by snapshot/ when an interpreter ends, because it then drops all its objects.
 * A later scan is better: memory freed before it is not a leak. Memory freed later is not a leak either (records.def).
 * A process that is killed or calls exec is not scanned.
 *
 * Other threads continue meanwhile. The scan misses a pointer that moves from memory not yet scanned to memory already
 * scanned. It also misses a pointer that is only in another thread's register, which a process cannot read. So the last
 * few allocations of every other living thread count as reached.
 */
#define _GNU_SOURCE
#include "flood.h"
#include "state/state.h"
#include "event.h"
#include "stack/stack.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define AUTO_BYTES   ((uint64_t)64 << 30) /* VRAMTRACE_SCAN=auto: at most this much memory */
#define WORK_MOST    ((uint64_t)64 << 30) /* ... and work: about 5 s on two slow cores */
#define LIST_MOST    1000000u             /* lost allocations written: max */
#define IN_REGISTERS 4u                   /* per thread: last allocations that count as reached */
#define RUNTIME_MOST 64u                  /* allocations of CUDA's libraries; more may be growth */

/* The first three are pids, because a forked child has its own pid. Atomic. */
static uint32_t scans; /* a thread is scanning */
static uint32_t spent; /* the process ends */
static uint32_t early; /* the interpreter ended and was scanned */
static bool continued; /* atomic */

void vt_scan_set_continued(bool so) {
    vt_put(&continued, so);
}

struct gathering {
    struct vt_scan *scan;
    uint32_t room;
    uint32_t runtime; /* targets of CUDA's libraries */
};

static enum vt_allocator allocator_of(const struct vt_live *what) {
    return what->kind == VT_KIND_DEVICE ? vt_stack_allocator(what->stack) : VT_ALLOCATOR_PROGRAM;
}

static void count_target(const struct vt_live *what, void *data) {
    struct gathering *g = data;
    g->room++;
    g->runtime += allocator_of(what) == VT_ALLOCATOR_CUDA;
}

/* Skips some kinds: framework blocks lie inside other targets, physical memory has no address of its own, and
 * registered memory is the program's own. */
static void add_target(const struct vt_live *what, void *data) {
    struct gathering *g = data;
    uint64_t size = what->size ? what->size : 1;
    switch (what->kind) {
    case VT_KIND_BLOCK:
    case VT_KIND_PHYSICAL:
    case VT_KIND_PHYSICAL_HOST:
    case VT_KIND_REGISTERED:
        return;
    case VT_KIND_ARRAY:
    case VT_KIND_MIPMAP: /* only the handle itself refers to it */
        size = 1;
        break;
    }
    if (g->scan->target_count == g->room)
        return; /* another thread allocated it meanwhile */
    /* The analyzer labels `kept` targets `cache`, or `runtime` if they do not grow. */
    enum vt_allocator allocator = allocator_of(what);
    bool kept = allocator == VT_ALLOCATOR_CACHE ||
                (allocator == VT_ALLOCATOR_CUDA && g->runtime <= RUNTIME_MOST);
    g->scan->sought += !kept;
    g->scan->targets[g->scan->target_count++] =
        (struct vt_target){.start = what->address,
                           .end = what->address + size,
                           .kind = what->kind,
                           .held = vt_target_is_held(what->kind),
                           .kept = kept};
}

static void gather_targets(struct vt_scan *scan) {
    struct gathering g = {.scan = scan};
    vt_live_each(count_target, &g);
    if (!g.room ||
        !(scan->targets = vt_scan_allocate(scan, (size_t)g.room * sizeof *scan->targets)))
        return;
    vt_live_each(add_target, &g);
    struct vt_target *a = scan->targets;
    uint32_t n = scan->target_count;
    if (!n)
        return;
    vt_scan_sort(a, n, sizeof *a);
    scan->target_low = a[0].start;
    scan->target_high = a[n - 1].end;
    scan->found = !scan->sought;
}

static const char *refuse(struct vt_scan *scan) {
    uint64_t most = vt_settings.scan_bytes ? vt_settings.scan_bytes : AUTO_BYTES, resident, files;
    if (!vt_scan_resident_bytes(&resident, &files))
        return "/proc/self cannot be read";
    if (resident > most)
        return vt_settings.scan_bytes ? "more memory is resident than VRAMTRACE_SCAN allows"
                                      : "more than 64 GiB are resident (VRAMTRACE_SCAN=SIZE)";
    scan->started_ns = vt_sys_clock_ns(CLOCK_MONOTONIC);
    scan->started_ticks = vt_log_ticks();
    /* Enough work for two floods, with copying, of as much memory as the user allows. */
    scan->most_work = WORK_MOST + 8 * vt_settings.scan_bytes;
    return NULL;
}

static bool lives(const struct vt_scan *scan, uint32_t tid) {
    if (scan->renumbered)
        return true;
    for (uint32_t i = 0; i < scan->thread_count; i++)
        if (scan->threads[i].tid == tid)
            return true;
    return false;
}

static void reach_exactly(struct vt_scan *scan, uint64_t address) {
    struct vt_target *t =
        vt_scan_item_at(scan->targets, scan->target_count, sizeof *scan->targets, address);
    if (t && t->start == address)
        t->reached = true;
}

/* The last allocations in a thread's log chunk count as reached. The thread may unmap the chunk meanwhile, so it is
 * copied first. */
static void reach_last_of(struct vt_scan *scan, const struct vt_thread *t) {
    const uint8_t *chunk = (const uint8_t *)vt_get(&t->chunk);
    uint32_t used = vt_see(&t->used), n = 0;
    uint64_t last[IN_REGISTERS], keys[VT_SHORT_SLOTS] = {0};
    if (!chunk || used > VT_CHUNK_BYTES ||
        !vt_scan_read(scan, scan->buffer, (uintptr_t)chunk, used))
        return;
    for (uint32_t at = sizeof(struct vt_chunk_header), length; at + 16 <= used; at += length) {
        uint64_t word[3] = {0};
        memcpy(word, scan->buffer + at, at + sizeof word <= used ? sizeof word : 16);
        unsigned type = vt_word_type(word[0]);
        length = vt_record_length(word[0]);
        if (length < 8 || length > used - at)
            break;
        if (type == VT_REC_TEMPLATE)
            keys[word[2] % VT_SHORT_SLOTS] = word[1];
        else if (type == VT_REC_ALLOC)
            last[n++ % IN_REGISTERS] = word[2];
        else if (type - VT_REC_SHORT_ALLOC < VT_SHORT_SLOTS)
            last[n++ % IN_REGISTERS] = vt_short_address(keys[type - VT_REC_SHORT_ALLOC],
                                                        word[1] & ((1ull << VT_SHORT_ADDRESS) - 1));
    }
    for (uint32_t i = 0; i < n && i < IN_REGISTERS; i++)
        reach_exactly(scan, last[i]);
}

static void reach_registers(struct vt_scan *scan) {
    uint32_t self = (uint32_t)VT_SYS0(SYS_gettid);
    for (struct vt_thread *t = vt_thread_first(); t; t = t->next) {
        uint32_t tid = vt_see(&t->tid);
        if (tid != self && lives(scan, tid))
            reach_last_of(scan, t);
    }
}

static uint32_t write_lost(struct vt_thread *thread, const struct vt_scan *scan, bool *cut) {
    enum { IN_RECORD = (VT_RECORD_MAX_BYTES - sizeof(struct vt_rec_lost)) / 8 };
    uint32_t written = 0, i = 0;
    while (i < scan->target_count) {
        uint32_t n = 0, from = i;
        for (; i < scan->target_count && n < IN_RECORD; i++)
            n += !scan->targets[i].reached;
        if (!n)
            break;
        uint32_t bytes = (uint32_t)(sizeof(struct vt_rec_lost) + 8 * n);
        struct vt_rec_lost *r =
            written + n > LIST_MOST ? NULL : (void *)vt_log_reserve_entry(thread, bytes);
        if (!r) {
            *cut = true;
            break;
        }
        uint64_t *entry = (uint64_t *)(r + 1);
        for (uint32_t k = from; k < i; k++)
            if (!scan->targets[k].reached)
                *entry++ =
                    vt_lost_entry(scan->targets[k].start, vt_kind_space(scan->targets[k].kind));
        r->count = n;
        r->at = vt_scan_at(scan->started_ticks);
        vt_log_commit(thread, &r->word, vt_word(VT_REC_LOST, 0, 0, bytes), bytes);
        written += n;
    }
    return written;
}

static void write_result(struct vt_thread *thread, const struct vt_scan *scan) {
    bool cut = false;
    uint32_t lost = scan->stop || scan->in_doubt ? 0 : write_lost(thread, scan, &cut);
    struct vt_rec_scan *r = (void *)vt_log_reserve_entry(thread, sizeof *r);
    if (!r)
        return;
    r->bytes = scan->bytes;
    r->ns = vt_sys_clock_ns(CLOCK_MONOTONIC) - scan->started_ns;
    r->looked_for = scan->target_count;
    r->lost = lost;
    r->threads = scan->thread_count;
    r->flags = (scan->stop ? VT_SCAN_STOPPED : 0) | (scan->in_doubt ? VT_SCAN_IN_DOUBT : 0) |
               (cut ? VT_SCAN_CUT : 0) | (vt_get(&continued) ? VT_SCAN_WENT_ON : 0) |
               (scan->by_opaque ? VT_SCAN_BY_UNKNOWN : 0);
    r->unread_pages = scan->unread_pages;
    r->at = vt_scan_at(scan->started_ticks);
    vt_log_commit(thread, &r->word, vt_word(VT_REC_SCAN, 0, 0, sizeof *r), sizeof *r);
}

static void note_skipped(const char *why) {
    char text[256] = "the search for pointers at exit was skipped: ";
    strncat(text, why, sizeof text - strlen(text) - 1);
    vt_log_note(text);
}

/* When an interpreter ends, it drops all its objects. Allocations that they held then look as if the program itself had
 * dropped them. */
#define PYTHON_DOWN "Python had already destroyed its objects"

static bool python_is_down(void) {
    return !vt_python_lives() && vt_python_lived() && !vt_get(&continued);
}

static void search_all(struct vt_scan *scan, const uintptr_t *registers) {
    if (!vt_scan_read_open(scan))
        return;
    if (!vt_scan_list_maps(scan) || !vt_scan_classify_maps(scan))
        return;
    if (scan->python && python_is_down()) {
        scan->stop = PYTHON_DOWN;
        return;
    }
    if (!vt_scan_make_spans(scan))
        return;
    vt_scan_heap_free_lists(scan);
    if (vt_scan_flood(scan, registers, VT_MACHINE_REGISTERS) && !scan->found)
        reach_registers(scan);
}

/* Marks the kept allocations as reached, because the scan may end before it reaches them. */
static void reach_kept(struct vt_scan *scan) {
    for (uint32_t i = 0; i < scan->target_count; i++)
        scan->targets[i].reached |= scan->targets[i].kept;
}

static void note_held(const struct vt_live *what, void *data) {
    *(bool *)data |= vt_target_is_held(what->kind);
}

static bool anything_held(void) {
    bool held = false;
    vt_live_each(note_held, &held);
    return held;
}

#define BIT(signal) (1ull << ((signal)-1))

uint64_t vt_scan_handled_signals(void) {
    struct { /* the kernel's struct sigaction */
        uintptr_t handler, flags, restorer;
        uint64_t mask;
    } a;
    uint64_t handled = 0;
    for (int n = 1; n <= 64; n++)
        if (VT_SYS4(SYS_rt_sigaction, n, NULL, &a, sizeof a.mask) == 0 && a.handler > 1)
            handled |= BIT(n);
    /* A fault cannot be blocked, and our access to a truncated log is a fault (log_fault.c). */
    return handled & ~(BIT(SIGBUS) | BIT(SIGSEGV) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGTRAP));
}

/* Blocks handled signals, because a handler could unmap memory that is being read in place. Signals that usually end
 * the process wait only briefly: the scan stops for them. Returns the mask to restore. */
static uint64_t hold_signals(struct vt_scan *scan) {
    uint64_t handled = vt_scan_handled_signals(), before = 0;
    VT_SYS4(SYS_rt_sigprocmask, SIG_BLOCK, &handled, &before, sizeof before);
    scan->ending = handled & ~before & (BIT(SIGHUP) | BIT(SIGINT) | BIT(SIGQUIT) | BIT(SIGTERM));
    return before;
}

static void note_alone(const char *why) {
    struct vt_recording recording = vt_event_open();
    if (!recording.thread)
        return;
    note_skipped(why);
    vt_event_close(&recording);
}

static void scan_and_write(struct vt_scan *scan, void *frame, const uintptr_t *registers) {
    const char *why = scan->stop ? scan->stop : refuse(scan);
    if (!why) {
        scan->frame = frame;
        if (scan->sought) {
            vt_scan_find_threads(scan);
            search_all(scan, registers);
            vt_scan_read_close(scan);
        }
        if (scan->found)
            reach_kept(scan);
        why = scan->stop;
        if (!why && scan->in_doubt)
            why = scan->doubt ? scan->doubt : "memory that may hold pointers could not be read";
    }
    struct vt_recording recording = vt_event_open();
    if (!recording.thread)
        return;
    if (why)
        note_skipped(why);
    if (scan->started_ns)
        write_result(recording.thread, scan);
    vt_event_close(&recording);
}

static void scan_now(void *frame, const uintptr_t *registers) {
    /* Not on the stack, because a thread's stack may have only 16 KiB. */
    struct vt_scan *scan = vt_memory_map(sizeof *scan);
    if (!scan) {
        note_alone(VT_SCAN_NO_MEMORY);
        return;
    }
    gather_targets(scan);
    if (scan->target_count || scan->stop) {
        uint64_t mask = hold_signals(scan);
        scan_and_write(scan, frame, registers);
        VT_SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
    }
    vt_scan_release(scan);
    vt_sys_munmap(scan, sizeof *scan);
}

void vt_scan_run(void *frame, bool ends) {
    uintptr_t registers[VT_MACHINE_REGISTERS];
    vt_machine_read_registers(registers);
    uint32_t pid = (uint32_t)VT_SYS0(SYS_getpid), before = vt_get(&scans);
    if (vt_settings.scan_off || vt_get(&spent) == pid || before == pid ||
        !vt_claim(&scans, before, pid))
        return;
    vt_put(ends ? &spent : &early, pid);
    bool seen = ends && vt_get(&early) == pid;
    /* This check comes first. After the interpreter's end, its daemon threads use freed memory (a CPython bug), and
     * crash if the process takes long to end. So then only an embedding program that runs on is scanned. */
    if (vt_python_state(NULL) == VT_PYTHON_ACTIVE && python_is_down()) {
        if (!seen && anything_held())
            note_alone(PYTHON_DOWN);
    } else {
        vt_log_ends(true);
        scan_now(frame, registers);
    }
    vt_put(&scans, 0);
}

void vt_scan_before_teardown(void *frame) {
    if (anything_held())
        vt_scan_run(frame, true);
}
