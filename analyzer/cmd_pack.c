/* SPDX-License-Identifier: MIT */
/*
 * vramtrace pack: puts logs, the files beside them, and this machine's answers about them into one file.
 */
#include "commands.h"
#include "cmd_input.h"
#include "logfile/logfile.h"
#include "symbols/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct options {
    const char *output;
    bool no_source;
};

struct packing {
    const struct options *options;
    char *path; /* of the pack */
    struct vt_new_file file;
    struct vt_pack_writer writer;
    struct vt_answers *answers;
    struct vt_symbols *symbols;
    struct vt_all_names names;
    struct vt_string listed; /* printed once the file is complete */
    struct vt_string message;
};

/* --- the file --- */

/* "train.vtz" for logs/train.vtl, "logs.vtz" for logs/. Free it. */
static char *default_name(const char *input) {
    VT_SCOPED char *real = realpath(input, NULL);
    const char *name = real && real[1] ? vt_basename(real) : "vramtrace";
    size_t length = strlen(name);
    if (length > 4 && !strcmp(name + length - 4, ".vtl"))
        length -= 4;
    return vt_formatted("%.*s.vtz", (int)length, name);
}

static int open_output(struct packing *p, const char *input, bool folder) {
    if (p->options->output && !strcmp(p->options->output, "-"))
        return vt_usage("pack", "-o -: a pack is a file; name it");
    p->path = p->options->output ? vt_strdup(p->options->output) : default_name(input);
    int error = vt_new_file_open(&p->file, p->path, VT_NEW_FILE_ONCE, 0600);
    const char *why = error            ? p->file.why
                      : p->file.exists ? "not replaced: it exists; name another with -o"
                                       : NULL;
    if (why) {
        vt_error("%s: %s", p->path, why);
        if (!error)
            vt_new_file_close(&p->file, -EEXIST);
        return VT_STATUS_USAGE;
    }
    p->writer = vt_pack_begin(fileno(p->file.out), folder);
    return VT_STATUS_OK;
}

/* --- its contents --- */

static void list_section(struct packing *p, const char *what, const struct vt_pack_section *s) {
    vt_string_format(&p->listed, "  %-10s  %10s  %s\n", VT_BYTES(s->unpacked), VT_BYTES(s->packed),
                     what);
}

static int add_file(struct packing *p, struct vt_pack_section section, const char *log, int fd,
                    uint64_t bytes) {
    const char *name = vt_basename(log);
    VT_SCOPED char *shown = vt_log_file_path(name, section.kind);
    int error = vt_pack_add_file(&p->writer, &section, name, fd, bytes, &p->message);
    list_section(p, vt_printable(shown), &section);
    return error;
}

/* Adds LOG.nvml or LOG.summary, if it exists. */
static int add_beside(struct packing *p, const char *log, enum vt_pack_kind kind) {
    VT_SCOPED_FD fd = vt_log_file_open(log, kind, UINT64_MAX, NULL, &p->message);
    struct stat st;
    if (fd == -ENOENT || fd == -EINVAL || fd == -EISDIR) { /* there is no such file */
        vt_string_free(&p->message);
        return 0;
    }
    if (fd < 0 || fstat(fd, &st))
        return fd < 0 ? fd : 0;
    uint64_t bytes = (uint64_t)st.st_size, most = vt_pack_most(kind, UINT64_MAX);
    return add_file(p, (struct vt_pack_section){.kind = kind}, log, fd,
                    bytes < most ? bytes : most);
}

/* Asks this machine for all data that reports on the log need, so that its answers are recorded. */
static void ask(struct packing *p, const struct vt_log *log) {
    struct vt_process process = {
        .cwd = log->header.cwd[0] ? (char *)(uintptr_t)log->header.cwd : NULL,
        .started_at = log->header.start_realtime_ns,
        .hides_source = log->foreign,
        .answers = p->answers,
    };
    vt_all_names_ask(&p->names, log, p->symbols, p->options->no_source ? NULL : &process);
}

/* Adds the log, the files beside it and the answers. Returns 1 if the log was compacted meanwhile, so that they do not
 * match. */
static int try_log(struct packing *p, const char *path) {
    struct vt_log log;
    int error = vt_log_open(path, &log, &p->message);
    if (error)
        return error;
    uint32_t flags = (log.running ? VT_PACK_RUNNING : 0) | (log.foreign ? VT_PACK_FOREIGN : 0);
    if (log.answers) {
        vt_string_format(&p->message, "%s: it is in a pack already", path);
        error = -EINVAL;
    }
    if (!error)
        error = add_file(p, (struct vt_pack_section){.kind = VT_PACK_LOG, .flags = flags}, path,
                         log.fd, log.file_bytes);
    if (!error)
        error = add_beside(p, path, VT_PACK_NVML);
    if (!error && log.summary)
        error = add_beside(p, path, VT_PACK_SUMMARY);
    if (!error && vt_summary_is_newer(&log))
        error = 1;
    VT_SCOPED_RIGHTS rights = error ? 0 : vt_rights_lower(path); /* the log names modules to open */
    if (rights < 0)
        error = vt_rights_refuse(path, &p->message);
    if (!error)
        ask(p, &log);
    vt_log_close(&log);
    return error;
}

static int add_log(struct packing *p, const char *path) {
    const struct vt_pack_writer begin = p->writer;
    const size_t listed = p->listed.length;
    int error, left = 20;
    while ((error = try_log(p, path)) > 0 && --left) {
        p->writer = begin;
        if (ftruncate(begin.fd, (off_t)begin.at)) {
            error = -errno;
            vt_string_format(&p->message, "%s: %s", p->path, strerror(-error));
            return error;
        }
        p->listed.length = listed;
        if (p->listed.text)
            p->listed.text[listed] = 0;
    }
    if (error > 0)
        vt_string_format(&p->message,
                         "%s: expected a summary that stays, found a newer one each time", path);
    return error > 0 ? -EBUSY : error;
}

static int add_all(struct packing *p, const struct vt_logs *logs) {
    VT_SCOPED_MAP named = {0};
    struct vt_pack_section answers = {.kind = VT_PACK_ANSWERS};
    int error = 0;
    for (uint32_t i = 0; i < logs->count && !error; i++) {
        const char *name = vt_basename(logs->paths[i]);
        vt_progress_of(i + 1, logs->count);
        if (!vt_map_add_key(&named, vt_hash_bytes(0, name, strlen(name)))) {
            vt_string_format(&p->message, "%s: a log of this name is packed already",
                             logs->paths[i]);
            error = -EEXIST;
        } else {
            error = add_log(p, logs->paths[i]);
        }
    }
    if (!error)
        error = vt_pack_add_bytes(&p->writer, &answers, vt_answers_bytes(p->answers), &p->message);
    list_section(p, "names and source lines", &answers);
    return error ? error : vt_pack_end(&p->writer, &p->message);
}

/* --- the command --- */

static void print_list(const struct packing *p) {
    const struct vt_all_names *n = &p->names;
    VT_SCOPED char *path = vt_printable(vt_strdup(p->path));
    vt_print(stdout, "%s: %s\n\n  %-10s  %10s\n%s\n", path, VT_BYTES(p->writer.at), "unpacked",
             "packed", p->listed.text);
    printf("names: %s place%s in code, %s variable%s\n", VT_NUMBER(n->functions),
           vt_plural(n->functions), VT_NUMBER(n->variables), vt_plural(n->variables));
    if (!n->file_count)
        printf("source lines: none%s\n", p->options->no_source ? " (--no-source)" : "");
    else
        printf("source lines, of these files:\n");
    for (uint32_t i = 0; i < n->file_count; i++) {
        VT_SCOPED char *file = vt_printable(vt_strdup(n->files[i].path));
        printf("  %6u  %s\n", n->files[i].lines, file);
    }
}

static int pack(struct packing *p, char *const *arguments, int count) {
    struct vt_logs logs;
    bool folder = count > 1, is_folder;
    vt_progress_allow();
    int error = vt_logs_find(arguments, count, "all", &logs, &p->message);
    for (int i = 0; i < count && !error; i++) {
        error = vt_logs_are_in(arguments[i], &is_folder, &p->message);
        folder |= is_folder;
    }
    int status = vt_error_status(error, &p->message);
    if (!status)
        status = open_output(p, arguments[0], folder);
    if (!status) {
        error = vt_new_file_close(&p->file, add_all(p, &logs));
        if (error && !p->message.length)
            vt_string_format(&p->message, "%s: %s", p->path, strerror(-error));
        status = vt_error_status(error, &p->message);
        vt_progress_end();
        if (!status)
            print_list(p);
    }
    vt_logs_free(&logs);
    return status ? status : vt_output_close(NULL, NULL, 0);
}

static int run(void *to, char *const *arguments, int count) {
    if (!count)
        return vt_usage("pack", "expected a log or a folder of logs, found nothing");
    struct packing p = {.options = to, .answers = vt_answers_open()};
    p.symbols = vt_symbols_open(p.answers);
    int status = pack(&p, arguments, count);
    vt_symbols_close(p.symbols);
    vt_answers_close(p.answers);
    vt_all_names_free(&p.names);
    vt_string_free(&p.listed);
    free(p.path);
    return status;
}

#define AT(field) .at = offsetof(struct options, field)

static const struct vt_option rows[] = {
    {"output", " FILE", "write to this file, not to LOG.vtz or DIR.vtz here", vt_parse_output,
     AT(output), .letter = 'o'},
    {"no-source", NULL, "without lines of source code", vt_parse_flag, AT(no_source)},
    VT_OPTION_HELP,
    {.name = NULL},
};

int vt_cmd_pack(int argc, char **argv) {
    static const struct vt_options options = {
        .command = "pack",
        .usage = "usage: vramtrace pack [options] LOG|DIR...\n"
                 "\n"
                 "Packs a log, or all logs in a folder, into one small file with the names and\n"
                 "source lines that reports show, for use on any machine. Every command reads\n"
                 "it like the log, or like the folder. Prints a list of its contents.\n"
                 "\n",
        .all = {{.rows = rows}},
        .run = run,
    };
    struct options o = {0};
    return vt_options_run(&options, argc, argv, &o);
}
