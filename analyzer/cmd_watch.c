/* SPDX-License-Identifier: MIT */
/*
 * vramtrace watch: parses its options, and runs the live view.
 */
#include "commands.h"
#include "build.h"
#include "cmd_options.h"
#include "names/names.h"
#include "watch/watch.h"

#include <stdlib.h>

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

static void print_help(void) {
    fputs(help, stdout);
}

enum { O_INTERVAL = 256, O_ONCE, O_FORMAT, O_PROMETHEUS, O_TOP, O_OWN };

static const struct option long_options[] = {
    {"interval", required_argument, NULL, O_INTERVAL},
    {"once", no_argument, NULL, O_ONCE},
    {"format", required_argument, NULL, O_FORMAT},
    {"prometheus", required_argument, NULL, O_PROMETHEUS},
    {"top", required_argument, NULL, O_TOP},
    {"own", required_argument, NULL, O_OWN},
    VT_CMD_HELP,
    {NULL, 0, NULL, 0},
};

struct options {
    struct vt_watch_options watch;
    struct vt_texts user_code;
};

static int take_option(void *to, int option) {
    struct vt_watch_options *o = &((struct options *)to)->watch;
    switch (option) {
    case O_INTERVAL:
        o->interval = vt_cmd_milliseconds(optarg) * 1000000ull;
        return o->interval ? 0
                           : vt_usage("watch", "--interval %s: expected seconds, above 0", optarg);
    case O_ONCE:
        o->once = true;
        return 0;
    case O_FORMAT:
        return vt_cmd_json("watch", &o->json);
    case O_PROMETHEUS:
        o->prometheus = optarg;
        return vt_usage_output("watch", "--prometheus", optarg);
    case O_TOP:
        return vt_cmd_top("watch", &o->top);
    case O_OWN:
        vt_texts_add(&((struct options *)to)->user_code, optarg);
        return 0;
    }
    return 0;
}

static int watch(void *to, char *const *arguments, int count) {
    struct options *o = to;
    o->watch.words = arguments;
    o->watch.word_count = count;
    o->watch.model.user_code = o->user_code.items;
    o->watch.model.symbols = vt_symbols_open(); /* names are looked up once, not at each refresh */
    int status = vt_watch_run(&o->watch);
    vt_symbols_close(o->watch.model.symbols);
    return status;
}

int vt_cmd_watch(int argc, char **argv) {
    static const struct vt_cmd_options options = {"watch", long_options, print_help, take_option,
                                                  watch};
    struct options o = {
        .watch = {.model = {.device = -1}, .builder = &vt_builder, .interval = 1000000000ull}};
    int status = vt_cmd_options_run(&options, argc, argv, &o);
    free(o.user_code.items);
    return status;
}
