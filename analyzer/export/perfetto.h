/* SPDX-License-Identifier: MIT */
/*
 * A writer of Perfetto traces, packet by packet. Texts are written as valid UTF-8; times are ns since the epoch. The
 * caller checks ferror(out).
 */
#ifndef VRAMTRACE_ANALYZER_PERFETTO_H
#define VRAMTRACE_ANALYZER_PERFETTO_H

#include "model/model.h"

struct vt_perfetto {
    FILE *out;
    uint64_t seed, tracks; /* the tracks' ids are derived from these */
    bool begun;
    uint8_t *bytes; /* of the current packet */
    size_t room;
};

/* `seed`: a different one for each run, so that their traces can be opened together. */
void vt_perfetto_open(struct vt_perfetto *w, FILE *out, uint64_t seed);
void vt_perfetto_close(struct vt_perfetto *w);

/* The functions below return the id of a new track. `parent`: id of another track; 0: none. */
struct vt_perfetto_process {
    uint32_t pid;
    const char *name;
    char *const *command;
    uint32_t command_count;
    uint64_t started_at;
    const char *label; /* NULL */
};
uint64_t vt_perfetto_process(struct vt_perfetto *w, const struct vt_perfetto_process *process);
uint64_t vt_perfetto_thread(struct vt_perfetto *w, uint64_t parent, uint32_t pid, uint32_t tid);
/* A track for slices and instants, or with child tracks. `rank`: its position among its siblings. */
uint64_t vt_perfetto_track(struct vt_perfetto *w, uint64_t parent, const char *name, uint32_t rank);
/* A counter in bytes. Siblings share one scale. `description`: NULL is allowed. */
uint64_t vt_perfetto_counter(struct vt_perfetto *w, uint64_t parent, const char *name,
                             const char *description, uint32_t rank);

void vt_perfetto_count(struct vt_perfetto *w, uint64_t track, uint64_t at, uint64_t bytes);

/* A value attached to an event: a text, or a number if there is none; VT_UNKNOWN is left out. */
struct vt_perfetto_note {
    const char *name;
    const char *text;
    uint64_t number;
};

enum vt_perfetto_type { VT_PERFETTO_BEGIN = 1, VT_PERFETTO_END = 2, VT_PERFETTO_INSTANT = 3 };
void vt_perfetto_event(struct vt_perfetto *w, enum vt_perfetto_type type, uint64_t track,
                       uint64_t at, const char *category, const char *name,
                       const struct vt_perfetto_note *notes, uint32_t note_count);

#endif
