/* SPDX-License-Identifier: MIT */
/*
 * Public header of gate/: the leak gate, which decides what fails, and why.
 *
 * Invariants: `vramtrace check` and `vramtrace run --check` share one implementation. gate.c decides; the formats
 * (gate_text.c, gate_json.c, gate_junit.c, gate_sarif.c, gate_github.c) only write. Sizes are in bytes. Uses base,
 * model, content, report and, for earlier runs, job.
 *
 * vt_site_fails (model/failing_verdicts.c) decides, also for reports, which sites fail. A suppression or the baseline
 * may allow a failing site. A device fails by its peak.
 *
 *     gate.h             the result (below)
 *     gate_lines.h       failures by line and by leak, as reports show them
 *     baseline.h         baselines
 *     earlier.h          figures of earlier runs
 *     check_options.h    the options, and the steps from logs to reports
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
    double max_increase; /* allowed increase over them, as a fraction; negative: unlimited */
};

enum vt_gate_outcome {
    VT_GATE_FAILS,
    VT_GATE_TOLERATED,  /* --max-leaked */
    VT_GATE_SUPPRESSED, /* by a rule */
    VT_GATE_ACCEPTED,   /* in the baseline, and not larger */
};

/* Whether a baseline or earlier runs have a leak with this stack key (model/stack_key.h). */
enum vt_gate_known {
    VT_GATE_UNCOMPARED, /* there is nothing to compare with, or the leak is suppressed */
    VT_GATE_NEW,
    VT_GATE_KNOWN,
    VT_GATE_LARGER,
    VT_GATE_KNOWNS
};

/* A leaking site, whatever its outcome, or a device over its budget. */
struct vt_gate_finding {
    enum vt_gate_outcome outcome;
    uint32_t process; /* index in the model */
    unsigned device;
    const struct vt_site *site; /* NULL: a device over --max-peak */
    const struct vt_leak *leak; /* the site's leak in the model; NULL: none */
    uint64_t badness;           /* the worst findings come first */
    struct vt_amount amount;    /* the amount that counts; for a device, its peak */
    /* the baseline's bytes, which it exceeds; VT_UNKNOWN: not in the baseline */
    uint64_t accepted_bytes;
    uint64_t earlier_bytes;    /* likewise, the earlier runs' */
    int64_t rule;              /* index of the suppression; -1: none */
    uint64_t group;            /* vt_stack_key.hash: several lines can have the same */
    enum vt_gate_known known;  /* for all of the process's findings in the group */
    struct vt_amount of_group; /* of the process's unsuppressed findings in the group */
    uint32_t line;             /* index in vt_gate.lines; undefined if it does not fail */
};

/* The failures at one source line, or of one device over its budget, in all processes. */
struct vt_gate_line {
    uint32_t first, count; /* in vt_gate.findings, the worst first */
    uint32_t leak;         /* index in vt_gate.leaks */
    uint32_t sites, processes;
    enum vt_gate_known known; /* for all its findings; LARGER also if they differ */
    struct vt_amount amount;
    uint64_t live_count, lost_count, context_freed_count, alloc_count;
    const char *context_freed_by; /* of its worst failure: see struct vt_site */
    bool one_device;
};

/* Lines with one cause, because they grow together or for another reason (analysis/leaks.c). */
struct vt_gate_leak {
    uint32_t first, count; /* in vt_gate.lines, the worst first */
    uint32_t processes;
    enum vt_gate_known known; /* as for a line's findings */
    struct vt_amount amount;
};

struct vt_gate_open_sites {
    struct vt_inconclusive_sum sum;
    const struct vt_site *largest; /* NULL: none */
};

struct vt_gate_process {
    bool failed;
    bool open;            /* it did not fail, but data missing in the log might show a failure */
    uint64_t open_events; /* number of lost events; 0: unknown */
    uint32_t failures;
    struct vt_amount leaked;                          /* of failing and tolerated sites */
    uint64_t peak_bytes;                              /* the largest of its devices */
    struct vt_gate_open_sites suspects, inconclusive; /* that do not fail and are not suppressed */
    bool outlier; /* it leaks, and holds more than twice the median */
};

struct vt_gate {
    const struct vt_model *model;
    const struct vt_gate_options *options;
    bool failed;
    bool open;            /* it did not fail, but data missing in the logs might show a failure */
    uint64_t open_events; /* number of lost events, as far as known */
    struct vt_gate_figure
        figures[VT_GATE_MEASURES]; /* compared with earlier runs, if there are any */
    struct vt_inconclusive_sum suspects, inconclusive; /* of all processes */
    struct vt_gate_finding *findings; /* failures first, in the order of leaks and lines */
    uint32_t count, failures;
    struct vt_gate_line *lines; /* in the order of the leaks */
    struct vt_gate_leak *leaks; /* the worst first */
    uint32_t line_count, leak_count;
    struct vt_gate_process *processes; /* parallel to the model's */
    uint32_t *order;                   /* processes by rank, then by command, never by pid */
    uint64_t counts[4], bytes[4];      /* by outcome of the site */
};

/* Fills `gate`. The arguments must outlive it; free it with vt_gate_free. Never fails. */
void vt_gate_judge(const struct vt_model *model, const struct vt_gate_options *options,
                   struct vt_gate *gate);
void vt_gate_free(struct vt_gate *gate);

/* Adds the unsuppressed sites to a baseline, each with its largest amount. Free it with vt_baseline_free. */
void vt_gate_baseline(const struct vt_gate *gate, struct vt_baseline *baseline);

/* A line that consists of one finding. */
struct vt_gate_line vt_gate_line_of(const struct vt_gate *gate,
                                    const struct vt_gate_finding *finding);

/* Why the line fails, in one sentence. `stable`: without anything that differs from run to run. Free it. */
char *vt_gate_why(const struct vt_gate *gate, const struct vt_gate_line *line, bool stable);

/* "new", "NEW"; NULL: nothing to compare with. */
extern const char *const vt_gate_known_names[VT_GATE_KNOWNS],
    *const vt_gate_known_labels[VT_GATE_KNOWNS];

/* The verdict's name, or "peak". A constant. */
const char *vt_gate_kind(const struct vt_gate_finding *finding);

/* "rank 3", or "train.py (pid 4711)". `stable`: without the pid. Free it. */
char *vt_gate_process_name(const struct vt_process *process, bool stable);

/* The user's choices for the formats. */
struct vt_gate_format_options {
    bool stable;             /* omit everything that differs from run to run */
    bool colour;             /* text: use colour */
    const char *source_root; /* NULL: the current folder */
    char **left_out;         /* logs of other runs in the same folder */
    uint32_t left_out_count;
    char **added; /* logs of the same run that were analyzed although not named */
    uint32_t added_count;
    const char *written; /* path of the baseline that was written; NULL: none */
};

#include "check_options.h"

#endif
