/* SPDX-License-Identifier: MIT */
/*
 * What changed in a log that lies in memory, copied for the disk (run_disk.h writes it). For run_copies.c.
 *
 * What is on the disk can be read at any moment. While no new summary is there, chunks only grow or are used again that the
 * summary covers: they are written in place, the slots of the threads after them, the header last. With a new summary the log
 * is written anew, since neither it nor the chunks fit the other one's older state.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_COPY_H
#define VRAMTRACE_ANALYZER_RUN_COPY_H

#include "base/base.h"

#include <sys/types.h>

/* What the disk has of a chunk. */
struct vt_run_copied {
    uint64_t hash;     /* 0: nothing */
    uint64_t finished; /* as in its header, if it was finished then; else 0 */
};

struct vt_run_copy {
    char *log;         /* in memory */
    const char *asked; /* its name on the disk, unless that is taken */
    size_t
        stem; /* so much of it stands before the number that tells it from logs of this run; else all */
    char *name;       /* on the disk; NULL: none yet */
    bool no_samples;  /* something else has the name of LOG.nvml */
    uint64_t summary; /* the generation that the disk has */
    uint64_t samples; /* bytes of LOG.nvml that it has */
    uint64_t header;  /* hash of the header that it has */
    struct vt_run_copied *chunks;
    size_t count, room;
};

struct vt_run_piece {
    uint32_t number;
    struct vt_run_copied copied;
    uint8_t *bytes; /* VT_CHUNK_BYTES */
};

struct vt_run_take {
    struct vt_run_copy *of;
    bool last;      /* its process has ended */
    bool anew;      /* there is a new summary */
    bool idle;      /* nothing changed */
    uint64_t bytes; /* of the file */
    uint8_t *header;
    struct vt_run_piece *pieces;
    size_t count, room, slots; /* the first `slots` of them have slots */
    uint64_t generation;       /* of the summary */
    struct vt_string summary;  /* if it is new */
    struct vt_string samples;  /* that are new */
};

/* Copies what changed since the last time. Nobody compacts the log meanwhile. Returns 0, or -errno. Free it with
 * vt_run_take_free in either case. */
int vt_run_take_make(struct vt_run_copy *copy, bool last, struct vt_run_take *take);
/* It is on the disk; or it is not, and what of it is there is not known: next time all is copied. */
void vt_run_take_done(const struct vt_run_take *take, bool written);
void vt_run_take_free(struct vt_run_take *take);

#endif
