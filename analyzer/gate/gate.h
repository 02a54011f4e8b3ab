/* SPDX-License-Identifier: MIT */
/*
 * Public header of gate/: the leak gate: what fails it, and why.
 *
 * Invariants: one judgement for `vramtrace check` and `vramtrace run --check`. gate.c decides; the formats
 * (gate_text.c, gate_json.c, gate_junit.c, gate_sarif.c, gate_github.c) only write. Sizes are in
 * bytes. Uses base, model, job for earlier runs, and of report text_page.h.
 *
 * vt_site_fails (model/failing_verdicts.c) says which sites fail, for reports too; a suppression or the baseline
 * may allow it. A device fails by its peak.
 *
 *     gate.h             the judgement (below)
 *     gate_lines.h       failures by line and by leak, as reports show them
 *     baseline.h         baselines
 *     earlier.h          what earlier runs held
 *     check_options.h    the options, and the way from logs to reports
 */
#ifndef VRAMTRACE_ANALYZER_GATE_H
#define VRAMTRACE_ANALYZER_GATE_H

#include "model/model.h"
#include "baseline.h"
#include "earlier.h"

/* Start it as {.max_peak = VT_UNKNOWN}. */
struct vt_gate_options {
    bool chosen;             /* use `fails` instead of the default */
    bool fails[VT_VERDICTS]; /* --fail-on, --strict */
    uint64_t max_leaked;     /* for the failing sites of all processes together */
    uint64_t max_peak;       /* for each process on each device; VT_UNKNOWN: no budget */
    struct vt_suppressions *suppressions; /* NULL: none; the gate sets their counts */
    struct vt_baseline *baseline;         /* NULL: none; the gate sets `seen` */
    const struct vt_earlier *earlier;     /* --against; NULL: none */
    double max_increase;                  /* of their figures, a part; negative: any */
};

enum vt_gate_outcome {
    VT_GATE_FAILS,
    VT_GATE_TOLERATED,  /* --max-leaked */
    VT_GATE_SUPPRESSED, /* by a rule */
    VT_GATE_ACCEPTED,   /* in the baseline, and not larger */
};

/* What a baseline or earlier runs say of a leak, by its stack key (model/stack_key.h). */
enum vt_gate_known {
    VT_GATE_UNCOMPARED, /* there is neither, or it is suppressed */
    VT_GATE_NEW,
    VT_GATE_KNOWN,
    VT_GATE_LARGER,
    VT_GATE_KNOWNS
};

/* A site that leaks, whatever its outcome, or a device over its budget. */
struct vt_gate_finding {
    enum vt_gate_outcome outcome;
    uint32_t process; /* index in the model */
    unsigned device;
    const struct vt_site *site; /* NULL: a device over --max-peak */
    const struct vt_leak *leak; /* the site's leak in the model; NULL: none */
    uint64_t badness;           /* the worst come first */
    struct vt_amount amount;    /* judged and shown: of the site; of a device its peak */
    uint64_t accepted_bytes;    /* the baseline's bytes, which it exceeds; VT_UNKNOWN: not in it */
    uint64_t earlier_bytes;     /* the same of the earlier runs */
    int64_t rule;               /* index of the suppression; -1: none */
    uint64_t group;             /* vt_stack_key.hash: several lines can have the same */
    enum vt_gate_known known;   /* of the process's findings in the group */
    struct vt_amount of_group;  /* of the process's findings in the group that are not suppressed */
    uint32_t line;              /* index in vt_gate.lines; undefined if it does not fail */
};

/* The failures at one source line, in all processes; or those of a device over its budget. */
struct vt_gate_line {
    uint32_t first, count; /* in vt_gate.findings, the worst first */
    uint32_t leak;         /* index in vt_gate.leaks */
    uint32_t sites, processes;
    enum vt_gate_known known; /* of all its findings; LARGER: too, where they differ */
    struct vt_amount amount;
    uint64_t live_count, lost_count, context_freed_count, alloc_count;
    const char *context_freed_by; /* of its worst failure: see struct vt_site */
    bool one_device;
};

/* Lines that are one mistake, because they grow together or for another reason (analysis/leaks.c). */
struct vt_gate_leak {
    uint32_t first, count; /* in vt_gate.lines, the worst first */
    uint32_t processes;
    enum vt_gate_known known; /* of its lines, as of a line's findings */
    struct vt_amount amount;
};

struct vt_gate_process {
    bool failed;
    bool open;            /* not failed, but what the log lacks could change that */
    uint64_t open_events; /* so many events were lost; 0: it is not known how many */
    uint32_t failures;
    struct vt_amount leaked; /* of failing and tolerated sites */
    uint64_t peak_bytes;     /* the largest of its devices */
    struct vt_inconclusive_sum inconclusive;
    const struct vt_site *largest_inconclusive; /* NULL: none */
    bool outlier;                               /* it leaks, and holds more than twice the median */
};

struct vt_gate {
    const struct vt_model *model;
    const struct vt_gate_options *options;
    bool failed;
    bool open;            /* not failed, but what the logs lack leaves the verdict open */
    uint64_t open_events; /* so many events were lost, as far as known */
    struct vt_gate_figure figures[VT_GATE_MEASURES]; /* beside earlier runs, if there are any */
    struct vt_inconclusive_sum inconclusive;         /* of all processes */
    struct vt_gate_finding *findings; /* failures first, in the order of leaks and lines */
    uint32_t count, failures;
    struct vt_gate_line *lines; /* in the order of the leaks */
    struct vt_gate_leak *leaks; /* the worst first */
    uint32_t line_count, leak_count;
    struct vt_gate_process *processes; /* parallel to the model's */
    uint32_t *order;                   /* processes by rank, then by command, never by pid */
    uint64_t counts[4], bytes[4];      /* of sites, by outcome */
};

/* Fills `gate`. The arguments must outlive it; free it with vt_gate_free. Never fails. */
void vt_gate_judge(const struct vt_model *model, const struct vt_gate_options *options,
                   struct vt_gate *gate);
void vt_gate_free(struct vt_gate *gate);

/* Adds the sites that are not suppressed to a baseline, of each the most. Free it with vt_baseline_free. */
void vt_gate_baseline(const struct vt_gate *gate, struct vt_baseline *baseline);

/* A line that consists of one finding. */
struct vt_gate_line vt_gate_line_of(const struct vt_gate *gate,
                                    const struct vt_gate_finding *finding);

/* Why it fails, in one sentence; with `stable` without what differs from run to run. Free it. */
char *vt_gate_why(const struct vt_gate *gate, const struct vt_gate_line *line, bool stable);

/* "new", "NEW"; NULL: nothing to compare with. */
extern const char *const vt_gate_known_names[VT_GATE_KNOWNS],
    *const vt_gate_known_labels[VT_GATE_KNOWNS];

/* The verdict's name, or "peak". A constant. */
const char *vt_gate_kind(const struct vt_gate_finding *finding);

/* "rank 3", or "train.py (pid 4711)", with `stable` without the pid. Free it. */
char *vt_gate_process_name(const struct vt_process *process, bool stable);

/* The program's name as users know it: "train.py". Points into the process. */
const char *vt_gate_program(const struct vt_process *process);

/* The user's choices for the formats. */
struct vt_gate_format_options {
    bool stable;             /* omit what differs from run to run */
    bool colour;             /* text: use colour */
    const char *source_root; /* NULL: the current folder */
    char **left_out;         /* logs of other runs in the same folder */
    uint32_t left_out_count;
    char **added; /* logs of the same run that were judged without being named */
    uint32_t added_count;
    const char *written; /* path of the baseline that was written; NULL: none */
};

#include "check_options.h"

#endif
