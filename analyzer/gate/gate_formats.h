/* SPDX-License-Identifier: MIT */
/*
 * The list of the gate's formats, for check_options.c.
 */
#ifndef VRAMTRACE_ANALYZER_GATE_FORMATS_H
#define VRAMTRACE_ANALYZER_GATE_FORMATS_H

#include "gate.h"

struct vt_gate_format {
    const char *name, *help;
    /* Writes everything. Returns 0 or -errno; the caller checks ferror(out). */
    int (*write)(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                 FILE *out);
};

/* Ends with a row whose name is NULL. */
extern const struct vt_gate_format vt_gate_formats[];

const struct vt_gate_format *vt_gate_format_find(const char *name); /* NULL: unknown name */

int vt_gate_text_write(const struct vt_gate *, const struct vt_gate_format_options *, FILE *);
int vt_gate_json_write(const struct vt_gate *, const struct vt_gate_format_options *, FILE *);
int vt_gate_junit_write(const struct vt_gate *, const struct vt_gate_format_options *, FILE *);
int vt_gate_sarif_write(const struct vt_gate *, const struct vt_gate_format_options *, FILE *);
int vt_gate_github_write(const struct vt_gate *, const struct vt_gate_format_options *, FILE *);

#endif
