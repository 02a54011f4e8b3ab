/* SPDX-License-Identifier: MIT */
/*
 * The limits of `growing` as constants: growth_limits.def has the list, and says what each is for.
 */
#ifndef VRAMTRACE_ANALYZER_GROWTH_LIMITS_H
#define VRAMTRACE_ANALYZER_GROWTH_LIMITS_H

enum {
#define VT_GROWTH_COUNT(name, value, ...) name = (value),
#include "growth_limits.def"
};

#define VT_GROWTH_REAL(name, value, ...) static const double name = (value);
#include "growth_limits.def"

#endif
