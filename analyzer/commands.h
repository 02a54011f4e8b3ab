/* SPDX-License-Identifier: MIT */
/*
 * What every command shares: the shape of the commands table, the exit statuses that scripts rely
 * on, and how an error is said. main.c holds the table; each cmd_NAME.c holds the one entry
 * `vt_cmd_NAME`.
 */
#ifndef VRAMTRACE_ANALYZER_COMMANDS_H
#define VRAMTRACE_ANALYZER_COMMANDS_H

#define VT_TOOL_VERSION "0.1.0"

/* Exit statuses of `vramtrace`. `run` passes the command's own status through beside these. */
enum vt_status {
    VT_STATUS_OK = 0,
    VT_STATUS_INTERNAL = 1, /* a fault of ours, or no memory */
    VT_STATUS_USAGE = 2,    /* a bad option, or a log that cannot be read */
    VT_STATUS_GATE = 23,    /* the leak gate failed: LeakSanitizer's number */
    VT_STATUS_CANNOT_TRACE = 125,
    VT_STATUS_NOT_EXECUTABLE = 126,
    VT_STATUS_NOT_FOUND = 127,
};

/* One row of the commands table. `entry` gets argv with argv[0] = the command's name, and returns
 * the exit status. */
struct vt_command {
    const char *name;
    const char *help; /* one line, no full stop */
    int (*entry)(int argc, char **argv);
};

/* Ends with a row whose name is NULL. */
extern const struct vt_command vt_commands[];

/* One line on stderr, "vramtrace: " in front and a newline behind; colour only on a terminal
 * without NO_COLOR. */
void vt_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* vt_error, then "try 'vramtrace COMMAND --help'". Returns VT_STATUS_USAGE, so that a command can
 * return it. */
int vt_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

int vt_cmd_run(int argc, char **argv);
int vt_cmd_report(int argc, char **argv);
int vt_cmd_check(int argc, char **argv);
int vt_cmd_diff(int argc, char **argv);
int vt_cmd_dump(int argc, char **argv);

#endif
