/* SPDX-License-Identifier: MIT */
/*
 * vramtrace watch: parses its options, and runs the live view.
 */
#include "commands.h"
#include "build.h"
#include "symbols/symbols.h"
#include "watch/watch.h"

#include <stdlib.h>

struct options {
    struct vt_watch_options watch;
    unsigned interval_ms;
    struct vt_texts user_code;
};

static int watch(void *to, char *const *arguments, int count) {
    struct options *o = to;
    o->watch.words = arguments;
    o->watch.word_count = count;
    o->watch.interval = o->interval_ms * 1000000ull;
    o->watch.model.user_code = o->user_code.items;
    o->watch.model.symbols =
        vt_symbols_open(NULL); /* names are looked up once, not at each refresh */
    int status = vt_watch_run(&o->watch);
    vt_symbols_close(o->watch.model.symbols);
    return status;
}

#define AT(field) .at = offsetof(struct options, field)

static const struct vt_option rows[] = {
    {"interval", " SECONDS",
     "between refreshes (1); longer for a long log, so that a tenth of a core is enough",
     vt_parse_milliseconds, AT(interval_ms)},
    {"once", NULL, "print one frame as text, without a screen", vt_parse_flag, AT(watch.once)},
    {"format", " text|json",
     "json: one frame with --once, else a line for each refresh until all processes have ended",
     vt_parse_json, AT(watch.json)},
    {"prometheus", " FILE",
     "also write each frame as metrics for node_exporter's textfile collector", vt_parse_output,
     AT(watch.prometheus)},
    {"top", " N", "lines of a process (--once: 10; metrics: 20; json: all)", vt_parse_count,
     AT(watch.top)},
    {"own", " PATTERN", "your own code: frames whose function, file or module match",
     vt_parse_texts, AT(user_code)},
    VT_OPTION_HELP,
    {.name = NULL},
};

int vt_cmd_watch(int argc, char **argv) {
    static const struct vt_options options = {
        .command = "watch",
        .usage = "usage: vramtrace watch [options] [PID|LOG...]\n"
                 "\n"
                 "Follows running processes by their logs alone: devices, the largest lines and\n"
                 "how they grow, phases, failed allocations. PID: a traced process, with its\n"
                 "children; LOG: a log, which may not exist yet, or a folder: its newest run.\n"
                 "Default: the newest run here. When a process has ended, its report is shown.\n"
                 "\n",
        .after = "\nKeys: h explains them; o asks the process for its owners, q quits.\n",
        .column = 22,
        .all = {{.rows = rows}},
        .run = watch,
    };
    struct options o = {.watch = {.model = {.device = -1}, .builder = &vt_builder},
                        .interval_ms = 1000};
    int status = vt_options_run(&options, argc, argv, &o);
    free(o.user_code.items);
    return status;
}
