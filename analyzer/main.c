/* SPDX-License-Identifier: MIT */
/*
 * vramtrace: the list of commands. Each is in a file cmd_NAME.c, which parses its options, builds
 * the model and chooses a format.
 */
#include "commands.h"

#include "vramtrace/log_format.h"
#include "vramtrace/version.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Ends with a row whose name is NULL. */
static const struct vt_command commands[] = {
    {"run", "run a command with its GPU memory traced", vt_cmd_run},
    {"report", "explain a run: leaks, failed allocations, devices and peaks", vt_cmd_report},
    {"check", "the leak gate for CI: pass or fail a run", vt_cmd_check},
    {"diff", "show what changed between two runs", vt_cmd_diff},
    {"export", "write a run as a file for another tool", vt_cmd_export},
    {"snapshot", "ask a running process what holds its GPU memory", vt_cmd_snapshot},
    {"watch", "follow running processes: what they hold, and what grows", vt_cmd_watch},
    {"dump", "print a log's records, one per line", vt_cmd_dump},
    {NULL, NULL, NULL},
};

static void usage(FILE *out) {
    fputs("usage: vramtrace COMMAND [options] [LOG...]\n"
          "\n"
          "Traces every GPU memory allocation of a process with its call stack, and\n"
          "explains it afterwards.\n"
          "\n",
          out);
    for (const struct vt_command *c = commands; c->name; c++)
        fprintf(out, "  %-8s %s\n", c->name, c->help);
    fputs("\n"
          "'vramtrace COMMAND --help' explains a command. Without `run`:\n"
          "  LD_PRELOAD=/path/libvramtrace.so CMD...\n",
          out);
}

int main(int argc, char **argv) {
    /* `vramtrace report | head` must not end with a signal: each command checks its output for
     * errors */
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        usage(stderr);
        return VT_STATUS_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        usage(stdout);
        return VT_STATUS_OK;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        printf("vramtrace %s (reads logs of format version %u to %u)\n", VT_VERSION,
               VT_LOG_VERSION_MIN, VT_LOG_VERSION);
        return VT_STATUS_OK;
    }
    for (const struct vt_command *c = commands; c->name; c++)
        if (!strcmp(argv[1], c->name))
            return c->entry(argc - 1, argv + 1);
    vt_error("unknown command '%s'; 'vramtrace --help' lists them", argv[1]);
    return VT_STATUS_USAGE;
}
