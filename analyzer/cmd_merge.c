/* SPDX-License-Identifier: MIT */
/*
 * vramtrace merge: reads logs and merged files one after the other, reduces each process to its lines, and
 * writes one merged file. The file appears whole or not at all: it is written under another name first.
 */
#define _GNU_SOURCE
#include "commands.h"
#include "build.h"
#include "cmd_input.h"
#include "fleet/fleet.h"
#include "log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the file --- */

/* A file under construction. */
struct output {
    char *path;    /* what it will be called; NULL: standard output */
    char *written; /* what it is called now; NULL: the same */
    FILE *out;
    bool fresh;  /* no file may be replaced */
    bool direct; /* it is no file: written as it is */
};

/* Only a merged file may be replaced, and what is no file is written as it is: a pipe, /dev/null. */
static int check_replaced(const char *path, bool *direct) {
    struct stat st;
    *direct = false;
    if (stat(path, &st) || (S_ISREG(st.st_mode) && (!st.st_size || vt_logs_is_merged(path))))
        return 0;
    *direct = !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
    if (*direct)
        return 0;
    vt_error("%s: not replaced: it exists, and is not a merged file", path);
    return VT_STATUS_USAGE;
}

/* "logs/.x.jsonl.gz.a1b2c3" beside "logs/x.jsonl.gz": the dot, so that nobody takes it for an input. */
static int open_beside(struct output *o) {
    const char *name = vt_basename(o->path);
    mode_t mask = umask(0);
    umask(mask);
    o->written = vt_formatted("%.*s.%s.XXXXXX", (int)(name - o->path), o->path, name);
    int fd = mkostemp(o->written, O_CLOEXEC);
    if (fd < 0 || fchmod(fd, 0666 & ~mask) || !(o->out = fdopen(fd, "w"))) {
        int error = errno;
        vt_error("%s: %s", fd < 0 ? o->path : o->written, strerror(error));
        if (fd >= 0) {
            unlink(o->written);
            close(fd);
        }
        return VT_STATUS_USAGE;
    }
    return 0;
}

/* Whether the file can be written, before time is spent on reading; NULL: one whose name is free. Returns 0,
 * or an exit status after it printed an error. */
static int check_output(const char *path, struct output *o) {
    *o = (struct output){.out = stdout};
    if (path && !strcmp(path, "-")) {
        if (!isatty(1))
            return 0;
        vt_error("a merged file is not for a terminal; name a file with -o");
        return VT_STATUS_USAGE;
    }
    if (path) {
        o->path = vt_strdup(path);
    } else {
        char host[256] = "";
        gethostname(host, sizeof host - 1);
        o->path = vt_formatted("vramtrace.%s.jsonl.gz", host);
        o->fresh = true;
    }
    int status = o->fresh ? 0 : check_replaced(o->path, &o->direct);
    if (status || o->direct)
        return status;
    VT_SCOPED char *folder = vt_formatted("%.*s.", (int)(vt_basename(o->path) - o->path), o->path);
    if (access(folder, W_OK | X_OK)) {
        vt_error("%s: %s", o->path, strerror(errno));
        status = VT_STATUS_USAGE;
    }
    return status;
}

/* A link stays: the file that it leads to is replaced. */
static void follow_link(struct output *o) {
    struct stat st;
    char *real = !lstat(o->path, &st) && S_ISLNK(st.st_mode) ? realpath(o->path, NULL) : NULL;
    if (!real)
        return; /* no link, or it leads to nothing yet */
    free(o->path);
    o->path = real;
}

static int open_output(struct output *o) {
    if (!o->path)
        return 0;
    if (!o->direct) {
        follow_link(o);
        return open_beside(o);
    }
    o->out = fopen(o->path, "we");
    if (o->out)
        return 0;
    vt_error("%s: %s", o->path, strerror(errno));
    return VT_STATUS_USAGE;
}

/* Gives the file the first free name: vramtrace.HOST.jsonl.gz, vramtrace.HOST.2.jsonl.gz ... */
static int give_free_name(struct output *o) {
    static const char suffix[] = ".jsonl.gz";
    char *first = o->path;
    for (unsigned i = 1;; i++) {
        o->path = i == 1 ? vt_strdup(first)
                         : vt_formatted("%.*s.%u%s", (int)(strlen(first) - strlen(suffix)), first,
                                        i, suffix);
        int error = link(o->written, o->path) ? errno : 0;
        /* without hard links somebody may take the name between these two calls */
        if (error && error != EEXIST && !access(o->path, F_OK))
            error = EEXIST;
        if (error && error != EEXIST)
            error = rename(o->written, o->path) ? errno : 0;
        if (error != EEXIST) {
            if (!error)
                unlink(o->written);
            free(first);
            return -error;
        }
        free(o->path);
    }
}

/* Ends it: under its name if there was no error, else it is gone. Returns an exit status. */
static int close_output(struct output *o, int error, uint64_t *bytes) {
    struct stat st = {0};
    if (!error && (fflush(o->out) || ferror(o->out)))
        error = errno ? -errno : -EIO;
    /* what a crash of the machine leaves under the name is whole, too */
    if (!error && o->written && fsync(fileno(o->out)))
        error = -errno;
    fstat(fileno(o->out), &st);
    *bytes = (uint64_t)st.st_size;
    if (o->out != stdout && fclose(o->out) && !error)
        error = -errno;
    if (!error && o->fresh)
        error = give_free_name(o);
    else if (!error && o->written && rename(o->written, o->path))
        error = -errno;
    if (!error || error == -EPIPE)
        return VT_STATUS_OK;
    vt_error("%s: %s", o->path ? o->path : "standard output", strerror(-error));
    if (o->written)
        unlink(o->written);
    return VT_STATUS_INTERNAL;
}

/* --- merging --- */

static void tell_unread(const struct vt_fleet *fleet, uint32_t kept) {
    for (uint32_t i = 0; i < fleet->unread_count && i < kept; i++)
        vt_error("left out: %s", fleet->unread[i]);
    if (fleet->unread_count > kept)
        vt_error("left out: %u more that could not be read", fleet->unread_count - kept);
}

static uint32_t count_hosts(const struct vt_fleet *fleet) {
    VT_SCOPED bool *seen = vt_alloc(fleet->host_count, sizeof *seen);
    uint32_t hosts = 0;
    for (uint32_t i = 0; i < fleet->process_count; i++) {
        hosts += !seen[fleet->processes[i].host];
        seen[fleet->processes[i].host] = true;
    }
    return hosts;
}

/* "merged 1,000 processes of 125 hosts into x.jsonl.gz (3.10 MiB)". */
static void tell_done(const struct vt_fleet *fleet, const struct output *o, uint64_t bytes) {
    uint32_t hosts = count_hosts(fleet);
    VT_SCOPED char *path = o->path ? vt_printable(vt_strdup(o->path)) : NULL;
    fprintf(stderr, "vramtrace: merged %s process%s of %s host%s", VT_NUMBER(fleet->process_count),
            fleet->process_count == 1 ? "" : "es", VT_NUMBER(hosts), vt_plural(hosts));
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
    int status = check_output(input->output, &output);
    if (!status)
        status = read_all(input, arguments, count, &logs, &model);
    if (!status) {
        status = open_output(&output);
        if (!status)
            status = close_output(&output, vt_merged_write(model.fleet, output.out), &bytes);
        tell_unread(model.fleet, UNREAD_SHOWN);
        if (!status)
            tell_done(model.fleet, &output, bytes);
        vt_build_free(&model);
    }
    vt_logs_free(&logs);
    free(output.path);
    free(output.written);
    return status;
}

#define AT(field) .at = offsetof(struct vt_input, field)

static const struct vt_option rows[] = {
    {"output", " FILE",
     "write to this file, not to vramtrace.HOST.jsonl.gz here;\nan existing merged file is "
     "replaced",
     vt_take_output, AT(output), .letter = 'o'},
    {"run", " ID", "in a folder: only the run whose id begins with this", vt_take_text, AT(run)},
    {"own", " PATTERN",
     "your own code: frames whose function, file or module match; '*' matches anything; may be "
     "repeated",
     vt_take_texts, AT(user_code)},
    {"classes", " FILE", "more caches and CUDA libraries (see vramtrace-report(1))", vt_take_text,
     AT(model.classes)},
    VT_OPTION_HELP,
    {.name = NULL},
};

int vt_cmd_merge(int argc, char **argv) {
    static const struct vt_options options = {
        .command = "merge",
        .usage = "usage: vramtrace merge [options] DIR|LOG|MERGED...\n"
                 "\n"
                 "Makes one small file of many logs: what each process held at each line, what\n"
                 "kept it, its leaks, failed allocations and memory over time. The file is\n"
                 "compressed lines of JSON, which DuckDB, pandas and Spark read as a table.\n"
                 "'vramtrace report' and 'merge' read it, too: merge on each node, then merge the\n"
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
