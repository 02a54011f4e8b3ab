/* SPDX-License-Identifier: MIT */
/*
 * An optional, a variant or a function of C++ that was reset keeps the bytes of what it held. For
 * symbolize.c.
 */
#ifndef VRAMTRACE_ANALYZER_LEFT_OVER_H
#define VRAMTRACE_ANALYZER_LEFT_OVER_H

#include "base/base.h"
#include "log/log.h"

#include <elfutils/libdw.h>

/* Whether the word at an offset in a variable is left over from what was there before, by the variable's
 * type. False also if that is not known. */
bool vt_left_over_is(Dwarf_Die *variable, uint64_t offset, const struct vt_log_around *around);

#endif
