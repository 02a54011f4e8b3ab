/* SPDX-License-Identifier: MIT */
/*
 * vramtrace compact: writes a log's summary, and releases the space that it covers.
 */
#define _GNU_SOURCE
#include "commands.h"
#include "compact/compact.h"
#include "cmd_input.h"
#include "logfile/logfile.h"
#include "report/report.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct options {
    bool follow;
};

static bool interrupted;

static void interrupt(int number) {
    (void)number;
    __atomic_store_n(&interrupted, true, __ATOMIC_RELEASE);
}

/* The log's path, from a path or a PID. Free it. NULL, with `message`: none. Root uses the rights of the log's user,
 * because this user may exchange the folders above the log at any time. */
static char *log_of(const char *argument, struct vt_string *message) {
    unsigned long pid = vt_option_number(argument, INT32_MAX);
    if (pid)
        return vt_request_log((unsigned)pid, message);
    vt_rights_note_owner(argument);
    return vt_strdup(argument);
}

static void print_result(const char *path, const struct vt_compactor *compactor) {
    struct vt_compacted done = vt_compactor_done(compactor);
    VT_SCOPED char *shown = vt_printable(vt_strdup(path));
    if (!done.until_ns) {
        vt_print(stdout, "%s: not compacted: it is small\n", shown);
        return;
    }
    vt_print(stdout, "%s: compacted up to %s\n", shown, VT_DURATION(done.until_ns));
    printf("  %-10s  summary\n  %-10s  given back\n  %-10s  the log, on the disk\n",
           VT_BYTES(done.summary_bytes), VT_BYTES(done.chunks * VT_CHUNK_BYTES),
           VT_BYTES(done.log_bytes));
}

static int follow(struct vt_compactor *compactor, struct vt_string *message) {
    bool ended = false;
    int error = 0;
    while (!error && !ended && !interrupted) {
        error = vt_compactor_go_on(compactor, &ended, message);
        nanosleep(&(struct timespec){0, vt_compactor_wait_ms(compactor) * 1000000l}, NULL);
    }
    return error;
}

static int compact(void *to, char *const *arguments, int count) {
    const struct options *o = to;
    struct vt_string message = {0};
    struct vt_compactor *compactor = NULL;
    if (count != 1)
        return vt_usage("compact", "expected one log or PID, found %d", count);
    VT_SCOPED char *path = log_of(arguments[0], &message);
    VT_SCOPED_RIGHTS rights = path ? vt_rights_lower(path) : 0;
    int error = !path        ? -ESRCH
                : rights < 0 ? vt_rights_refuse(path, &message)
                             : vt_compactor_open(path, &compactor, &message);
    if (!error && o->follow) {
        signal(SIGINT, interrupt);
        signal(SIGTERM, interrupt);
        error = follow(compactor, &message);
    } else if (!error) {
        error = vt_compactor_compact(compactor, &message);
    }
    if (!error)
        print_result(path, compactor);
    vt_compactor_close(compactor);
    int status = vt_error_status(error, &message);
    return status ? status : vt_output_close(NULL, NULL, 0);
}

#define AT(field) .at = offsetof(struct options, field)

static const struct vt_option rows[] = {
    {"follow", NULL, "go on for as long as the process runs", vt_parse_flag, AT(follow)},
    VT_OPTION_HELP,
    {.name = NULL},
};

int vt_cmd_compact(int argc, char **argv) {
    static const struct vt_options options = {
        .command = "compact",
        .usage = "usage: vramtrace compact [options] LOG|PID\n"
                 "\n"
                 "Writes what a log shows so far to LOG.summary, and lets the process use the\n"
                 "space again. Figures, leaks, owners and failed allocations stay exact for the\n"
                 "whole run; single events are discarded. `vramtrace run` does it by itself.\n"
                 "\n",
        .column = 21,
        .all = {{.rows = rows}},
        .run = compact,
    };
    struct options o = {0};
    return vt_options_run(&options, argc, argv, &o);
}
