/* SPDX-License-Identifier: MIT */
/*
 * Whether a stack appends, that is, its allocating operation extends an object and keeps the content. The functions on
 * the stack decide, by the list in appends.def.
 */
#ifndef VRAMTRACE_ANALYZER_APPENDS_H
#define VRAMTRACE_ANALYZER_APPENDS_H

#include "model/model.h"

/* The outermost operation that appends: "cat"; NULL: none. A constant. */
const char *vt_appends_name(const struct vt_stack *stack);

#endif
