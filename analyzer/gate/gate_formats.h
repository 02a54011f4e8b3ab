/* SPDX-License-Identifier: MIT */
/*
 * The list of the gate's formats, for check_options.c.
 */
#ifndef VRAMTRACE_ANALYZER_GATE_FORMATS_H
#define VRAMTRACE_ANALYZER_GATE_FORMATS_H

#include "gate.h"

struct vt_gate_page;

struct vt_gate_format {
    const char *name, *help;
    bool shown; /* on a terminal or in a log, which must not interpret its contents */
    void (*write)(const struct vt_gate_page *page);
};

/* Ends with a row whose name is NULL. */
extern const struct vt_gate_format vt_gate_formats[];

const struct vt_gate_format *vt_gate_format_find(const char *name); /* NULL: unknown name */

/* Writes everything. The caller checks ferror(out). */
void vt_gate_write(const struct vt_gate *gate, const struct vt_gate_format *format,
                   const struct vt_gate_format_options *how, FILE *out);

void vt_gate_text_write(const struct vt_gate_page *page);
void vt_gate_json_write(const struct vt_gate_page *page);
void vt_gate_junit_write(const struct vt_gate_page *page);
void vt_gate_sarif_write(const struct vt_gate_page *page);
void vt_gate_github_write(const struct vt_gate_page *page);

#endif
