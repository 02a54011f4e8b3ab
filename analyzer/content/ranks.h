/* SPDX-License-Identifier: MIT */
/*
 * Facts about many processes together (model/job_data.h): figures that several formats need, and sentences, as in
 * report_doc.h for one process. Texts are printable UTF-8 in one line.
 */
#ifndef VRAMTRACE_ANALYZER_RANKS_H
#define VRAMTRACE_ANALYZER_RANKS_H

#include "report_doc.h"

/* --- ranks.c: figures --- */

/* All processes of a job. */
struct vt_ranks {
    uint32_t processes, empty; /* those left out as helpers that allocated nothing; 0 if all are */
    uint32_t ranks;            /* number of distinct ranks */
    uint32_t hosts, gpus;      /* GPUs by their UUIDs; 0: unknown */
    uint32_t groups;           /* groups of peers, without those left out, replaced or lacking */
    uint32_t lacking;          /* processes that are not compared, because their logs lack events */
    uint32_t running, killed, failed, ooms, incomplete;
    uint64_t from, to; /* CLOCK_REALTIME, ns: first start and last end */
    uint64_t peak_bytes, live_bytes, leaked_bytes, dropped_events; /* sums */
    uint64_t at_once_bytes; /* the highest total of driver memory at one moment: vt_ranks_course */
    /* the processes of a table, without the empty ones: peers by rank; with several groups of peers, the largest
     * first */
    uint32_t *list;
    uint32_t count;
    bool *differs; /* by process: it is an outlier */
};
void vt_ranks_make(struct vt_ranks *ranks, const struct vt_job *job);
void vt_ranks_free(struct vt_ranks *ranks);

/* The rows of a table with at most about `most` rows, in the table's order: all, if they fit; otherwise those that
 * differ, were killed or ran out of memory, and the extremes, filled up with the first ones. Returns their number;
 * `rows` has space for ranks->count. */
uint32_t vt_ranks_rows(const struct vt_ranks *ranks, const struct vt_job *job, uint32_t most,
                       uint32_t *rows);

/* A line's leaks, or an owner's memory, in all processes. */
struct vt_ranks_sum {
    uint32_t what;           /* index in lines or owners */
    enum vt_verdict verdict; /* the first in a report's order */
    uint64_t bytes,
        most_bytes; /* in total (for failures the largest request); in the process with most */
    uint32_t processes, most; /* number of processes with some; the process with most */
    /* For leaks and failures: the caller of the largest leak with the worst verdict, or of the largest request; and
     * whether callers differ. */
    const char *caller;
    bool callers;
    const char *kept_by; /* for leaks: the owner of all of them; NULL: they differ */
};
/* The largest first. Free it. */
struct vt_ranks_sum *vt_ranks_leaks(const struct vt_job *job, uint32_t *count);
struct vt_ranks_sum *vt_ranks_owners(const struct vt_job *job, uint32_t *count);
/* by line; a row may be VT_JOB_NONE */
struct vt_ranks_sum *vt_ranks_ooms(const struct vt_job *job, uint32_t *count);

/* The caller at a line by which a process differs, or that only its peers have (vt_job_cell). NULL: none, or not a
 * line. */
const char *vt_ranks_caller(const struct vt_job *job, const struct vt_job_outlier *outlier,
                            const struct vt_job_difference *difference);

/* Driver memory over time of a process, or of all together (VT_JOB_NONE), from the levels of their devices: the
 * maximum in each of `columns` equal parts of the job's time. Returns the overall maximum, which does not depend on
 * `columns`. `course` must be zeroed; with 0 columns it may be NULL. */
uint64_t vt_ranks_course(const struct vt_ranks *ranks, const struct vt_job *job, uint32_t process,
                         unsigned columns, uint64_t *course);

/* --- report_ranks.c: sentences; free them --- */

/* "rank 5", "ranks 0 to 3, 6", "process 4711", "ranks 1, 4 and 990 more". `processes` in their order. */
char *vt_ranks_who(const struct vt_job *job, const uint32_t *processes, uint32_t count);

/* "peaks add up to 8.00 GiB; 0 B at the ends". */
char *vt_ranks_totals(const struct vt_ranks *ranks);

/* The heading of the table: "RANKS" or "PROCESSES". */
static inline const char *vt_ranks_list_heading(const struct vt_ranks *ranks) {
    return ranks->ranks && ranks->ranks == ranks->count ? "RANKS" : "PROCESSES";
}

/* "8 ranks on 2 hosts, 2 GPUs", "16 processes". */
char *vt_ranks_many(const struct vt_ranks *ranks);

/* "7 exited with status 0, 1 was killed by signal 9 (Killed)". */
char *vt_ranks_all_ended(const struct vt_ranks *ranks, const struct vt_job *job);

/* "a1b2..0c3d", "GPU 0", "a1b2..0c3d +1": the GPUs of a process, by their UUIDs if known. */
char *vt_ranks_gpus(const struct vt_job *job, const struct vt_job_process *process);

/* Processes that differ: "DIFFERS" is its heading. The largest differences, `most` of each measure. */
void vt_ranks_outlier(const struct vt_job *job, const struct vt_job_outlier *outlier, uint32_t most,
                      struct vt_doc *doc);

/* "rank 5 differs from the others, as does rank 6", "rank 0 is like ranks 1 to 4": the processes that a fully shown
 * process represents. NULL: only itself. */
char *vt_ranks_stands_for(const struct vt_ranks *ranks, const struct vt_job *job, uint32_t process);

/* Sentences about the logs and the clocks, as rows without a label. */
void vt_ranks_notes(const struct vt_ranks *ranks, const struct vt_job *job, struct vt_doc *doc);

/* The lines that leaked, or failed, or the owners, in all processes, the largest first: at most `most` rows, each
 * with its bytes, the line with its caller or the owner as the text, "in 12 of 1,000 ranks; most in rank 7: 3.00 GiB;
 * kept by hoard (list)" as the source, and for a leak its verdict as the label. */
enum vt_ranks_sums_of { VT_SUMS_OF_LEAKS, VT_SUMS_OF_OOMS, VT_SUMS_OF_OWNERS };
struct vt_ranks_sums {
    struct vt_doc doc;    /* an item for each */
    const char *headline; /* for owners the format has its own */
    uint32_t count, left; /* of all; rows left out */
    uint64_t left_bytes;
};
void vt_ranks_sums(const struct vt_ranks *ranks, const struct vt_job *job,
                   enum vt_ranks_sums_of what, uint32_t most, struct vt_ranks_sums *sums);

/* "Ranks 0 to 2 were restarted once. Of the earlier starts, 2 were killed by signal 15 (Terminated), 1 exited with
 * status 1; rank 1 had run out of memory at train.py:5 in step." NULL: no restarts. */
char *vt_ranks_restarts(const struct vt_job *job);

/* --- ranks_doc.c --- */

/* What a report says of all processes of the job, before those that it shows whole; and before each of these (its index
 * in the job), the others that it represents. */
void vt_ranks_add(const struct vt_subject *t, struct vt_doc *doc);
void vt_ranks_add_stands_for(const struct vt_job *job, uint32_t process, struct vt_doc *doc);

/* "rank" or "process"; with an "s" unless `count` is 1 or 0. */
const char *vt_ranks_noun(const struct vt_ranks *ranks, uint32_t count);

#endif
