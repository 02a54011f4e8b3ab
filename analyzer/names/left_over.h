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

/* Whether the way by the word at an offset in a variable is none, by the variable's type: a word is left
 * over from what was there before, or is text. *last: it is left over, and the way's last. False also if
 * nothing is known. */
bool vt_left_over_is(Dwarf_Die *variable, uint64_t offset, const struct vt_log_around *around,
                     bool *last);

#endif
