/* SPDX-License-Identifier: MIT */
/*
 * vramtrace snapshot: asks a running process for the owners of its memory, waits for the answer in
 * its log, and prints that.
 */
#include "commands.h"
#include "build.h"
#include "cmd_options.h"
#include "log/log.h"
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_SECONDS 10

static const char help[] =
    "usage: vramtrace snapshot [options] PID\n"
    "\n"
    "Asks a traced process which variables, lists and attributes hold its GPU memory\n"
    "now, and prints them. The process answers at its next event: when it allocates\n"
    "or frees memory, or begins or ends a phase.\n"
    "\n"
    "  --timeout SECONDS  wait for at most so long (10)\n"
    "  --top N            rows of the list (10)\n"
    "  --format text|json json: the report on the process so far\n"
    "  --own PATTERN      your own code: frames whose function, file or module match\n"
    "  --help             print this text\n";

static void print_help(void) {
    fputs(help, stdout);
}

enum { O_TIMEOUT = 256, O_TOP, O_FORMAT, O_OWN };

static const struct option long_options[] = {
    {"timeout", required_argument, NULL, O_TIMEOUT},
    {"top", required_argument, NULL, O_TOP},
    {"format", required_argument, NULL, O_FORMAT},
    {"own", required_argument, NULL, O_OWN},
    VT_CMD_HELP,
    {NULL, 0, NULL, 0},
};

struct options {
    unsigned timeout_ms;
    bool json;
    struct vt_format_options format;
    struct vt_texts user_code;
};

static int take_option(void *to, int option) {
    struct options *o = to;
    switch (option) {
    case O_TIMEOUT:
        o->timeout_ms = (unsigned)vt_cmd_milliseconds(optarg);
        return o->timeout_ms
                   ? 0
                   : vt_usage("snapshot", "--timeout %s: expected seconds, above 0", optarg);
    case O_TOP:
        return vt_cmd_top("snapshot", &o->format.top);
    case O_FORMAT:
        return vt_cmd_json("snapshot", &o->json);
    case O_OWN:
        vt_texts_add(&o->user_code, optarg);
        return 0;
    }
    return 0;
}

static int print(const char *log, const struct options *o) {
    struct vt_model model;
    struct vt_string message = {0};
    struct vt_model_options options = {.device = -1, .user_code = o->user_code.items};
    int status = vt_error_status(vt_build_model(&log, 1, &options, &model, &message), &message);
    if (status)
        return status;
    int error = o->json ? vt_fmt_json_write(&model, &o->format, stdout)
                        : vt_fmt_text_owners(&model, &o->format, stdout);
    if (fflush(stdout) || ferror(stdout))
        error = errno ? -errno : -EIO;
    vt_build_free(&model);
    if (!error || error == -EPIPE)
        return VT_STATUS_OK;
    vt_error("standard output: %s", strerror(-error));
    return VT_STATUS_INTERNAL;
}

static int explain(unsigned pid, const char *log, enum vt_answer answer, const struct options *o) {
    switch (answer) {
    case VT_ANSWER_NONE:
        vt_error("process %u, %s: expected an answer within %g s, found none: it answers when it "
                 "next allocates "
                 "or frees GPU memory, or begins or ends a phase (--timeout)",
                 pid, log, o->timeout_ms / 1000.0);
        break;
    case VT_ANSWER_REFUSED:
        vt_error("process %u, %s: expected a snapshot, found that none could be taken: "
                 "VRAMTRACE_SNAPSHOT=off, "
                 "it holds no memory, or it could not be copied (vramtrace report says why)",
                 pid, log);
        break;
    default:
        vt_error("process %u, %s: expected an answer, found that the process ended", pid, log);
    }
    return VT_STATUS_INTERNAL;
}

static int ask(unsigned pid, const struct options *o) {
    struct vt_string message = {0};
    enum vt_answer answer = VT_ANSWER_NONE;
    char *log = vt_request_log(pid, &message);
    int error =
        log ? vt_request_snapshot(pid, log, o->timeout_ms, NULL, &answer, &message) : -ESRCH;
    int status = vt_error_status(error, &message) ? VT_STATUS_INTERNAL : VT_STATUS_OK;
    if (!status)
        status = answer == VT_ANSWER_TAKEN ? print(log, o) : explain(pid, log, answer, o);
    free(log);
    return status;
}

static int snapshot(void *to, char *const *arguments, int count) {
    struct options *o = to;
    if (count != 1)
        return vt_usage("snapshot", "expected one PID, found %d", count);
    unsigned long pid = vt_cmd_number(arguments[0], INT32_MAX);
    if (!pid)
        return vt_usage("snapshot", "expected a PID, found '%s'", arguments[0]);
    o->format.colour = !o->json && vt_wants_colour(1);
    return ask((unsigned)pid, o);
}

int vt_cmd_snapshot(int argc, char **argv) {
    static const struct vt_cmd_options options = {"snapshot", long_options, print_help, take_option,
                                                  snapshot};
    struct options o = {.timeout_ms = TIMEOUT_SECONDS * 1000};
    int status = vt_cmd_options_run(&options, argc, argv, &o);
    free(o.user_code.items);
    return status;
}
