/* SPDX-License-Identifier: MIT */
/*
 * vramtrace run: starts a traced command. The steps are options, program, libraries, environment, process and logs,
 * each in a file run_*.c. Obstacles to tracing are found before the command starts, if possible.
 *
 * Internal variables, for the processes of one run: VRAMTRACE_RUN_ID (32 hex digits, copied to each log's header),
 * VRAMTRACE_RUN_LIST (the file to which each log's path is appended), VRAMTRACE_RUN_REMOTE (run_local.h). A nested
 * run joins the enclosing one, which lists its processes. For the pytest plugin: VRAMTRACE_CHECK (the gate's options,
 * one per line), VRAMTRACE_COMMAND (this program).
 */
#define _GNU_SOURCE
#include "commands.h"
#include "build.h"
#include "run/run.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* An existing run id is kept: the user's, or that of a run on another machine. */
static void set_run_id(void) {
    unsigned char bytes[16];
    char id[2 * sizeof bytes + 1];
    const char *given = getenv("VRAMTRACE_RUN_ID");
    if (given && *given)
        return;
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        memset(bytes, 0, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    setenv("VRAMTRACE_RUN_ID", id, 1);
}

/* The list of logs of the enclosing run; NULL: there is none. */
static const char *outer_list(void) {
    const char *id = getenv("VRAMTRACE_RUN_ID"), *list = getenv("VRAMTRACE_RUN_LIST");
    VT_SCOPED_FD fd = id && *id && list && *list ? vt_run_list_open(list) : -1;
    return fd >= 0 ? list : NULL;
}

static void set_environment(const struct vt_run_options *options,
                            const struct vt_run_libraries *libraries) {
    vt_run_options_set(options);
    setenv("VRAMTRACE_QUIET", "1", 1); /* this program prints the closing lines itself */
    VT_SCOPED char *preload = vt_run_preload_value(libraries, getenv("LD_PRELOAD"));
    setenv("LD_PRELOAD", preload, 1);
    /* AddressSanitizer's shared runtime refuses to start after another library unless this option is set; after our
     * library it works. The user's own options come later and take precedence. */
    const char *asan = getenv("ASAN_OPTIONS");
    VT_SCOPED char *unordered = vt_formatted("verify_asan_link_order=0:%s", asan ? asan : "");
    setenv("ASAN_OPTIONS", unordered, 1);
    if (!libraries->sim_folder)
        return;
    /* The preloaded driver is found as "libcuda.so.1"; some programs load "libcuda.so", which needs this path. */
    const char *folders = getenv("LD_LIBRARY_PATH");
    VT_SCOPED char *path = vt_formatted("%s%s%s", libraries->sim_folder,
                                        folders && *folders ? ":" : "", folders ? folders : "");
    setenv("LD_LIBRARY_PATH", path, 1);
}

/* Makes pytest load the plugin that checks each test. Without the plugin the gate still checks the whole run. */
static void set_pytest(const struct vt_run_plan *plan) {
    if (!vt_run_pytest_is(plan->argv))
        return;
    const char *why = vt_run_pytest_is_isolated(plan->program, plan->argv)
                          ? "its Python ignores PYTHONPATH (-I or -E)"
                      : vt_run_pytest_set(&plan->options.check, plan->libraries.tracer)
                          ? NULL
                          : "the plugin is not installed";
    if (why && !plan->quiet)
        vt_error("pytest's tests are judged together, not one by one: %s", why);
}

/* Prints the lines at the end of a run without a gate. Returns the exit status. */
static int report(const struct vt_run_plan *plan, const struct vt_run_child *child,
                  const struct vt_run_logs *logs) {
    int status = child->status;
    if (child->untraced.length) {
        if (logs->count) {
            vt_error("%s", child->untraced.text);
        } else {
            vt_error("%s; its own exit status was %d", child->untraced.text, child->status);
            status = VT_STATUS_CANNOT_TRACE;
        }
    } else if (child->refused.length && !logs->count) {
        vt_error("%s; the command's own exit status was %d", child->refused.text, child->status);
        status = VT_STATUS_CANNOT_TRACE;
    } else if (child->refused.length) {
        vt_error("%s", child->refused.text);
    } else if (!logs->count && !logs->failed && !plan->quiet) {
        VT_SCOPED char *why = vt_run_logs_why_none(plan->options.simulated);
        vt_error("nothing was recorded: %s", why);
    }
    if (!plan->quiet)
        vt_run_logs_print(logs, stderr);
    return status;
}

/* Adds the logs of a nested run to the list of the enclosing run. */
static void add_to_outer(const char *outer, const struct vt_run_logs *logs) {
    int fd = vt_run_list_open(outer);
    VT_SCOPED_FILE *list = fd >= 0 ? fdopen(fd, "a") : NULL;
    for (size_t i = 0; list && i < logs->count; i++)
        fwrite(logs->paths[i], strlen(logs->paths[i]) + 1, 1, list);
}

static int make_plan(int argc, char **argv, struct vt_run_plan *plan, struct vt_string *message) {
    int status = vt_run_options_parse(argc, argv, &vt_builder, &plan->options);
    if (status || plan->options.help)
        return status;
    plan->argv = argv + plan->options.command;
    if (plan->options.command == argc)
        return vt_usage("run", "expected a command to run, found none");
    status = vt_run_program_find(plan->argv[0], getenv("PATH"), &plan->program, message);
    if (status && !strcmp(plan->argv[-1], "--sim") && isdigit((unsigned char)plan->argv[0][0]))
        vt_string_format(message, "; a size is joined to the option: --sim=%s", plan->argv[0]);
    if (!status)
        status = vt_run_preload_find(plan->options.simulated, &plan->libraries, message);
    if (!status)
        status = vt_run_options_check_known(&plan->options, plan->libraries.tracer);
    if (!status)
        status = vt_run_program_inspect(plan->program, plan->options.simulated, message);
    if (!status && (plan->options.judged || vt_run_options_each(&plan->options)))
        status = vt_check_ready(&plan->options.check);
    if (!status && vt_check_may_start(&plan->options.check))
        status = VT_STATUS_CANNOT_TRACE;
    return status;
}

/* The files of a run: the list of its logs; and with a gate but no --output, a temporary folder for
 * the logs. */
struct paths {
    const char *outer; /* the list of the enclosing run */
    char *list;
    bool own_list;
    char *folder; /* NULL: the user keeps the logs */
    struct vt_run_local local;
    char *share; /* path of the file shared by processes on the simulated GPU; NULL: none */
};

/* Returns 0, or an exit status after printing an error. */
static int open_paths(const struct vt_run_plan *plan, struct paths *paths) {
    const char *output = getenv("VRAMTRACE_OUTPUT");
    bool judged = plan->options.judged || vt_run_options_each(&plan->options);
    *paths = (struct paths){.outer = outer_list()};
    paths->own_list = !paths->outer || judged; /* a gate covers only its own command's logs */
    paths->list = paths->own_list ? vt_run_list_make() : vt_strdup(paths->outer);
    if (!paths->list) {
        vt_error("cannot make a temporary file in TMPDIR, /tmp or /dev/shm: %s%s", strerror(errno),
                 errno == EFBIG ? " (see ulimit -f)" : "");
        return VT_STATUS_CANNOT_TRACE;
    }
    if (!judged || plan->options.output || (output && *output))
        return 0;
    paths->folder = vt_run_check_folder();
    return paths->folder ? 0 : VT_STATUS_CANNOT_TRACE;
}

/* Removes temporary logs, unless they can explain a failure. */
static void close_paths(struct paths *paths, int status, bool quiet) {
    if (paths->own_list && paths->list)
        vt_run_list_remove(paths->list);
    if (paths->folder && !vt_run_places_remove(paths->folder, status) && status && !quiet)
        vt_error("logs kept in %s", paths->folder);
    if (paths->share)
        vt_run_places_remove(paths->share, false);
    vt_run_local_free(&paths->local);
    free(paths->share);
    free(paths->folder);
    free(paths->list);
}

static int run_once(struct vt_run_plan *plan, const struct paths *paths,
                    struct vt_string *message) {
    struct vt_run_child child = {0};
    struct vt_run_logs logs;
    struct vt_run_beside nvml = {0}, compactor = {0};
    if (paths->own_list) { /* otherwise the enclosing run removes the list */
        vt_run_nvml_start(&nvml, paths->list, plan->libraries.sim_folder);
        vt_run_compact_start(&compactor, paths->list);
    }
    int status = vt_run_child_run(plan, &child, message);
    vt_run_beside_stop(&nvml);
    vt_run_beside_stop(&compactor);
    if (status)
        return status;
    vt_run_logs_read(paths->list, &logs);
    vt_run_logs_mark_end(&logs, &child);
    if (paths->local.folder)
        vt_run_local_finish(&paths->local, paths->list, &logs);
    status = plan->options.judged ? vt_run_check_judge(plan, &child, &logs)
                                  : report(plan, &child, &logs);
    if (!plan->quiet && !paths->folder)
        vt_run_logs_print_renamed(&logs, getenv("VRAMTRACE_OUTPUT"), stderr);
    if (paths->outer && paths->own_list && !paths->folder)
        add_to_outer(paths->outer, &logs);
    vt_run_logs_free(&logs);
    vt_string_free(&child.untraced);
    vt_string_free(&child.refused);
    return status;
}

static int run(struct vt_run_plan *plan, struct vt_string *message) {
    const char *value = getenv("VRAMTRACE_QUIET");
    bool judged = plan->options.judged, each = vt_run_options_each(&plan->options);
    struct paths paths;
    int status = open_paths(plan, &paths);
    plan->quiet = plan->options.quiet || (value && !strcmp(value, "1")) ||
                  (paths.outer && !judged && !each); /* the enclosing run prints the lines */
    if (!status) {
        if (!paths.outer)
            set_run_id();
        if (paths.folder) {
            VT_SCOPED char *folder = vt_formatted("%s/", paths.folder);
            setenv("VRAMTRACE_OUTPUT", folder, 1);
        }
        if (plan->options.simulated)
            paths.share = vt_run_nvml_share();
        set_environment(&plan->options, &plan->libraries);
        if (paths.own_list) {
            unsetenv("VRAMTRACE_RUN_REMOTE");
            setenv("VRAMTRACE_RUN_LIST", paths.list, 1);
        }
        if (paths.own_list && !paths.folder && !each)
            vt_run_local_start(&paths.local, paths.list);
        if (judged && !each)
            set_pytest(plan);
        const char *given =
            plan->options.output ? plan->options.output : getenv("VRAMTRACE_OUTPUT");
        status = each ? vt_run_inject_each(plan, paths.folder ? paths.folder : given)
                      : run_once(plan, &paths, message);
    }
    close_paths(&paths, status, plan->quiet);
    return status;
}

int vt_cmd_run(int argc, char **argv) {
    struct vt_run_plan plan = {0};
    VT_SCOPED_STRING message = {0};
    vt_run_child_set_signals();
    int status = make_plan(argc, argv, &plan, &message);
    if (!status && plan.options.help)
        vt_run_options_help();
    else if (!status)
        status = run(&plan, &message);
    if (message.length)
        vt_error("%s", message.text);
    vt_run_preload_free(&plan.libraries);
    vt_run_options_free(&plan.options);
    free(plan.program);
    return status;
}
