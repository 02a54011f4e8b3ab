/* SPDX-License-Identifier: MIT */
/* The project's version, which the command prints and each log contains. */
#ifndef VRAMTRACE_VERSION_H
#define VRAMTRACE_VERSION_H

#define VT_VERSION "0.1.0"

#endif
