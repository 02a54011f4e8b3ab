/* SPDX-License-Identifier: MIT */
/* The version of the project: of the tracer, written into each log, and of the command. */
#ifndef VRAMTRACE_VERSION_H
#define VRAMTRACE_VERSION_H

#define VT_VERSION "0.1.0"

#endif
