/* SPDX-License-Identifier: MIT */
/*
 * The commands. main.c has the table; each cmd_NAME.c has `vt_cmd_NAME`.
 */
#ifndef VRAMTRACE_ANALYZER_COMMANDS_H
#define VRAMTRACE_ANALYZER_COMMANDS_H

#include "base/base.h"

/* A row of the table. `entry` gets the command's name as argv[0], and returns the exit status. */
struct vt_command {
    const char *name;
    const char *help; /* one line without a full stop */
    int (*entry)(int argc, char **argv);
};

int vt_cmd_run(int argc, char **argv);
int vt_cmd_report(int argc, char **argv);
int vt_cmd_check(int argc, char **argv);
int vt_cmd_diff(int argc, char **argv);
/* Its --run all. */
struct vt_model_options;
int vt_cmd_diff_runs(char *const folders[2], const struct vt_model_options *options, bool json,
                     uint32_t top);
int vt_cmd_fit(int argc, char **argv);
int vt_cmd_export(int argc, char **argv);
int vt_cmd_snapshot(int argc, char **argv);
int vt_cmd_merge(int argc, char **argv);
int vt_cmd_compact(int argc, char **argv);
int vt_cmd_pack(int argc, char **argv);
int vt_cmd_watch(int argc, char **argv);
int vt_cmd_dump(int argc, char **argv);

#endif
