/* SPDX-License-Identifier: MIT */
/*
 * A frame: what the live view shows at one moment. The screen, --once, the JSON and the Prometheus
 * writer all read it, and nothing else.
 *
 * It holds the models that it was made from, and what a single model cannot know: rates, and the
 * course of the last minutes. Sizes are bytes, times ns since the process's log began; unknown is
 * VT_UNKNOWN, of a rate NAN.
 */
#ifndef VRAMTRACE_ANALYZER_FRAME_H
#define VRAMTRACE_ANALYZER_FRAME_H

#include "model/model.h"

#include <math.h>

#define VT_WATCH_MINUTE 60000000000ull /* the time that rates are of */

enum vt_watch_state {
    VT_WATCH_WAITING,    /* there is no log yet */
    VT_WATCH_UNREADABLE, /* there is a file, and it cannot be read */
    VT_WATCH_RUNNING,
    VT_WATCH_ENDED,
};
extern const char *const vt_watch_state_names[];

/* All that one line of code holds, as a row of the report's lists. */
struct vt_watch_line {
    uint64_t key;               /* the same at each refresh */
    const struct vt_site *site; /* the largest */
    uint32_t sites;
    uint64_t bytes, blocks;
    double share;               /* of all that the process holds on its devices, 0 to 1 */
    double rate;                /* bytes per second */
    const struct vt_leak *leak; /* NULL: nothing is said of it */
};

struct vt_watch_point {
    uint64_t at, live;
    uint64_t in_use; /* VT_UNKNOWN: as before */
};

struct vt_watch_device {
    const struct vt_device *device;
    uint64_t in_use; /* live, without what caching allocators keep idle */
    uint64_t cached;
    uint64_t untracked, others, free; /* VT_UNKNOWN */
    double rate;                      /* bytes per second */
    struct vt_watch_point *course;    /* by time */
    uint32_t course_count;
};

struct vt_watch_process {
    unsigned refs;
    uint64_t serial; /* no other has it */
    char *source;    /* as the user named it: "1234", "run.vtl" */
    char *log;       /* NULL: not known yet */
    unsigned pid;    /* on this machine; 0: unknown */
    char *message;   /* what is waited for, or why the log cannot be read; NULL */
    enum vt_watch_state state;
    uint64_t now; /* the moment that this shows */
    struct vt_model model;
    const struct vt_process *process; /* of `model`; NULL: nothing was read */
    struct vt_watch_line *lines;      /* the largest first */
    uint32_t line_count;
    struct vt_watch_device *devices;    /* as those of `process` */
    const struct vt_snapshot *snapshot; /* the last one; NULL: there is none */
    struct vt_owner_group *owners;      /* of it, the largest first */
    uint32_t owner_count;
};

struct vt_watch_frame {
    uint64_t at;                         /* CLOCK_REALTIME, ns */
    uint64_t cost;                       /* ns of processor time that it took */
    struct vt_watch_process **processes; /* in the order in which they were found */
    uint32_t count;
    struct vt_watch_frame *next; /* of those that live.c is to free */
};

/* Makes a process of a model, which it takes over; the caller fills the rates and courses. */
struct vt_watch_process *vt_frame_process(const struct vt_model *model);

/* One without a model: what is not there yet. */
struct vt_watch_process *vt_frame_nothing(enum vt_watch_state state, const char *message);

/* Whether a leak is to be shown: of a process that still runs, only growth is one, since whatever is
 * live may still be freed. */
bool vt_frame_shows_leak(const struct vt_process *process, const struct vt_leak *leak);

/* Whether a device is shown: those that were not used are left out where another was. */
bool vt_frame_shows(const struct vt_watch_process *w, uint32_t device);

/* A process is shared by the frames that show it: each lets go of its own. */
struct vt_watch_process *vt_frame_share(struct vt_watch_process *process);
void vt_frame_release(struct vt_watch_process *process, const struct vt_model_builder *builder);
void vt_frame_free(struct vt_watch_frame *frame, const struct vt_model_builder *builder);

#endif
