/* SPDX-License-Identifier: MIT */
/*
 * Failures as reports show them: by source line, and lines by leak. For gate.c.
 */
#ifndef VRAMTRACE_ANALYZER_GATE_LINES_H
#define VRAMTRACE_ANALYZER_GATE_LINES_H

#include "gate.h"

/* Makes the gate's lines and leaks, and sorts the failures by them. The findings must be sorted,
 * with the failures first. */
void vt_gate_lines_make(struct vt_gate *gate);

#endif
