/* SPDX-License-Identifier: MIT */
/*
 * Keeps open phases, so that a phase gets into the log even if it began before the log was opened.
 *
 * A phase alone does not open a log: a process without CUDA calls leaves no file. So open phases are kept in memory:
 * each thread has a stack of its phases and their names; ranges that may end on another thread are in a small table of
 * the process. After the log was opened, each phase is written at its thread's next event (event.c checks
 * vt_phases_unwritten). The record has both the time of writing and the time when the phase began, because a record's
 * stamp must not be earlier than those of records already read. A forked child's log gets the phases that were open at
 * the fork in the same way.
 *
 * Names are numbered by the hash of their text, like stacks.
 *
 * Called by instrument/phase.c, which receives phases, and by event.c. Takes no lock, calls no malloc.
 */
#include "state.h"
#include "phases.h"
#include "base/base.h"

#include <string.h>
#include <sys/mman.h>

#define RANGES 256u

/* A range that began before the log was opened. */
struct waiting {
    uint64_t range; /* atomic; 0: free, BUSY: being written */
    struct vt_open_phase phase;
};
#define BUSY UINT64_MAX

uint32_t vt_phases_unwritten;  /* atomic */
static uint32_t waiting_count; /* atomic; number of ranges in `waiting` */

static __thread struct vt_phases *own __attribute__((tls_model("initial-exec")));
static struct waiting waiting[RANGES];

static struct vt_numbering names;
static char domains[VT_PHASE_DOMAINS][VT_NAME_MAX_BYTES + 1]; /* domain n is at n - 1; set once */
static uint32_t domain_state[VT_PHASE_DOMAINS]; /* atomic; 0: free, 1: being written, 2: ready */

static uint64_t hash_of(const char *text, uint32_t bytes) {
    uint64_t h = 0xcbf29ce484222325ull ^ bytes;
    for (uint32_t i = 0; i < bytes; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3ull;
    h ^= h >> 29;
    return h;
}

uint32_t vt_phases_name(struct vt_thread *t, const char *text, uint32_t n) {
    bool fresh;
    uint32_t number = vt_numbering_of(&names, hash_of(text, n), &fresh);
    if (number && !fresh)
        return number;
    const struct vt_rec_name r = {.word = VT_REC_NAME, .number = number, .text_bytes = n};
    if (number && vt_log_entry(t, &r, sizeof r, (struct vt_log_part){text, n}, VT_LOG_NOTHING))
        vt_numbering_written(&names, number);
    else if (vt_numbering_unwritten(&names, number))
        vt_log_drop(VT_DROP_STACKS);
    return number; /* 0 if there was no space; the next phase of this name tries again */
}

uint32_t vt_phases_domain(const char *name) {
    for (uint32_t i = 0; i < VT_PHASE_DOMAINS; i++) {
        if (!vt_see(&domain_state[i]) && vt_claim(&domain_state[i], 0, 1)) {
            strncpy(domains[i], name, VT_NAME_MAX_BYTES);
            vt_publish(&domain_state[i], 2);
            return i + 1;
        }
        if (vt_see(&domain_state[i]) == 2 && strncmp(domains[i], name, VT_NAME_MAX_BYTES) == 0)
            return i + 1;
    }
    vt_log_drop(VT_DROP_STACKS);
    return 0;
}

void vt_phases_write(struct vt_thread *t, enum vt_phase_event what, const struct vt_open_phase *p) {
    const char *domain = p->domain ? domains[p->domain - 1] : "";
    uint32_t name = p->bytes ? vt_phases_name(t, p->text, p->bytes) : 0;
    uint32_t of = *domain ? vt_phases_name(t, domain, (uint32_t)strlen(domain)) : 0;
    uint64_t now = vt_log_ticks();
    const struct vt_rec_phase r = {.word = vt_word(VT_REC_PHASE, what, 0, 0),
                                   .when = vt_when(VT_DEVICE_UNKNOWN, now),
                                   .began = p->began < now ? p->began : now,
                                   .range = p->range,
                                   .name = name,
                                   .domain = of};
    vt_log_event(t, &r, sizeof r);
}

static void waiting_remove(struct waiting *w) {
    vt_add(&vt_phases_unwritten, -1);
    vt_add(&waiting_count, -1);
    vt_publish(&w->range, 0);
}

void vt_phases_write_open(struct vt_thread *t) {
    for (uint32_t i = 0; own && i < own->depth; i++) {
        struct vt_open_phase *p = &own->open[i];
        if (p->written)
            continue;
        p->written = true;
        vt_add(&vt_phases_unwritten, -1);
        vt_phases_write(t, VT_PHASE_PUSH, p);
    }
    for (uint32_t i = 0; i < RANGES && vt_get(&waiting_count); i++) {
        uint64_t range = vt_see(&waiting[i].range);
        if (!range || range == BUSY || !vt_claim(&waiting[i].range, range, BUSY))
            continue;
        vt_phases_write(t, VT_PHASE_START, &waiting[i].phase);
        waiting_remove(&waiting[i]);
    }
}

/* Made once per vt_thread, and reused with it after the thread dies; phases that a dead thread left open stay open in
 * the log. */
struct vt_phases *vt_phases_own(bool make) {
    struct vt_thread *thread;
    if (VT_LIKELY(own != NULL) || !make || !(thread = vt_thread_self()))
        return own;
    if (!thread->phases)
        thread->phases =
            vt_sys_mmap(sizeof *own, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    own = thread->phases;
    for (uint32_t i = 0; own && i < own->depth; i++)
        if (!own->open[i].written)
            vt_add(&vt_phases_unwritten, -1);
    if (own)
        own->depth = own->skipped = 0;
    return own;
}

void vt_phases_wait(const struct vt_open_phase *p) {
    for (uint32_t i = 0; i < RANGES; i++) {
        if (vt_see(&waiting[i].range) || !vt_claim(&waiting[i].range, 0, BUSY))
            continue;
        waiting[i].phase = *p;
        vt_add(&vt_phases_unwritten, 1);
        vt_add(&waiting_count, 1);
        vt_publish(&waiting[i].range, p->range);
        break;
    }
}

void vt_phases_wait_ends(uint64_t range) {
    for (uint32_t i = 0; i < RANGES; i++)
        if (vt_see(&waiting[i].range) == range && vt_claim(&waiting[i].range, range, BUSY))
            waiting_remove(&waiting[i]);
}

/* The child's log is still empty, and its clock starts now. Phases of other threads do not exist in the
 * child. */
void vt_phases_forked(void) {
    vt_numbering_forget(&names);
    memset(waiting, 0, sizeof waiting);
    vt_put(&waiting_count, 0);
    for (uint32_t i = 0; own && i < own->depth; i++) {
        own->open[i].written = false;
        own->open[i].began = 0;
    }
    vt_put(&vt_phases_unwritten, own ? own->depth : 0);
}
