/* SPDX-License-Identifier: MIT */
/*
 * vramtrace: the list of commands. Each is in a file cmd_NAME.c, which parses its options, builds
 * the model and chooses a format.
 */
#define _GNU_SOURCE
#include "commands.h"

#include "vramtrace/log_format.h"
#include "vramtrace/version.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Ends with a row whose name is NULL. */
static const struct vt_command commands[] = {
    {"run", "run a command with its GPU memory traced", vt_cmd_run},
    {"report", "explain a run: leaks, failed allocations, devices and peaks", vt_cmd_report},
    {"check", "the leak gate for CI: pass or fail a run", vt_cmd_check},
    {"diff", "show what changed between two runs", vt_cmd_diff},
    {"fit", "predict on which cards, and with which settings, a run would fit", vt_cmd_fit},
    {"export", "write a run as a file for another tool", vt_cmd_export},
    {"merge", "merge many logs into one small file, which other tools read", vt_cmd_merge},
    {"compact", "release the space of a long log's older events", vt_cmd_compact},
    {"pack", "pack a log into one file that any machine can read", vt_cmd_pack},
    {"snapshot", "find the owners of a running process's GPU memory", vt_cmd_snapshot},
    {"watch", "follow running processes: their memory, and what grows", vt_cmd_watch},
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

static const struct vt_command *find_command(const char *name) {
    for (const struct vt_command *c = commands; c->name; c++)
        if (!strcmp(name, c->name))
            return c;
    return NULL;
}

static int unknown_command(const char *word) {
    static const struct option own[] = {{"help", 0, NULL, 0}, {"version", 0, NULL, 0}, {0}};
    const struct vt_command *nearest = NULL;
    unsigned least = VT_SLIPS_MANY;
    for (const struct vt_command *c = commands; c->name; c++) {
        unsigned slips = vt_slips(word, c->name);
        nearest = slips < least ? c : nearest;
        least = slips < least ? slips : least;
    }
    const char *option = word[0] == '-' ? vt_option_nearest(word, own) : NULL;
    if (nearest)
        vt_error("unknown command '%s'; did you mean 'vramtrace %s'?", word, nearest->name);
    else if (option)
        vt_error("unknown option '%s'; did you mean --%s?", word, option);
    else if (word[0] == '-')
        vt_error("unknown option '%s'; 'vramtrace --help' lists the commands", word);
    else
        vt_error("unknown command '%s'; 'vramtrace run %s ...' traces a program, "
                 "'vramtrace --help' lists the commands",
                 word, word);
    return VT_STATUS_USAGE;
}

/* Closed standard descriptors stay unusable, but none of our files may get their numbers, or messages would be
 * written into it. The command of `run` also starts without them. */
static void open_closed(void) {
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/", O_PATH | O_CLOEXEC);
}

int main(int argc, char **argv) {
    open_closed();
    /* `vramtrace report | head` must not end with a signal, nor at a file size limit: each command checks its output
     * for errors. `run` restores the original settings for its command. */
    if (argc < 2 || strcmp(argv[1], "run") != 0) {
        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN);
    }
    /* Always return large arrays to the system when freed; by default glibc begins to keep them. */
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    if (argc < 2) {
        usage(stderr);
        return VT_STATUS_USAGE;
    }
    if (!strcmp(argv[1], "help") && argc == 3) {
        char *words[] = {argv[2], "--help", NULL};
        const struct vt_command *asked = find_command(argv[2]);
        return asked ? asked->entry(2, words) : unknown_command(argv[2]);
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        usage(stdout);
        return VT_STATUS_OK;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        printf("vramtrace %s (reads logs of format version %u)\n", VT_VERSION, VT_LOG_VERSION);
        return VT_STATUS_OK;
    }
    const struct vt_command *command = find_command(argv[1]);
    return command ? command->entry(argc - 1, argv + 1) : unknown_command(argv[1]);
}
