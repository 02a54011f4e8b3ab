/* SPDX-License-Identifier: MIT */
/*
 * vramtrace snapshot: asks a running process for the owners of its memory, waits for the answer in its log, and
 * prints it.
 */
#include "commands.h"
#include "build.h"
#include "cmd_input.h"
#include "logfile/logfile.h"
#include "report/report.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#define TIMEOUT_SECONDS 10

struct options {
    unsigned timeout_ms;
    bool json, wait;
    struct vt_format_options format;
    struct vt_texts user_code;
};

static int print_answer(const char *log, const struct options *o) {
    struct vt_model model;
    struct vt_string message = {0};
    struct vt_model_options options = {.device = -1, .user_code = o->user_code.items};
    int status = vt_error_status(vt_build_model(&log, 1, &options, &model, &message), &message);
    if (status)
        return status;
    int error = o->json ? vt_fmt_json_write(&model, &o->format, stdout)
                        : vt_fmt_text_owners(&model, &o->format, stdout);
    vt_build_free(&model);
    return vt_output_close(NULL, NULL, error);
}

static int explain(unsigned pid, const char *log, enum vt_answer answer, const struct options *o) {
    switch (answer) {
    case VT_ANSWER_NONE:
        vt_error("process %u, %s: expected an answer within %g s, found the process idle: it "
                 "answers when it next allocates or frees GPU memory, or begins or ends a phase "
                 "(--wait waits for that)",
                 pid, log, o->timeout_ms / 1000.0);
        break;
    case VT_ANSWER_LATE:
        vt_error("process %u, %s: expected an answer within %g s, found that it still looks for "
                 "owners (--timeout)",
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

static bool interrupted;

/* Ends the wait, so that the request is withdrawn. */
static void interrupt(int number) {
    (void)number;
    __atomic_store_n(&interrupted, true, __ATOMIC_RELEASE);
}

static void print_idle(unsigned pid) {
    fprintf(stderr,
            "process %u is idle: it answers when it next allocates or frees GPU memory, or begins "
            "or ends a phase\n",
            pid);
}

static int ask(unsigned pid, const struct options *o) {
    struct vt_string message = {0};
    enum vt_answer answer = VT_ANSWER_NONE;
    VT_SCOPED char *log = vt_request_log(pid, &message);
    const struct vt_request request = {o->wait ? 0 : o->timeout_ms, &interrupted, print_idle};
    void (*before)(int) = signal(SIGINT, interrupt);
    int error = log ? vt_request_snapshot(pid, log, &request, &answer, &message) : -ESRCH;
    signal(SIGINT, before);
    if (interrupted)
        raise(SIGINT);
    int status = vt_error_status(error, &message) ? VT_STATUS_INTERNAL : VT_STATUS_OK;
    if (status)
        return status;
    return answer == VT_ANSWER_TAKEN ? print_answer(log, o) : explain(pid, log, answer, o);
}

static int snapshot(void *to, char *const *arguments, int count) {
    struct options *o = to;
    if (count != 1)
        return vt_usage("snapshot", "expected one PID, found %d", count);
    unsigned long pid = vt_option_number(arguments[0], INT32_MAX);
    if (!pid)
        return vt_usage("snapshot", "expected a PID, found '%s'", arguments[0]);
    o->format.colour = !o->json && vt_wants_colour(1);
    return ask((unsigned)pid, o);
}

#define AT(field) .at = offsetof(struct options, field)

static const struct vt_option rows[] = {
    {"timeout", " SECONDS", "wait at most this long for an answer (10)", vt_parse_milliseconds,
     AT(timeout_ms)},
    {"wait", NULL, "wait for an idle process until it answers or ends", vt_parse_flag, AT(wait)},
    {"top", " N", "rows of the list (10)", vt_parse_count, AT(format.top)},
    {"format", " text|json", "json: the report on the process so far", vt_parse_json, AT(json)},
    {"own", " PATTERN", "your own code: frames whose function, file or module match",
     vt_parse_texts, AT(user_code)},
    VT_OPTION_HELP,
    {.name = NULL},
};

int vt_cmd_snapshot(int argc, char **argv) {
    static const struct vt_options options = {
        .command = "snapshot",
        .usage = "usage: vramtrace snapshot [options] PID\n"
                 "\n"
                 "Asks a traced process which variables, lists and attributes hold its GPU memory\n"
                 "now, and prints them. The process answers at its next event: when it allocates\n"
                 "or frees memory, or begins or ends a phase. A process without events is\n"
                 "reported as idle.\n"
                 "\n",
        .column = 21,
        .all = {{.rows = rows}},
        .run = snapshot,
    };
    struct options o = {.timeout_ms = TIMEOUT_SECONDS * 1000};
    int status = vt_options_run(&options, argc, argv, &o);
    free(o.user_code.items);
    return status;
}
