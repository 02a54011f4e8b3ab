/* SPDX-License-Identifier: MIT */
/*
 * A command's options: the way through its command line, and the numbers in it. For the cmd_*.c files.
 */
#ifndef VRAMTRACE_ANALYZER_CMD_OPTIONS_H
#define VRAMTRACE_ANALYZER_CMD_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

/* A command with its options, which are kept in `to`. Both functions return 0, or an exit status after
 * they printed an error. */
struct vt_cmd_options {
    const char *command;               /* "report": messages name it */
    const struct option *table;        /* getopt's; a row whose value is 'o' is -o, too */
    void (*help)(void);                /* prints what --help prints */
    int (*take)(void *to, int option); /* takes an option, whose value is optarg */
    int (*run)(void *to, char *const *arguments, int count); /* then runs on the other arguments */
};

/* The row of --help in a table. */
#define VT_CMD_HELP                                                                                \
    { "help", no_argument, NULL, 'h' }

/* Takes all options, and runs the command, or prints its help. Returns the exit status. */
int vt_cmd_options_run(const struct vt_cmd_options *options, int argc, char **argv, void *to);

/* A decimal number above 0. 0: it is none, or more than `most`. */
unsigned long vt_cmd_number(const char *text, unsigned long most);

/* Values of options that several commands have, from optarg: --top, a number of at least 1; --format text|json.
 * They return 0, or an exit status after they printed an error. */
int vt_cmd_top(const char *command, uint32_t *top);
int vt_cmd_json(const char *command, bool *json);

/* Seconds, with or without decimals, as milliseconds. 0: it is no such number. */
unsigned long vt_cmd_milliseconds(const char *text);

#endif
