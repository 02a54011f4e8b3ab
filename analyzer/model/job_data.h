/* SPDX-License-Identifier: MIT */
/*
 * Many processes, each reduced to comparable data: lines of code, owners of memory, leaks, failures, and memory over
 * time. A job of a thousand ranks fits, because size depends on lines, not on events. A merged file contains the same
 * data (job/merged.h).
 *
 * Texts are the job's own, each stored once; NULL is unknown. Sizes are in bytes; times of a process are ns since its
 * log began, as in the model; unknown is VT_UNKNOWN. Everything lives until vt_job_free. job/ makes it; formats read
 * it.
 */
#ifndef VRAMTRACE_ANALYZER_JOB_DATA_H
#define VRAMTRACE_ANALYZER_JOB_DATA_H

#include "model.h"

#define VT_JOB_LINES  200 /* the most lines of one process; the others are summed in one row */
#define VT_JOB_OWNERS 100 /* the most owners of one process, likewise */
#define VT_JOB_OOMS   8   /* the most failures of one process: the last ones */
#define VT_JOB_NONE   UINT32_MAX

/* A machine: one boot of a host. */
struct vt_job_host {
    const char *name; /* NULL: unknown */
    const char *boot; /* boot id */
    /* CLOCK_REALTIME - CLOCK_MONOTONIC when the first of its logs began. All its processes use this offset, so setting
     * the clock during the job does not move them apart. */
    uint64_t clock_offset;
    /* largest change of the offset in later logs: the clock was set */
    uint64_t clock_step;
    /* How much later its ranks began and ended than their peers on another host, ns; negative: earlier. The clocks
     * probably differ by this much. 0: no difference, or unknown. */
    int64_t later_by;
    uint32_t later_than; /* index in hosts, if later_by is not 0 */
};

struct vt_job_process {
    uint64_t id; /* from host, boot, pid, start and run: constant for a log */
    const char *log, *run_id, *job, *command, *version;
    const char *program; /* its name: vt_process_program */
    uint32_t host;       /* index in hosts */
    /* equal within one run, such as the newest one that `report` takes from a folder */
    uint32_t run;
    const char *launch;  /* equal in all ranks launched together */
    int rank;            /* -1: unknown */
    uint32_t world_size; /* ranks in all; 0: unknown */
    uint32_t restart;    /* number of earlier starts of its rank */
    /* the same, as counted by its launcher; also 0 if the launcher does not count */
    uint32_t launcher_restart;
    uint32_t next_start; /* index of the next start of its rank; VT_JOB_NONE: none */
    uint32_t pid, ppid;
    uint64_t pid_namespace, process_start;        /* as in vt_process */
    uint64_t started_realtime, started_monotonic; /* ns, from its log */
    uint64_t started_at; /* the same moment as CLOCK_REALTIME, ns, with its host's clock_offset */
    uint64_t duration;
    struct vt_ending ending;
    struct vt_log_quality quality; /* only `complete` and `missing` if from a merged file */
    bool simulated, python;
    /* A snapshot at its end found none of the program's own memory: any owners below are from another moment. */
    bool none_at_end;
    VT_EMBED_PROCESS_FIGURES;
    /* Its rows in the arrays below, which are sorted by process. */
    uint32_t first_device, device_count, first_cell, cell_count, first_owned, owned_count,
        first_leak, leak_rows, first_oom, oom_rows;
};

struct vt_job_device {
    uint32_t process;
    unsigned ordinal; /* VT_DEVICE_HOST: pinned and managed memory together */
    const char *uuid, *name;
    VT_EMBED_LAYER_FIGURES;
    VT_EMBED_DEVICE_FIGURES;
    uint64_t reserved_bytes, idle_bytes; /* idle: reserved, not in use, at the end */
    struct vt_levels levels;             /* live driver memory over time */
};

/* A line of code, wherever it ran. */
struct vt_job_line {
    uint64_t key; /* equal on every machine and in every run */
    /* as reports show it: "train.py:41 in step", "in backward of AddmmBackward0" */
    const char *text;
    const char *function, *file, *module;
    uint32_t line;   /* 0: unknown */
    unsigned layer;  /* enum vt_layer, or VT_LAYER_UNKNOWN */
    const char *api; /* of its largest call site */
    bool segments;   /* a caching allocator's segments, which are also lines */
    bool recycled;   /* as in vt_site: the number of buffers varies by chance */
    bool rest;       /* the sum of a process's lines beyond VT_JOB_LINES */
};

/* Memory that a process allocated at a line on a device. */
struct vt_job_cell {
    uint32_t process, line;
    unsigned device;         /* ordinal; VT_DEVICE_HOST */
    enum vt_verdict verdict; /* the first among its call sites in a report's order */
    VT_EMBED_SITE_FIGURES;   /* of all its call sites */
    /* vt_stack_helper_caller of its largest call site with this verdict: "train.py:41 in step" */
    const char *caller;
};

/* An owner of memory, in any process. */
struct vt_job_owner {
    uint64_t key;
    const char *text; /* "history (list) in __main__, train.py"; `rest`: NULL */
    const char *name; /* "history" */
    const char *root; /* vt_root_names */
    const char *module, *function, *file;
    uint32_t line;
    const char *purpose; /* vt_purpose_names */
    bool rest;           /* the sum of a process's other owners */
    bool unowned;        /* memory without an owner */
};

/* An owner's memory in a process, at the snapshot shown for the process. */
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
    const char *caller; /* as in vt_job_leak */
};

/* Processes that do the same work and so should hold the same memory: the ranks of a training. */
struct vt_job_peers {
    uint32_t *processes; /* in the job's order */
    uint32_t process_count;
    /* the process nearest to the median, shown in a report for all similar ones */
    uint32_t typical;
    bool empty;    /* helpers that allocated nothing */
    bool replaced; /* earlier starts of restarted ranks */
    bool lacking;  /* too many events are missing to know what they held */
};

/* Whether they are compared with one another. */
static inline bool vt_job_peers_compared(const struct vt_job_peers *p) {
    return !p->empty && !p->replaced && !p->lacking;
}

/* A value of one process next to those of its peers. */
enum vt_job_measure { VT_JOB_PEAK, VT_JOB_LINE, VT_JOB_OWNER };
struct vt_job_difference {
    enum vt_job_measure measure;
    uint32_t what;  /* index in lines or owners; PEAK: 0 */
    uint64_t bytes; /* of the process */
    uint64_t median, low,
        high; /* the majority of similar peers, whose values all lie between low and high */
};

/* The process's distance from its peers' median. */
static inline uint64_t vt_job_difference_size(const struct vt_job_difference *d) {
    return d->bytes > d->median ? d->bytes - d->median : d->median - d->bytes;
}

/* Processes that differ from their peers, all in the same way. */
struct vt_job_outlier {
    uint32_t *processes; /* by rank */
    uint32_t process_count;
    uint32_t peers; /* index in peers: the processes compared, including these */
    bool more;      /* they hold more than the others, else less */
    bool two; /* only two peers, so either may be the outlier: the one that holds more is listed */
    struct vt_job_difference *differences; /* the first process's, the largest first */
    uint32_t difference_count;
};

struct vt_job {
    struct vt_job_host *hosts;
    struct vt_job_process *processes; /* sorted by run, rank, start and pid after vt_job_finish */
    struct vt_job_device *devices;
    struct vt_job_line *lines;
    struct vt_job_cell *cells;
    struct vt_job_owner *owners;
    struct vt_job_owned *owned;
    struct vt_job_leak *leaks;
    struct vt_job_oom *ooms;
    struct vt_job_peers *peers;      /* each process is in one; sorted by first process */
    struct vt_job_outlier *outliers; /* the largest first */
    /* processes that a report shows in full, each for all similar ones; the most informative first */
    uint32_t *shown;
    uint32_t host_count, process_count, line_count, owner_count, peers_count, outlier_count,
        shown_count;
    size_t device_count, cell_count, owned_count, leak_count, oom_count;
    uint32_t unread_count; /* logs that could not be read */
    char **unread;         /* the reasons, for the first ones */
    struct vt_job_memory *memory;
};

#endif
