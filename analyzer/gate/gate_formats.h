/* SPDX-License-Identifier: MIT */
/*
 * THE list of the gate's formats. Each receives the finished judgement and writes it; none decides
 * anything. For check_options.c.
 */
#ifndef VRAMTRACE_ANALYZER_GATE_FORMATS_H
#define VRAMTRACE_ANALYZER_GATE_FORMATS_H

#include "gate.h"

struct vt_gate_format_options {
    bool stable;             /* nothing that differs from run to run */
    bool colour;             /* text: a terminal that wants it */
    const char *source_root; /* NULL: the working folder */
    char **left_out;         /* logs of other runs in the same folder */
    uint32_t left_out_count;
    const char *written; /* the baseline that was written; NULL: none */
};

struct vt_gate_format {
    const char *name, *help;
    /* Writes the whole. 0 or -errno; what ferror says of `out` is the caller's to check. */
    int (*write)(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                 FILE *out);
};

/* Ends with a row whose name is NULL. */
extern const struct vt_gate_format vt_gate_formats[];

const struct vt_gate_format *vt_gate_format_find(const char *name); /* NULL: there is none */

int vt_gate_text_write(const struct vt_gate *, const struct vt_gate_format_options *, FILE *);
int vt_gate_json_write(const struct vt_gate *, const struct vt_gate_format_options *, FILE *);
int vt_fmt_junit_write(const struct vt_gate *, const struct vt_gate_format_options *, FILE *);
int vt_fmt_sarif_write(const struct vt_gate *, const struct vt_gate_format_options *, FILE *);
int vt_fmt_github_write(const struct vt_gate *, const struct vt_gate_format_options *, FILE *);

/* What the formats share. -- */

/* Where a code host shows a finding: a file below the source root. Everything NULL or 0 where no
 * frame has one. Free `file`. */
struct vt_gate_location {
    char *file;    /* relative to the source root; absolute where it lies elsewhere */
    bool inside;   /* below the source root */
    uint32_t line; /* 0: unknown */
    const struct vt_frame *frame;
};
void vt_gate_location_find(const struct vt_process *process, const struct vt_stack *stack,
                           const char *source_root, struct vt_gate_location *location);
void vt_gate_location_of(const struct vt_process *process, const struct vt_frame *frame,
                         const char *source_root, struct vt_gate_location *location);

/* "12.0 MiB in 6 blocks allocated at leak.c:41 in new_buffer, unfreed: ..." Free it. */
char *vt_gate_sentence(const struct vt_gate *gate, const struct vt_gate_finding *finding,
                       bool stable);

/* The verdict's name, or "peak". */
const char *vt_gate_kind(const struct vt_gate_finding *finding);

/* What the reader of a judgement must know of a process, whatever came out: that memory went with a
 * context which the program never freed, and so was not judged. A sentence, with the process's name
 * where there are several. Free it. NULL: nothing. */
char *vt_gate_note(const struct vt_gate *gate, const struct vt_process *process, bool stable);

/* How many events the logs lost: figures are then lower bounds. */
uint64_t vt_gate_dropped(const struct vt_gate *gate);

/* "passed: nothing leaked", "FAILED: 2 leaks, 13.0 MiB": the judgement in a line. Free it. */
char *vt_gate_headline(const struct vt_gate *gate);

#endif
