/* SPDX-License-Identifier: MIT */
/* Open phases, and the records of phases (see phases.c). For listen/phase.c and event.c. */
#ifndef VT_PRELOAD_PHASES_H
#define VT_PRELOAD_PHASES_H

#include "log/log.h"

#define VT_PHASE_DEPTH   64u
#define VT_PHASE_DOMAINS 256u

struct vt_open_phase {
    uint64_t range, began;
    uint32_t domain, bytes;
    bool written;
    char text[VT_NAME_MAX_BYTES];
};

/* Those of a thread, outermost first. */
struct vt_phases {
    uint32_t depth, skipped; /* skipped: pushed past VT_PHASE_DEPTH, not popped yet */
    struct vt_open_phase open[VT_PHASE_DEPTH];
};

/* How many open phases stand in no log yet. */
extern uint32_t vt_phases_unwritten;
/* Writes those of the calling thread, and of the process. Within a recording. */
void vt_phases_write_open(struct vt_thread *thread);

/* Writes one record, with the records of its names where they are new. Within a recording. */
void vt_phases_write(struct vt_thread *thread, enum vt_phase_event what,
                     const struct vt_open_phase *phase);

/* The calling thread's. NULL: it has none (and `make` is false), or no memory. */
struct vt_phases *vt_phases_own(bool make);

/* A range of the process that was begun while there was no log; and its end. */
void vt_phases_wait(const struct vt_open_phase *phase);
void vt_phases_wait_ends(uint64_t range);

/* A domain's number, from 1; kept for the life of the process. 0: no room. */
uint32_t vt_phases_domain(const char *name);

void vt_phases_forked(void);

#endif
