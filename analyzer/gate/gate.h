/* SPDX-License-Identifier: MIT */
/*
 * The door of gate/: THE leak gate: what fails it, and why.
 *
 * Law: one judgement for `vramtrace check` and `vramtrace run --check`. gate.c decides; the formats
 * (gate_text.c, gate_json.c, fmt_junit.c, fmt_sarif.c, fmt_github.c) write what comes out and
 * decide nothing. Uses base, model, and of report the page.
 *
 * A site fails by its verdict, unless a suppression or the baseline lets it pass; a device fails by
 * its peak. Contract: lost and growing fail, unfreed in processes without Python; cache, runtime
 * and freed never.
 *
 *     gate.h             the judgement (below)
 *     gate_lines.h       failures as the lines and leaks that a reader sees
 *     suppress.h         suppressions
 *     baseline.h         baselines
 *     check_options.h    the options, and all of it from logs to reports
 */
#ifndef VRAMTRACE_ANALYZER_GATE_H
#define VRAMTRACE_ANALYZER_GATE_H

#include "model/model.h"
#include "baseline.h"
#include "suppress.h"

/* Start it as {.max_peak = VT_UNKNOWN}. */
struct vt_gate_options {
    bool chosen;             /* `fails` counts, not the default */
    bool fails[VT_VERDICTS]; /* --fail-on, --strict */
    uint64_t max_leaked;     /* failing sites of all processes together may hold this much */
    uint64_t max_peak;       /* of each process on each device; VT_UNKNOWN: no budget */
    struct vt_suppressions *suppressions; /* NULL: none; their counts are set */
    struct vt_baseline *baseline;         /* NULL: none; what was seen is marked */
};

enum vt_gate_outcome {
    VT_GATE_FAILS,
    VT_GATE_TOLERATED,  /* --max-leaked */
    VT_GATE_SUPPRESSED, /* by a rule */
    VT_GATE_ACCEPTED,   /* in the baseline, and not grown */
};

/* A site that leaks, whatever became of it, or a device past its budget. */
struct vt_gate_finding {
    enum vt_gate_outcome outcome;
    uint32_t process; /* index in the model */
    unsigned device;
    const struct vt_site *site; /* NULL: a device past --max-peak */
    const struct vt_leak *leak; /* what the model made of the site; NULL: nothing */
    uint64_t bytes, blocks;     /* its amount: judged; of a device: its peak, and 0 */
    struct vt_amount amount;    /* of the leak, as is shown; of a device: its peak */
    uint64_t accepted_bytes;    /* the baseline's figure that it grew past; VT_UNKNOWN: not in it */
    int64_t rule;               /* of the suppression; -1 */
    uint64_t group; /* the stack by names, as baselines have it: several lines may share it */
    uint64_t group_bytes, group_blocks; /* of all in the process that share it, not suppressed */
    uint32_t line; /* index into vt_gate.lines; of what does not fail: undefined */
};

/* The failures at one line of the source, in however many processes; or a device's that are past
 * their budget. */
struct vt_gate_line {
    uint32_t first, count; /* of vt_gate.findings, the worst first */
    uint32_t leak;         /* index into vt_gate.leaks */
    uint32_t sites, processes;
    struct vt_amount amount;
    uint64_t live_count, lost_count, went_count, alloc_count;
    const char
        *went_by; /* the call that took its worst failure's; NULL: unknown, or nothing went */
    bool one_device;
    uint64_t badness;
};

/* Lines that rise together, or have one cause for another reason (judge/leaks.c): one mistake. */
struct vt_gate_leak {
    uint32_t first, count; /* of vt_gate.lines, the worst first */
    uint32_t processes;
    struct vt_amount amount;
    uint64_t badness;
};

struct vt_gate_process {
    bool failed;
    uint32_t failures;
    uint64_t leaked_bytes, leaked_blocks; /* of failures and what was tolerated */
    uint64_t shown_bytes;                 /* the same by their amounts */
    uint64_t peak_bytes;                  /* largest of its devices */
    bool outlier; /* it leaks, and holds more than twice what the middle process does */
};

struct vt_gate {
    const struct vt_model *model;
    const struct vt_gate_options *options;
    bool failed;
    struct vt_gate_finding
        *findings; /* failures first, in the order of the leaks and their lines */
    uint32_t count, failures;
    struct vt_gate_line *lines; /* of the failures, in the order of the leaks */
    struct vt_gate_leak *leaks; /* the worst first */
    uint32_t line_count, leak_count;
    struct vt_gate_process *processes; /* as in the model */
    uint32_t *order;                   /* processes by rank, then by what they are: no pids */
    uint64_t counts[4], bytes[4];      /* sites, by outcome */
    uint64_t failing_bytes;            /* of the sites that fail, by their amounts */
};

/* Judges. Both must outlive the result; free it with vt_gate_free. */
void vt_gate_judge(const struct vt_model *model, const struct vt_gate_options *options,
                   struct vt_gate *gate);
void vt_gate_free(struct vt_gate *gate);

/* The leaks that are neither suppressed nor past a budget, as a new baseline. Free it. */
void vt_gate_baseline(const struct vt_gate *gate, struct vt_baseline *baseline);

/* One finding alone, as a line: what is said of it is then of nothing else. */
struct vt_gate_line vt_gate_line_of(const struct vt_gate *gate,
                                    const struct vt_gate_finding *finding);

/* Why it fails, one sentence; what differs from run to run left out where `stable`. Free it. */
char *vt_gate_why(const struct vt_gate *gate, const struct vt_gate_line *line, bool stable);

/* The verdict's name, or "peak". */
const char *vt_gate_kind(const struct vt_gate_finding *finding);

/* "rank 3", or "train.py (pid 4711)", without the pid where `stable`. Free it. */
char *vt_gate_process_name(const struct vt_process *process, bool stable);

/* The process's main word: what a reader calls it. Points into the process. */
const char *vt_gate_program(const struct vt_process *process);

/* How a reader wants the judgement written. */
struct vt_gate_format_options {
    bool stable;             /* nothing that differs from run to run */
    bool colour;             /* text: a terminal that wants it */
    const char *source_root; /* NULL: the working folder */
    char **left_out;         /* logs of other runs in the same folder */
    uint32_t left_out_count;
    char **added; /* logs of the same run that were judged without being named */
    uint32_t added_count;
    const char *written; /* the baseline that was written; NULL: none */
};

#include "check_options.h"

#endif
