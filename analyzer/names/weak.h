/* SPDX-License-Identifier: MIT */
/*
 * A std::weak_ptr looks like a std::shared_ptr in memory. For symbolize.c.
 */
#ifndef VRAMTRACE_ANALYZER_WEAK_H
#define VRAMTRACE_ANALYZER_WEAK_H

#include "base/base.h"
#include "symbolize.h"

#include <elfutils/libdw.h>

enum vt_weak vt_weak_of(Dwarf_Die *variable);

#endif
