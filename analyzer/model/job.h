/* SPDX-License-Identifier: MIT */
/*
 * Many processes, each reduced to what can be compared: its lines of code, what holds its memory, its
 * leaks and failures, and its memory over time. A thousand ranks of a job fit, since nothing here grows
 * with a process's events: it is bounded by lines. A merged file holds the same (job/merged.h).
 *
 * Texts are the job's own, each stored once; NULL is unknown. Sizes are in bytes; times of a process
 * are ns since its log began, as in the model; unknown is VT_UNKNOWN. Everything lives until
 * vt_job_free. job/ makes it; formats read it.
 */
#ifndef VRAMTRACE_ANALYZER_MODEL_JOB_H
#define VRAMTRACE_ANALYZER_MODEL_JOB_H

#include "model.h"

#define VT_JOB_LINES  200 /* the most lines of one process; what the others had is in one row */
#define VT_JOB_OWNERS 100 /* the most owners of one process, likewise */
#define VT_JOB_OOMS   8   /* the most failures of one process: the last ones */
#define VT_JOB_NONE   UINT32_MAX

/* A machine: one boot of a host. */
struct vt_job_host {
    const char *name; /* NULL: unknown */
    const char *boot; /* boot id */
    /* CLOCK_REALTIME - CLOCK_MONOTONIC when the first of its logs began. All its processes stand on the
     * time line by this one difference, so a clock that was set meanwhile does not tear them apart. */
    uint64_t clock_offset;
    /* the most by which a later log's difference is another: the clock was set */
    uint64_t clock_step;
    /* Its ranks began and ended so much later than their peers of another host, ns; negative: earlier. The
     * clocks are probably as far apart. 0: they are not, or nobody can tell. */
    int64_t later_by;
    uint32_t later_than; /* index in hosts, if later_by is not 0 */
};

struct vt_job_process {
    uint64_t id; /* of host, boot, pid, start and run: the same log gives the same */
    const char *log, *run_id, *job, *command, *version;
    const char *task;          /* what a child of Python's multiprocessing runs; NULL: it is none */
    uint32_t host;             /* index in hosts */
    uint32_t run;              /* the same number: one run, as `report` takes a folder's newest */
    const char *launch;        /* the same text in all ranks that were launched together */
    int rank;                  /* -1: unknown */
    uint32_t world_size;       /* ranks in all; 0: unknown */
    uint32_t restart;          /* how often its rank had been started before */
    uint32_t launcher_restart; /* the same by its launcher's count; 0 too: it counts none */
    uint32_t next_start; /* index of the next start of its rank; VT_JOB_NONE: it is the last */
    uint32_t pid, ppid;
    uint64_t pid_namespace, process_start;        /* as in vt_process */
    uint64_t started_realtime, started_monotonic; /* ns, as its log says */
    uint64_t started_at; /* the same moment as CLOCK_REALTIME, ns, by its host's clock_offset */
    uint64_t duration;
    struct vt_ending ending;
    struct vt_log_quality quality; /* `complete` and `missing` alone, where a merged file says it */
    bool simulated, python;
    /* a snapshot of its end saw nothing of the program's own: its owners below, if any, are of
     * another moment */
    bool none_at_end;
    uint64_t events, failed_count;
    uint64_t peak_bytes; /* of all its devices, pinned and managed memory: the sum of their peaks */
    uint64_t live_bytes; /* likewise at its end, driver layer */
    uint64_t leaked_bytes; /* of its leaks */
    uint32_t leak_count, oom_count;
    /* Rows of the arrays below, which are sorted by process. */
    uint32_t first_device, device_count, first_cell, cell_count, first_owned, owned_count,
        first_leak, leak_rows, first_oom, oom_rows;
};

struct vt_job_device {
    uint32_t process;
    unsigned ordinal; /* VT_DEVICE_HOST: pinned and managed memory together */
    const char *uuid, *name;
    uint64_t total_bytes, live_bytes, peak_bytes, peak_at, driver_used_bytes, untracked_bytes,
        other_processes_bytes, reserved_bytes,
        idle_bytes;          /* idle: reserved, not in use, at the end */
    struct vt_levels levels; /* live driver memory over the process's life */
};

/* A line of code, wherever it ran. */
struct vt_job_line {
    uint64_t key; /* the same on every machine and in every run */
    /* as reports show it: "train.py:41 in step", "in backward of AddmmBackward0" */
    const char *text;
    const char *function, *file, *module;
    uint32_t line;   /* 0: unknown */
    unsigned layer;  /* enum vt_layer, or VT_LAYER_UNKNOWN */
    const char *api; /* of its largest call site */
    bool segments;   /* memory in which a caching allocator lays its blocks: these are lines, too */
    bool recycled;   /* as in vt_site: a buffer more or less is chance */
    bool rest;       /* what all lines beyond VT_JOB_LINES of a process had */
};

/* What a process allocated at a line on a device. */
struct vt_job_cell {
    uint32_t process, line;
    unsigned device;         /* ordinal; VT_DEVICE_HOST */
    enum vt_verdict verdict; /* of its call sites the first in a report's order */
    VT_EMBED_SITE_FIGURES;   /* of all of them */
    const char *caller; /* vt_stack_helper_caller of its call site with this verdict that had most:
                           "train.py:41 in step" */
};

/* A holder of memory, wherever it was. */
struct vt_job_owner {
    uint64_t key;
    const char *text; /* "history (list) in __main__, train.py"; `rest`: NULL */
    const char *name; /* "history" */
    const char *root; /* vt_root_names */
    const char *module, *function, *file;
    uint32_t line;
    const char *purpose; /* vt_purpose_names */
    bool rest;           /* all others of a process */
    bool nobody;         /* memory without an owner */
};

/* What an owner had in a process, at the snapshot that the process shows. */
struct vt_job_owned {
    uint32_t process, owner;
    uint64_t bytes, count;
    uint64_t at;              /* the snapshot's time */
    enum vt_snapshot_why why; /* of the snapshot; 0: unknown */
};

struct vt_job_leak {
    uint32_t process, line; /* line: of its largest call site */
    enum vt_verdict verdict;
    VT_EMBED_SITE_FIGURES; /* of its call sites */
    uint64_t bytes, count; /* vt_amount_of_leak */
    const char *per;       /* as vt_growth; NULL: it does not grow */
    uint64_t bytes_per_iteration, iterations, since, full_in; /* VT_UNKNOWN without growth */
    uint64_t bound_entries, bound_capacity, full_bytes; /* as vt_bound; VT_UNKNOWN without one */
    const char *kept_by, *why;
    const char *caller; /* as in vt_job_cell, of its largest call site */
};

struct vt_job_oom {
    uint32_t process, line; /* line: VT_JOB_NONE: unknown */
    unsigned device;
    uint64_t at, requested_bytes, free_bytes, total_bytes, tracked_bytes;
    enum vt_oom_outcome outcome;
    enum vt_oom_cause cause;
    const char *why;
    const char *caller; /* as of a leak */
};

/* Processes that do the same job, and so should hold the same: the ranks of a training. */
struct vt_job_peers {
    uint32_t *processes; /* in their order */
    uint32_t process_count;
    /* the one nearest to the median: a report shows it for all that are like it */
    uint32_t typical;
    bool empty;    /* helpers that allocated nothing */
    bool replaced; /* starts of ranks that were started anew */
    bool lacking;  /* their logs lack so many events that what they held is not known */
};

/* Whether they are compared with each other. */
static inline bool vt_job_peers_compared(const struct vt_job_peers *p) {
    return !p->empty && !p->replaced && !p->lacking;
}

/* A value of one process beside those of its peers. */
enum vt_job_measure { VT_JOB_PEAK, VT_JOB_LINE, VT_JOB_OWNER };
struct vt_job_difference {
    enum vt_job_measure measure;
    uint32_t what;              /* index in lines or owners; PEAK: 0 */
    uint64_t bytes;             /* the process's */
    uint64_t median, low, high; /* of those peers that are alike, the most of them: all are from low
                                   to high */
};

/* How far the process is from its peers' median. */
static inline uint64_t vt_job_difference_size(const struct vt_job_difference *d) {
    return d->bytes > d->median ? d->bytes - d->median : d->median - d->bytes;
}

/* Processes that differ from their peers, all in the same way. */
struct vt_job_outlier {
    uint32_t *processes; /* by rank */
    uint32_t process_count;
    uint32_t peers; /* index in peers: those it was compared with, these included */
    bool more;      /* they hold more than the others; else less */
    bool two;       /* of two processes nobody knows which is right: the one that holds more */
    struct vt_job_difference *differences; /* of the first process, the largest first */
    uint32_t difference_count;
};

struct vt_job {
    struct vt_job_host *hosts;
    struct vt_job_process *processes; /* by run, rank, start and pid once vt_job_finish ran */
    struct vt_job_device *devices;
    struct vt_job_line *lines;
    struct vt_job_cell *cells;
    struct vt_job_owner *owners;
    struct vt_job_owned *owned;
    struct vt_job_leak *leaks;
    struct vt_job_oom *ooms;
    struct vt_job_peers *peers;      /* every process is in one; by their first process */
    struct vt_job_outlier *outliers; /* the largest first */
    /* those that a report shows whole, for all that are like them; the most telling first */
    uint32_t *shown;
    uint32_t host_count, process_count, line_count, owner_count, peers_count, outlier_count,
        shown_count;
    size_t device_count, cell_count, owned_count, leak_count, oom_count;
    uint32_t unread_count; /* logs that could not be read */
    char **unread;         /* why, the first ones */
    struct vt_job_memory *memory;
};

#endif
