/* SPDX-License-Identifier: MIT */
/*
 * Failures as a reader sees them: by line of the source, and lines by leak. For gate.c.
 */
#ifndef VRAMTRACE_ANALYZER_GATE_LINES_H
#define VRAMTRACE_ANALYZER_GATE_LINES_H

#include "gate.h"

/* Of findings that are sorted, failures first: makes the lines and the leaks, and sorts the failures
 * by these. */
void vt_gate_lines_make(struct vt_gate *gate);

#endif
