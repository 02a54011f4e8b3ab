/* SPDX-License-Identifier: MIT */
/*
 * The leak gate's options (one table for `vramtrace check` and `vramtrace run --check`), and the steps from logs to
 * reports. For cmd_check.c, run_options.c and run_check.c.
 */
#ifndef VRAMTRACE_ANALYZER_CHECK_OPTIONS_H
#define VRAMTRACE_ANALYZER_CHECK_OPTIONS_H

#include "gate.h"

struct vt_gate_format;

struct vt_check_report {
    const struct vt_gate_format *format;
    const char *file; /* "-": the command's output */
};

/* Start it with vt_check_start, free with vt_check_free. */
struct vt_check {
    const struct vt_model_builder *builder;
    struct vt_gate_options gate;
    struct vt_gate_format_options how;
    const struct vt_gate_format *format;
    struct vt_check_report *reports;
    uint32_t report_count, report_room;
    struct vt_texts user_code;
    const char *classes; /* a file with more rows for classes.def; NULL: none */
    struct vt_suppressions suppressions;
    struct vt_baseline baseline;
    struct vt_earlier earlier;
    const char *baseline_file, *write_baseline, *against;
    bool allow_no_cuda, ignore_status, print_suppressions, no_builtin;
    const char
        *last; /* the name of the last option; NULL: none. `run` refuses them without --check */
    struct vt_string words; /* the options that define a failure, one per line, as given */
};

/* They fill struct vt_check; vt_check_note is their `note`. */
extern const struct vt_option vt_check_options[];
void vt_check_note(void *check, const struct vt_option *option, const char *value);

void vt_check_start(struct vt_check *check, const struct vt_model_builder *builder);
void vt_check_free(struct vt_check *check);

/* Reads the suppressions and the baseline. Call it after the last option. Returns 0, or an exit status after printing
 * an error. */
int vt_check_ready(struct vt_check *check);

/* Checks, before a long run, whether all reports can be written to their files. Returns 0, or an exit status after
 * printing an error. */
int vt_check_may_start(const struct vt_check *check);

/* Analyzes logs and writes the reports, the main one to `out`. Returns VT_STATUS_OK, _GATE, _USAGE (a log or an
 * output cannot be used) or _INTERNAL. */
int vt_check_run(struct vt_check *check, char *const *logs, uint32_t count, FILE *out);

#endif
