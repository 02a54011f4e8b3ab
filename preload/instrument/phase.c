/* SPDX-License-Identifier: MIT */
/*
 * Phases and marks that the program reports through include/vramtrace.h or NVTX (nvtx.c). Open phases are kept in
 * state/phases.c, even before there is a log.
 *
 * Called from any thread, with any lock held. Takes no lock, calls no malloc.
 */
#include "phase.h"
#include "event.h"
#include "base/base.h"
#include "snapshot/snapshot.h"

#include <string.h>

static uint64_t last_range; /* atomic */

/* Whether there is a log to write to. A forked child first drops its parent's. */
static bool log_is_open(void) {
    if (!vt_process_is_armed())
        return false;
    vt_process_check_fork();
    return vt_log_is_open();
}

static void fill(struct vt_open_phase *p, uint32_t domain, const char *name) {
    *p = (struct vt_open_phase){.range = vt_add(&last_range, 1) + 1,
                                .began = vt_log_ticks(),
                                .domain = domain <= VT_PHASE_DOMAINS ? domain : 0};
    p->bytes = name ? (uint32_t)strnlen(name, VT_NAME_MAX_BYTES) : 0;
    if (p->bytes)
        memcpy(p->text, name, p->bytes);
}

/* Writes one record now, if there is a log. False: not written. */
static bool record(enum vt_phase_event what, const struct vt_open_phase *p) {
    if (!log_is_open())
        return false;
    struct vt_recording rec = vt_event_open();
    if (!rec.thread)
        return false;
    vt_phases_write(rec.thread, what, p);
    vt_event_close(&rec);
    return true;
}

static int level_of(const struct vt_phases *t, uint32_t domain) {
    int level = 0;
    for (uint32_t i = 0; i < t->depth; i++)
        level += t->open[i].domain == domain;
    return level;
}

int vt_phase_push(uint32_t domain, const char *name) {
    struct vt_phases *t = vt_phases_own(true);
    if (!t)
        return -1;
    if (t->depth == VT_PHASE_DEPTH) {
        t->skipped++;
        return -1;
    }
    struct vt_open_phase *p = &t->open[t->depth];
    int level = level_of(t, domain);
    fill(p, domain, name);
    /* record() first writes the phases that are already open, so the new phase is pushed afterwards. */
    p->written = record(VT_PHASE_PUSH, p);
    if (!p->written)
        vt_add(&vt_phases_unwritten, 1);
    t->depth++;
    return level;
}

int vt_phase_pop(uint32_t domain) {
    struct vt_phases *t = vt_phases_own(false);
    if (t && t->skipped) {
        t->skipped--;
        return -1;
    }
    uint32_t i = t ? t->depth : 0;
    while (i && t->open[i - 1].domain != domain)
        i--;
    if (!i)
        return -1;
    /* The end is recorded while the phase is still on the stack, so that the start of a phase older than the log is
     * written first. A phase that ends before there is a log is not recorded. */
    struct vt_open_phase *ended = &t->open[--i];
    record(VT_PHASE_POP, ended);
    vt_triggers_phase_ends(ended->text, ended->bytes);
    if (!t->open[i].written)
        vt_add(&vt_phases_unwritten, -1);
    memmove(&t->open[i], &t->open[i + 1], (t->depth - i - 1) * sizeof *t->open);
    t->depth--;
    return level_of(t, domain);
}

uint64_t vt_phase_start(uint32_t domain, const char *name) {
    struct vt_open_phase p;
    fill(&p, domain, name);
    vt_triggers_range_starts(p.range, p.text, p.bytes);
    if (record(VT_PHASE_START, &p))
        return p.range;
    vt_phases_wait(&p);
    return p.range;
}

void vt_phase_end(uint64_t range) {
    const struct vt_open_phase p = {.range = range};
    if (!range || range > vt_get(&last_range))
        return;
    if (!record(VT_PHASE_END, &p))
        vt_phases_wait_ends(range);
    vt_triggers_range_ends(range);
}

void vt_phase_mark(uint32_t domain, const char *name) {
    struct vt_open_phase p;
    if (!log_is_open())
        return;
    fill(&p, domain, name);
    p.range = 0;
    record(VT_PHASE_MARK, &p);
}

/* Called by include/vramtrace.h; these names are permanent. */

VT_EXPORT void vramtrace_v1_mark(const char *name) {
    vt_phase_mark(0, name);
}

VT_EXPORT void vramtrace_v1_push(const char *name) {
    vt_phase_push(0, name);
}

VT_EXPORT void vramtrace_v1_pop(void) {
    vt_phase_pop(0);
}

/* 1: a snapshot was taken. 0: nothing is live, or snapshots are off. */
VT_EXPORT int vramtrace_v1_snapshot(const char *name) {
    return log_is_open() &&
           vt_triggers_request(name ? name : "",
                               name ? (uint32_t)strnlen(name, VT_NAME_MAX_BYTES) : 0);
}

/* Live driver-layer bytes of a device, or of all devices (-1). Walks the live table: suits a test's assertion or one
 * call per step, not an inner loop. */
VT_EXPORT int64_t vramtrace_v1_live_bytes(int device) {
    if (!log_is_open())
        return 0;
    return (int64_t)vt_live_on_device(device);
}

VT_EXPORT int vramtrace_v1_active(void) {
    return 1;
}

/* Whether the loaded driver, or the one that this process would load, is the simulated one. */
VT_EXPORT int vramtrace_v1_simulated(void) {
    struct vt_elf object;
    return vt_elf_named("libcuda.so", "vramtrace_sim_driver", &object);
}
