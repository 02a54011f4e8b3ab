/* SPDX-License-Identifier: MIT */
/*
 * vramtrace watch: parses its options, and runs the live view.
 */
#include "commands.h"
#include "build.h"
#include "cmd_numbers.h"
#include "names/names.h"
#include "watch/watch.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: vramtrace watch [options] [PID|LOG...]\n"
    "\n"
    "Follows running processes by their logs alone: devices, the largest lines and\n"
    "how they grow, phases, failed allocations. PID: a traced process, with its\n"
    "children; LOG: a log, which need not be there yet, or a folder: its newest run.\n"
    "Default: the newest run here. When a process has ended, its report is shown.\n"
    "\n"
    "  --interval SECONDS  between two refreshes (1); more where the log is long, so\n"
    "                      that a tenth of a core is enough\n"
    "  --once              print one frame as text, without a screen\n"
    "  --format text|json  json: one frame with --once, else a line for each refresh\n"
    "                      until all processes have ended\n"
    "  --prometheus FILE   write each frame as metrics for node_exporter's textfile\n"
    "                      collector, too\n"
    "  --top N             lines of a process (--once: 10; metrics: 20; json: all)\n"
    "  --own PATTERN       your own code: frames whose function, file or module match\n"
    "  --help              print this text\n"
    "\n"
    "Keys: h explains them; o asks the process for its owners, q quits.\n";

enum { O_INTERVAL = 256, O_ONCE, O_FORMAT, O_PROMETHEUS, O_TOP, O_OWN, O_HELP };

static const struct option long_options[] = {
    {"interval", required_argument, NULL, O_INTERVAL},
    {"once", no_argument, NULL, O_ONCE},
    {"format", required_argument, NULL, O_FORMAT},
    {"prometheus", required_argument, NULL, O_PROMETHEUS},
    {"top", required_argument, NULL, O_TOP},
    {"own", required_argument, NULL, O_OWN},
    {"help", no_argument, NULL, O_HELP},
    {NULL, 0, NULL, 0},
};

static int parse_option(int option, struct vt_watch_options *o, struct vt_texts *user_code) {
    switch (option) {
    case O_INTERVAL:
        o->interval = vt_cmd_milliseconds(optarg) * 1000000ull;
        return o->interval ? 0
                           : vt_usage("watch", "--interval %s: expected seconds, above 0", optarg);
    case O_ONCE:
        o->once = true;
        return 0;
    case O_FORMAT:
        o->json = !strcmp(optarg, "json");
        return o->json || !strcmp(optarg, "text")
                   ? 0
                   : vt_usage("watch", "--format %s: expected text or json", optarg);
    case O_PROMETHEUS:
        o->prometheus = optarg;
        return vt_usage_output("watch", "--prometheus", optarg);
    case O_TOP:
        o->top = (uint32_t)vt_cmd_number(optarg, UINT32_MAX);
        return o->top ? 0 : vt_usage("watch", "--top %s: expected a number of at least 1", optarg);
    case O_OWN:
        vt_texts_add(user_code, optarg);
        return 0;
    }
    return 0;
}

/* A number that is no file is a process, which has to be there. */
static int check_words(char *const *words, int count) {
    for (int i = 0; i < count; i++) {
        unsigned long pid = vt_cmd_number(words[i], INT32_MAX);
        if (!pid || !access(words[i], F_OK) || !kill((pid_t)pid, 0) || errno != ESRCH)
            continue;
        vt_error("process %lu: there is none", pid);
        return VT_STATUS_INTERNAL;
    }
    return VT_STATUS_OK;
}

int vt_cmd_watch(int argc, char **argv) {
    struct vt_texts user_code = {0};
    struct vt_watch_options o = {
        .model = {.device = -1}, .builder = &vt_builder, .interval = 1000000000ull};
    int option, status = 0;
    opterr = 0;
    optind = 1;
    while (!status && (option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (option == O_HELP || option == 'h') {
            fputs(help, stdout);
            free(user_code.items);
            return VT_STATUS_OK;
        }
        if (option == ':')
            status = vt_usage("watch", "%s: expected a value", argv[optind - 1]);
        else if (option == '?')
            status = vt_usage("watch", "unknown option '%s'", argv[optind - 1]);
        else
            status = parse_option(option, &o, &user_code);
    }
    o.words = argv + optind;
    o.word_count = argc - optind;
    if (!status)
        status = check_words(o.words, o.word_count);
    if (!status) {
        /* names are looked up once, not at each refresh */
        o.model.symbols = vt_symbols_open();
        o.model.user_code = user_code.items;
        status = vt_watch_run(&o);
        vt_symbols_close(o.model.symbols);
    }
    free(user_code.items);
    return status;
}
