/* SPDX-License-Identifier: MIT */
/*
 * Decides when snapshots of the owners are taken, by VRAMTRACE_SNAPSHOT. (snapshot.c takes them.)
 *
 *   end      In Python: by a function that the interpreter calls before it drops its objects (stack/python_end.c).
 *            In other programs: when exit begins, and, for verdicts, again after exit has destroyed the objects made
 *            since arming (exit.c). In both: in _exit, and before a context with live memory ends. In Python also as
 *            memory grows (state/growth_trigger.c), because local variables of main() are gone when Python ends. The
 *            program does not wait for snapshots on growth, which use at most a share of its processor time.
 *   oom      When PyTorch reports a failed allocation; after earlier refusals it still frees its cache and tries
 *            again. In other programs at the first refusal of each call site.
 *   phase    At the end of each phase of that name.
 *   asked    `vramtrace snapshot` and vramtrace_snapshot(), always, unless snapshots are off.
 *
 * During an event, code only sets a bit in vt_tls.due, and the work is done at the end of the event. If no bit is set,
 * an event costs nothing more. At the end, the same memory is not searched twice: a snapshot is taken only if something
 * was allocated since the last one.
 *
 * Called at the end of events (base/process.h), by exit.c, wrap_context.c and instrument/phase.c.
 */
#include "base/base.h"
#include "state/state.h"
#include "event.h"
#include "scan/scan.h"
#include "snapshot.h"
#include "stack/stack.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define OOMS_MOST     3u
#define CONTEXTS_MOST 3u
#define PHASES_FIRST  8u         /* each of the first phases, then the 16th, 32nd, 64th ... */
#define RANGES        16u        /* ranges open at the same time; further ones are ignored */
#define RISES_NS      300000000u /* on growth: processor time for all searches, plus ... */
#define RISES_SHARE   32u        /* ... this share of the program's own: about 3 % */
#define RISE_NS       10000000u  /* with less time, no search is begun */
#define STAND_NS      500000000u /* delay that copies may cause the program, plus ... */
#define STAND_SHARE   64u        /* ... this share of the elapsed time */
#define RISES_LOOK_MS 16u        /* between two checks whether a search is finished or may begin */
#define SEEN_BITS     (1u << 19)

static uint32_t ooms, contexts, phases; /* atomic: snapshots taken */
static uint32_t sites[OOMS_MOST];       /* atomic: stacks of refused allocations */
static uint32_t framework;              /* atomic: a framework reports its failed allocations */
static uint32_t taking;                 /* atomic: threads that are taking a snapshot */
static uint32_t lived;                  /* atomic: something was live */
static uint32_t grew;                   /* atomic: memory grew, and no search has begun since */
static uint32_t ended;                  /* atomic: a snapshot was taken at the end */
static uint64_t began_ns;               /* atomic: when growth was first watched; 0: not yet */
/* Hashes of the allocations that were live at the last snapshot at the end, one bit each. */
static uint64_t seen[SEEN_BITS / 64];

static bool is_on(unsigned trigger) {
    return vt_settings.snapshot & trigger && !vt_get(&vt_sys_sealed) &&
           (trigger == VT_TRIGGER_END || !vt_log_is_at_bound());
}

/* In a sealed process no snapshot can be taken. */
static bool is_mine(void) {
    return vt_log_is_mine() && !vt_get(&vt_sys_sealed);
}

static void note_any(const struct vt_live *what, void *data) {
    (void)what;
    *(bool *)data = true;
}

static bool anything_lives(void) {
    bool lives = false;
    vt_live_each(note_any, &lives);
    return lives;
}

static bool take_snapshot(enum vt_snapshot_why why, uint32_t name) {
    vt_add(&taking, 1);
    bool taken = vt_snapshot_take(why, name);
    vt_add(&taking, -1);
    return taken;
}

/* --- the end --- */

static void note_new(const struct vt_live *what, void *data) {
    uint64_t h = (what->address ^ (uint64_t)what->stack << 40 ^ what->size) * 0x9e3779b97f4a7c15ull;
    uint32_t bit = (uint32_t)(h >> 45) % SEEN_BITS;
    if (vt_get(&seen[bit / 64]) >> bit % 64 & 1)
        return;
    vt_or(&seen[bit / 64], 1ull << bit % 64);
    *(bool *)data = true;
}

/* Takes a snapshot if anything was allocated since the last one at the end. */
static bool take_if_new(void) {
    bool fresh = false;
    vt_live_each(note_new, &fresh);
    return fresh && take_snapshot(VT_SNAPSHOT_END, 0);
}

/* False in a Python process after the interpreter's end, which has its own snapshot. */
static bool may_look_at_end(void) {
    return is_on(VT_TRIGGER_END) && is_mine() &&
           (vt_python_state(NULL) != VT_PYTHON_ACTIVE || vt_python_lives());
}

void vt_triggers_end(void) {
    vt_log_ends(false);
    if (may_look_at_end() && take_if_new())
        vt_put(&ended, 1);
}

void vt_triggers_exit_handlers_ran(void) {
    if (!vt_get(&ended))
        vt_triggers_end();
    else if (may_look_at_end() && anything_lives())
        take_snapshot(VT_SNAPSHOT_EXITED, 0);
}

void vt_triggers_context_ends(void) {
    if (!may_look_at_end() || vt_get(&contexts) >= CONTEXTS_MOST)
        return;
    if (take_if_new())
        vt_add(&contexts, 1);
    memset(seen, 0, sizeof seen); /* the driver reuses the addresses */
}

static struct { uint64_t bytes, count; } at_python_end;

uint64_t vt_triggers_python_ended(uint64_t *bytes) {
    *bytes = at_python_end.bytes;
    return at_python_end.count;
}

/* Called by the interpreter. Memory that is unreachable now stays unreachable, because from here on the interpreter
 * only drops objects. Memory that is freed later is not live at the end, and so not lost. */
static void note_python_end(void) {
    if (!is_mine())
        return;
    vt_live_total(&at_python_end.bytes, &at_python_end.count);
    vt_tls.due |= VT_DUE_SERVED; /* the interpreter makes no more pending calls */
    vt_triggers_finish();
    vt_triggers_end();
    vt_scan_set_continued(false);
    vt_scan_run(VT_MACHINE_CALLERS, false);
    vt_tls.due = 0;
    vt_log_look_soon(); /* if the program continues, this function must be registered again */
}

/* --- as memory grows --- */

/* The processor time that the next search may use; 0: no search may begin yet. It gets half of the remainder, so that
 * another can begin meanwhile. But no search begins with too little time, because one that is cut off costs as much and
 * finds no names. */
static uint64_t left_for_rise(void) {
    struct vt_snapshot_cost cost = vt_snapshot_cost();
    uint64_t most = RISES_NS + vt_sys_clock_ns(CLOCK_PROCESS_CPUTIME_ID) / RISES_SHARE,
             age = vt_sys_clock_ns(CLOCK_MONOTONIC) - vt_get(&began_ns),
             needed = cost.search > RISE_NS ? cost.search : RISE_NS;
    /* The first copy's estimate is uncertain, so that copy may cost twice as much. */
    if (cost.stood + cost.next > (cost.stood ? STAND_NS : 2 * STAND_NS) + age / STAND_SHARE ||
        cost.spent + 2 * needed > most)
        return 0;
    return (most - cost.spent) / 2;
}

/* Writes finished searches, and begins one if memory grew. */
static void follow_growth(void) {
    if (!is_mine())
        return;
    /* before this event: the program does not yet have the address that this event returns */
    uint64_t now = vt_tls.entered;
    unsigned state = vt_snapshot_finish(false);
    if (state & VT_SNAPSHOT_LOST)
        vt_put(&grew, 1);
    uint64_t most_ns = vt_get(&grew) ? left_for_rise() : 0;
    if (most_ns && vt_python_lives() && !vt_python_is_ending() && is_on(VT_TRIGGER_END) &&
        !vt_log_is_at_bound()) {
        bool begun = vt_snapshot_begin(VT_SNAPSHOT_GROWTH, 0, now, most_ns);
        if (begun || !(state & VT_SNAPSHOT_RUNNING)) { /* else wait for the running search */
            vt_put(&grew, 0);
            vt_growth_trigger_reset();
        }
        state |= begun ? VT_SNAPSHOT_RUNNING : 0;
    }
    if (state & VT_SNAPSHOT_RUNNING || vt_get(&grew))
        vt_log_look_within(RISES_LOOK_MS);
}

/* Whether daemon threads of an ended interpreter still run. They use its freed memory (a CPython bug), and the longer
 * the process takes to end, the more likely they crash. */
static bool is_in_haste(void) {
    struct stat threads = {.st_nlink = 0};
    return vt_python_state(NULL) == VT_PYTHON_ACTIVE && !vt_python_lives() &&
           VT_SYS4(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &threads, 0) == 0 &&
           threads.st_nlink > 2 + 1;
}

void vt_triggers_finish(void) {
    if (is_mine() && vt_snapshot_is_running()) {
        if (is_in_haste())
            vt_snapshot_abandon();
        vt_snapshot_finish(true);
    }
}

/* Called by the interpreter soon after look_around(). */
static void python_calls(void) {
    uint8_t due = vt_tls.due;
    if (!is_mine() || !vt_python_wants_lines())
        return;
    vt_tls.due |= VT_DUE_SERVED;
    struct vt_recording rec = vt_event_open();
    if (rec.thread) {
        vt_python_write_lines(rec.thread);
        vt_event_close(&rec);
    }
    vt_tls.due = due;
}

/* Whether the interpreter is ending in an outer call. */
static bool is_in_python_end(void) {
    void *frames[64];
    size_t n = vt_stack_raw(frames, sizeof frames / sizeof frames[0]);
    bool found = false;
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < 2; k++)
            found |= (uintptr_t)frames[i] - 1 - vt_pyimage.ends[k].start <
                     vt_pyimage.ends[k].end - vt_pyimage.ends[k].start;
    return found;
}

/* Detects that an embedding program continues after Python ended: an event occurs outside Python's end and the
 * process's end. */
static void look_whether_it_goes_on(void) {
    void *frames[64];
    size_t n = vt_stack_raw(frames, sizeof frames / sizeof frames[0]);
    bool goes_on = n && !vt_process_in_exit(frames, n);
    for (size_t i = 0; goes_on && i < n; i++)
        goes_on = !vt_python_owns((uintptr_t)frames[i]);
    if (goes_on)
        vt_scan_set_continued(true);
}

static void look_around(void) {
    if (vt_python_has_ended() && !vt_pyimage.is_program)
        look_whether_it_goes_on();
    if (!vt_get(&lived) && !anything_lives())
        return; /* the next event checks again */
    vt_put(&lived, 1);
    if (is_on(VT_TRIGGER_END) || !vt_settings.scan_off)
        vt_python_watch_end(note_python_end, python_calls, vt_log_look_soon, is_in_python_end);
    if (is_on(VT_TRIGGER_END) && vt_python_state(NULL) == VT_PYTHON_ACTIVE && vt_python_lives()) {
        if (!vt_get(&began_ns))
            vt_put(&began_ns, vt_sys_clock_ns(CLOCK_MONOTONIC));
        vt_growth_trigger_start();
    }
    vt_log_looked();
    follow_growth();
}

/* --- out of memory --- */

VT_HOT void vt_triggers_framework_reports(void) {
    if (VT_UNLIKELY(!vt_get(&framework))) /* avoids a write to shared memory at each event */
        vt_put(&framework, 1);
}

static void out_of_memory(uint32_t site) {
    uint32_t n = vt_get(&ooms);
    for (uint32_t i = 0; i < n && i < OOMS_MOST; i++)
        if (site && vt_get(&sites[i]) == site)
            return;
    if (n >= OOMS_MOST || !vt_claim(&ooms, n, n + 1))
        return;
    vt_put(&sites[n], site);
    take_snapshot(VT_SNAPSHOT_OOM, 0);
}

/* --- phases and requests --- */

/* Whether VRAMTRACE_SNAPSHOT names the phase. */
static bool is_wanted(const char *name, uint32_t bytes) {
    uint32_t length;
    const char *item = vt_settings.snapshot_text;
    if (!is_on(VT_TRIGGER_PHASE) || !bytes)
        return false;
    for (;; item += length + 1) {
        if (vt_text_read_trigger(item, &length) == VT_TRIGGER_PHASE &&
            length == bytes + sizeof "phase:" - 1 &&
            memcmp(item + sizeof "phase:" - 1, name, bytes) == 0)
            return true;
        if (!item[length])
            return false;
    }
}

/* The number of a name, written to the log if it is new. */
static uint32_t name_number(const char *name, uint32_t bytes) {
    uint32_t number = 0;
    struct vt_recording rec = vt_event_open();
    if (!rec.thread)
        return 0;
    number = vt_phases_name(rec.thread, name, bytes);
    vt_event_close(&rec);
    return number;
}

void vt_triggers_phase_ends(const char *name, uint32_t bytes) {
    if (VT_LIKELY(!(vt_settings.snapshot & VT_TRIGGER_PHASE)) || !is_wanted(name, bytes) ||
        !is_mine() || !anything_lives())
        return;
    uint32_t n = vt_add(&phases, 1) + 1;
    if (n > PHASES_FIRST && n & (n - 1))
        return;
    uint32_t number = name_number(name, bytes);
    vt_triggers_finish();
    if (vt_snapshot_begin(VT_SNAPSHOT_PHASE, number, 0, 0))
        vt_log_look_within(RISES_LOOK_MS);
    else
        take_snapshot(VT_SNAPSHOT_PHASE, number);
}

static struct range {
    uint64_t range; /* atomic; 0: free, BUSY: being written */
    uint32_t bytes;
    char name[VT_NAME_MAX_BYTES];
} ranges[RANGES];
#define BUSY UINT64_MAX

void vt_triggers_range_starts(uint64_t range, const char *name, uint32_t bytes) {
    if (VT_LIKELY(!(vt_settings.snapshot & VT_TRIGGER_PHASE)) || !is_wanted(name, bytes))
        return;
    for (struct range *r = ranges; r < ranges + RANGES; r++) {
        if (!vt_claim(&r->range, 0, BUSY))
            continue;
        r->bytes = bytes;
        memcpy(r->name, name, bytes);
        vt_publish(&r->range, range);
        return;
    }
}

void vt_triggers_range_ends(uint64_t range) {
    if (VT_LIKELY(!(vt_settings.snapshot & VT_TRIGGER_PHASE)))
        return;
    for (struct range *r = ranges; r < ranges + RANGES; r++) {
        if (vt_see(&r->range) != range || !vt_claim(&r->range, range, BUSY))
            continue;
        vt_triggers_phase_ends(r->name, r->bytes);
        vt_publish(&r->range, (uint64_t)0);
        return;
    }
}

bool vt_triggers_request(const char *name, uint32_t bytes) {
    return vt_settings.snapshot && is_mine() &&
           take_snapshot(VT_SNAPSHOT_REQUEST, bytes ? name_number(name, bytes) : 0);
}

static void answer_request(void) {
    /* If another snapshot is being taken, a later event answers. */
    if (!vt_get(&taking) && vt_log_asked_take())
        vt_log_asked_done(vt_triggers_request("", 0));
}

/* --- at the end of an event --- */

void vt_triggers_run(void) {
    unsigned due = vt_tls.due;
    if (due & VT_DUE_SERVED)
        return; /* an event of the snapshot itself */
    vt_tls.due = VT_DUE_SERVED;
    if (due & VT_DUE_GROWTH) {
        vt_put(&grew, 1);
        follow_growth();
    }
    if (due & VT_DUE_LOOK)
        look_around();
    if (due & VT_DUE_FRAMEWORK_OOM && is_on(VT_TRIGGER_OOM))
        out_of_memory(0);
    else if (due & VT_DUE_REFUSED && is_on(VT_TRIGGER_OOM) && !vt_get(&framework))
        out_of_memory(vt_tls.refused_stack);
    if (due & VT_DUE_ASKED)
        answer_request();
    vt_tls.due = 0;
}

/* A forked child has only the forking thread, and none of the parent's snapshots. */
void vt_triggers_forked(void) {
    ooms = contexts = phases = lived = taking = grew = ended = 0;
    began_ns = 0;
    memset(sites, 0, sizeof sites);
    memset(seen, 0, sizeof seen);
    memset(ranges, 0, sizeof ranges);
}
