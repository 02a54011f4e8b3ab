/* SPDX-License-Identifier: MIT */
/* Names of functions and variables as their authors wrote them. For symbolize.c. */
#ifndef VRAMTRACE_ANALYZER_DEMANGLE_H
#define VRAMTRACE_ANALYZER_DEMANGLE_H

/* What a compiler of C++, Rust, D or Fortran made of a name, undone; without the hashes of Rust, which
 * change from build to build. NULL: it is none of theirs. Free it. */
char *vt_demangle_symbol(const char *name);

/* The same for a type of C++ ("N3foo3BarE"). */
char *vt_demangle_type(const char *name);

#endif
