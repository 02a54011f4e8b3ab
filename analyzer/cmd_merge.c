/* SPDX-License-Identifier: MIT */
/*
 * vramtrace merge: reads logs and merged files one by one, reduces each process to its lines, and writes one merged
 * file. This file is first written under another name, so that it appears complete or not at all.
 */
#include "commands.h"
#include "build.h"
#include "cmd_input.h"
#include "job/job.h"
#include "logfile/logfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the file --- */

struct output {
    char *path; /* NULL: standard output */
    struct vt_new_file file;
    bool fresh; /* the output must not replace a file */
};

/* Only a merged file may be replaced. */
static int check_replaced(const char *path) {
    struct stat st;
    if (vt_file_descriptor(path) >= 0 || stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size ||
        vt_logs_is_merged(path))
        return 0;
    vt_error("%s: not replaced: it exists, and is not a merged file", path);
    return VT_STATUS_USAGE;
}

/* Opens the file before the logs are read; NULL: with the first free name. Returns 0, or an exit status after
 * printing an error. */
static int open_output(const char *path, struct output *o) {
    *o = (struct output){.fresh = !path, .file.out = stdout};
    if (path && !strcmp(path, "-")) {
        if (!isatty(1))
            return 0;
        vt_error("a merged file is not for a terminal; name a file with -o");
        return VT_STATUS_USAGE;
    }
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    o->path = path ? vt_strdup(path) : vt_formatted("vramtrace.%s.jsonl.gz", host);
    int status = path ? check_replaced(path) : 0;
    if (!status &&
        vt_new_file_open(&o->file, o->path,
                         VT_NEW_FILE_SYNC | (path ? VT_NEW_FILE_GIVEN : VT_NEW_FILE_ONCE), 0666)) {
        vt_error("%s: %s", o->path, o->file.why);
        status = VT_STATUS_USAGE;
    }
    return status;
}

/* Gives the file the first free name: vramtrace.HOST.jsonl.gz, vramtrace.HOST.2.jsonl.gz ... */
static int give_free_name(struct output *o) {
    static const char suffix[] = ".jsonl.gz";
    int stem = (int)(strlen(o->path) - strlen(suffix)), error;
    for (unsigned i = 2; (error = vt_new_file_finalize(&o->file, o->path)) == -EEXIST; i++) {
        char *next = vt_formatted("%.*s.%u%s", stem, o->path, i, suffix);
        free(o->path);
        o->path = next;
    }
    return error;
}

/* Completes the file. Returns an exit status. */
static int close_output(struct output *o, int error, uint64_t *bytes) {
    struct stat st = {0};
    if (!error && (fflush(o->file.out) || ferror(o->file.out)))
        error = errno ? -errno : -EIO;
    fstat(fileno(o->file.out), &st);
    *bytes = (uint64_t)st.st_size;
    if (!error && o->fresh)
        error = give_free_name(o);
    if (o->path)
        error = vt_new_file_close(&o->file, error);
    if (!error || error == -EPIPE)
        return VT_STATUS_OK;
    vt_error("%s: %s", o->path ? o->path : "standard output", strerror(-error));
    return VT_STATUS_INTERNAL;
}

/* --- merging --- */

static void print_unread(const struct vt_job *job, uint32_t kept) {
    for (uint32_t i = 0; i < job->unread_count && i < kept; i++)
        vt_error("left out: %s", job->unread[i]);
    if (job->unread_count > kept)
        vt_error("left out: %u more that could not be read", job->unread_count - kept);
}

static uint32_t count_hosts(const struct vt_job *job) {
    VT_SCOPED bool *seen = vt_alloc(job->host_count, sizeof *seen);
    uint32_t hosts = 0;
    for (uint32_t i = 0; i < job->process_count; i++) {
        hosts += !seen[job->processes[i].host];
        seen[job->processes[i].host] = true;
    }
    return hosts;
}

/* "merged 1,000 processes of 125 hosts into x.jsonl.gz (3.10 MiB)". */
static void print_done(const struct vt_job *job, const struct output *o, uint64_t bytes) {
    uint32_t hosts = count_hosts(job);
    VT_SCOPED char *path = o->path ? vt_printable(vt_strdup(o->path)) : NULL;
    fprintf(stderr, "vramtrace: merged %s process%s of %s host%s", VT_NUMBER(job->process_count),
            job->process_count == 1 ? "" : "es", VT_NUMBER(hosts), vt_plural(hosts));
    if (path && bytes)
        fprintf(stderr, " into %s (%s)", path, VT_BYTES(bytes));
    fputc('\n', stderr);
}

static int read_all(struct vt_input *input, char *const *arguments, int count, struct vt_logs *logs,
                    struct vt_model *model) {
    struct vt_string message = {0};
    input->model.user_code = input->user_code.items;
    vt_progress_allow();
    int error =
        vt_logs_find_merged(arguments, count, input->run ? input->run : "all", logs, &message);
    if (!error)
        error = vt_build_ranks((const char *const *)logs->paths, logs->count, &input->model, 0,
                               NULL, NULL, model, &message);
    vt_progress_end();
    return vt_error_status(error, &message);
}

static int merge(void *to, char *const *arguments, int count) {
    enum { UNREAD_SHOWN = 8 };
    struct vt_input *input = to;
    struct vt_logs logs = {0};
    struct vt_model model;
    struct output output = {0};
    uint64_t bytes = 0;
    if (!count)
        return vt_usage("merge", "expected a folder, logs or merged files, found nothing");
    int status = open_output(input->output, &output);
    if (!status)
        status = read_all(input, arguments, count, &logs, &model);
    if (!status) {
        status = close_output(&output, vt_merged_write(model.job, output.file.out), &bytes);
        print_unread(model.job, UNREAD_SHOWN);
        if (!status)
            print_done(model.job, &output, bytes);
        vt_build_free(&model);
    }
    vt_logs_free(&logs);
    if (output.path && output.file.out)
        vt_new_file_close(&output.file, -ECANCELED);
    free(output.path);
    return status;
}

#define AT(field) .at = offsetof(struct vt_input, field)

static const struct vt_option rows[] = {
    {"output", " FILE",
     "write to this file, not to vramtrace.HOST.jsonl.gz here;\nan existing merged file is "
     "replaced",
     vt_parse_output, AT(output), .letter = 'o'},
    {"run", " ID", "in a folder: only the run whose id begins with this", vt_parse_text, AT(run)},
    {"own", " PATTERN",
     "your own code: frames whose function, file or module match; '*' matches anything; may be "
     "repeated",
     vt_parse_texts, AT(user_code)},
    {"classes", " FILE", "more caches and CUDA libraries (see vramtrace-report(1))", vt_parse_text,
     AT(model.classes)},
    VT_OPTION_HELP,
    {.name = NULL},
};

int vt_cmd_merge(int argc, char **argv) {
    static const struct vt_options options = {
        .command = "merge",
        .usage = "usage: vramtrace merge [options] DIR|LOG|MERGED...\n"
                 "\n"
                 "Merges many logs into one small file: each process's memory by line and owner,\n"
                 "its leaks, failed allocations and memory over time. The file is compressed\n"
                 "lines of JSON, which DuckDB, pandas and Spark read as a table.\n"
                 "'vramtrace report' and 'merge' also read it: merge on each node, then merge the\n"
                 "files of all nodes.\n"
                 "\n",
        .all = {{.rows = rows}},
        .run = merge,
    };
    struct vt_input input = {.model = {.device = -1}};
    int status = vt_options_run(&options, argc, argv, &input);
    free(input.user_code.items);
    return status;
}
