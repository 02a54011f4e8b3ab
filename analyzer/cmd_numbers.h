/* SPDX-License-Identifier: MIT */
/*
 * Numbers among a command's options. For the cmd_*.c files.
 */
#ifndef VRAMTRACE_ANALYZER_CMD_NUMBERS_H
#define VRAMTRACE_ANALYZER_CMD_NUMBERS_H

/* A decimal number above 0. 0: it is none, or more than `most`. */
unsigned long vt_cmd_number(const char *text, unsigned long most);

/* Seconds, with or without decimals, as milliseconds. 0: it is no such number. */
unsigned long vt_cmd_milliseconds(const char *text);

#endif
