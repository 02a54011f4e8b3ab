/* SPDX-License-Identifier: MIT */
/* Open phases and their records (see phases.c). For instrument/phase.c and event.c. */
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

/* A thread's open phases, outermost first. */
struct vt_phases {
    uint32_t depth, skipped; /* skipped: pushed beyond VT_PHASE_DEPTH and not popped yet */
    struct vt_open_phase open[VT_PHASE_DEPTH];
};

/* Number of open phases that are not in the log yet. */
extern uint32_t vt_phases_unwritten;
/* Writes the calling thread's and the process's open phases. Only while recording (event.h). */
void vt_phases_write_open(struct vt_thread *thread);

/* Writes one record, preceded by NAME records for names that are new. Only while recording. */
void vt_phases_write(struct vt_thread *thread, enum vt_phase_event what,
                     const struct vt_open_phase *phase);

/* A name's number; writes its record if the name is new. 0: no space. Only while recording. */
uint32_t vt_phases_name(struct vt_thread *thread, const char *text, uint32_t bytes);

/* The calling thread's phases; makes them if `make`. NULL: none, or no memory. */
struct vt_phases *vt_phases_own(bool make);

/* Remembers a process-wide range that began before the log was opened, until it ends. */
void vt_phases_wait(const struct vt_open_phase *phase);
void vt_phases_wait_ends(uint64_t range);

/* A domain's number, from 1; valid for the life of the process. 0: no space. */
uint32_t vt_phases_domain(const char *name);

void vt_phases_forked(void);

#endif
