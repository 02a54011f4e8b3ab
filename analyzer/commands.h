/* SPDX-License-Identifier: MIT */
/*
 * The shape of the commands table. main.c holds the table; each cmd_NAME.c holds the one entry
 * `vt_cmd_NAME`.
 */
#ifndef VRAMTRACE_ANALYZER_COMMANDS_H
#define VRAMTRACE_ANALYZER_COMMANDS_H

#include "base/base.h"

/* One row of the commands table. `entry` gets argv with argv[0] = the command's name, and returns
 * the exit status. */
struct vt_command {
    const char *name;
    const char *help; /* one line, no full stop */
    int (*entry)(int argc, char **argv);
};

int vt_cmd_run(int argc, char **argv);
int vt_cmd_report(int argc, char **argv);
int vt_cmd_check(int argc, char **argv);
int vt_cmd_diff(int argc, char **argv);
int vt_cmd_dump(int argc, char **argv);

#endif
