/* SPDX-License-Identifier: MIT */
/*
 * A frame: the data that the live view shows at one moment. The screen, --once, the JSON and the Prometheus writer
 * read only this.
 *
 * It holds the models from which it was made, and data that a single model lacks: rates, and the course of the last
 * minutes. Sizes are in bytes, times in ns since the process's log began. An unknown number is VT_UNKNOWN, an unknown
 * rate NAN.
 */
#ifndef VRAMTRACE_ANALYZER_FRAME_H
#define VRAMTRACE_ANALYZER_FRAME_H

#include "model/model.h"

#include <math.h>

#define VT_WATCH_MINUTE 60000000000ull /* the period of rates */

enum vt_watch_state {
    VT_WATCH_WAITING,    /* there is no log yet */
    VT_WATCH_UNREADABLE, /* the file exists but cannot be read */
    VT_WATCH_RUNNING,
    VT_WATCH_ENDED,
};
extern const char *const vt_watch_state_names[];

/* The memory of a line of code: a row, as in the report's lists. */
struct vt_watch_line {
    uint64_t key;               /* the line's key, the same in each frame */
    const struct vt_site *site; /* the largest */
    uint32_t sites;
    uint64_t bytes, blocks;     /* held now */
    VT_EMBED_SITE_FIGURES;      /* of its sites */
    double share;               /* part of the memory on its devices, 0 to 1 */
    double rate;                /* bytes per second */
    const struct vt_leak *leak; /* NULL: not in a leak that is shown */
};

struct vt_watch_point {
    uint64_t at, live;
    uint64_t in_use; /* VT_UNKNOWN: unchanged */
};

struct vt_watch_device {
    const struct vt_device *device;
    uint64_t in_use; /* live memory without the idle part of caching allocators */
    uint64_t cached;
    uint64_t free;                 /* VT_UNKNOWN */
    double rate;                   /* bytes per second */
    struct vt_watch_point *course; /* by time */
    uint32_t course_count;
};

struct vt_watch_process {
    unsigned refs;
    uint64_t serial; /* unique */
    char *source;    /* as the user named it: "1234", "run.vtl" */
    char *log;       /* NULL: not known yet */
    unsigned pid;    /* on this machine; 0: unknown */
    char *message;   /* the reason for waiting, or why the log cannot be read; NULL */
    enum vt_watch_state state;
    uint64_t now; /* the moment shown */
    struct vt_model model;
    struct vt_process_figures figures; /* leak_count: only of leaks that are shown */
    const struct vt_process *process;  /* of `model`; NULL: nothing was read */
    struct vt_watch_line *lines;       /* the largest first */
    uint32_t line_count;
    struct vt_watch_device *devices;    /* parallel to those of `process` */
    const struct vt_snapshot *snapshot; /* the last one; NULL: there is none */
    struct vt_owner_group *owners;      /* the owners in `snapshot`, the largest first */
    uint32_t owner_count;
};

struct vt_watch_frame {
    uint64_t at;                         /* CLOCK_REALTIME, ns */
    uint64_t cost;                       /* processor time of this refresh, ns */
    struct vt_watch_process **processes; /* in the order of discovery */
    uint32_t count;
    struct vt_watch_frame *next; /* in live.c's list of frames to free */
};

/* Makes a process from a model, which it takes over; the caller fills the rates and courses. */
struct vt_watch_process *vt_frame_process(const struct vt_model *model);

/* A process without a model: its log does not exist yet, or cannot be read. */
struct vt_watch_process *vt_frame_nothing(enum vt_watch_state state, const char *message);

/* Whether a leak is shown: for a running process only growth is a leak, since live memory may still be freed. */
bool vt_frame_shows_leak(const struct vt_process *process, const struct vt_leak *leak);

/* Whether a device is shown: unused ones are left out if another one is used. */
bool vt_frame_shows(const struct vt_watch_process *w, uint32_t device);

/* Frames share processes; vt_frame_release frees a process with its last reference. */
struct vt_watch_process *vt_frame_share(struct vt_watch_process *process);
void vt_frame_release(struct vt_watch_process *process, const struct vt_model_builder *builder);
void vt_frame_free(struct vt_watch_frame *frame, const struct vt_model_builder *builder);

#endif
