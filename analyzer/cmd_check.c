/* SPDX-License-Identifier: MIT */
/*
 * vramtrace check: the leak gate for existing logs. `vramtrace run --check` does the same with the logs of its
 * command (run_check.c).
 */
#include "gate/gate.h"
#include "commands.h"
#include "build.h"
#include "logfile/logfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reports an unreadable file named like a log, which the search for logs would silently ignore. */
static int check_folder(const char *folder) {
    DIR *dir = opendir(folder);
    int status = 0;
    if (!dir)
        return 0; /* the search for logs reports it */
    for (struct dirent *entry; !status && (entry = readdir(dir));) {
        const char *suffix = strstr(entry->d_name, ".vtl");
        VT_SCOPED_STRING message = {0};
        struct vt_log_header header;
        uint64_t bytes;
        if (!suffix || (suffix[4] && suffix[4 + 1 + strspn(suffix + 5, "0123456789")]))
            continue;
        VT_SCOPED char *path = vt_formatted("%s/%s", folder, entry->d_name);
        const char *why;
        vt_rights_note_owner(path);
        VT_SCOPED_FD fd = vt_rights_open(path, path, &why);
        if (fd < 0 && fd != -EINVAL && fd != -EISDIR) {
            vt_error("%s: %s", path, why);
            status = VT_STATUS_USAGE;
        } else if (fd >= 0 && vt_log_read_header(fd, path, &header, &bytes, &message)) {
            vt_error("%s", message.text);
            status = VT_STATUS_USAGE;
        }
    }
    closedir(dir);
    return status;
}

/* Finds logs of other runs in the named folders. The reports list them as not checked. */
static void find_left_out(char *const *arguments, int count, const struct vt_logs *chosen,
                          struct vt_logs *all, struct vt_gate_format_options *how) {
    VT_SCOPED_STRING message = {0};
    VT_SCOPED_MAP paths = {0};
    for (uint32_t i = 0; i < chosen->count; i++)
        vt_map_put(&paths, vt_hash_bytes(0, chosen->paths[i], strlen(chosen->paths[i])), i);
    if (!vt_logs_find(arguments, count, "all", all, &message)) {
        how->left_out = vt_alloc(all->count, sizeof *how->left_out);
        for (uint32_t i = 0; i < all->count; i++)
            if (vt_map_get(&paths, vt_hash_bytes(0, all->paths[i], strlen(all->paths[i]))) ==
                VT_MAP_NONE)
                how->left_out[how->left_out_count++] = all->paths[i];
    }
}

static bool is_folder(const char *path) {
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

struct options {
    struct vt_check check;
    const char *run;
    bool only;
};

static int check_logs(struct vt_check *c, char *const *arguments, int count, const char *run,
                      bool only) {
    struct vt_logs logs = {0}, all = {0};
    VT_SCOPED_STRING message = {0};
    int status = 0, error;
    for (int i = 0; i < count && !status; i++)
        if (is_folder(arguments[i]))
            status = check_folder(arguments[i]);
    if (!status && !count)
        status = check_folder(".");
    if (status)
        return status;
    error = vt_logs_find(arguments, count, run, &logs, &message);
    if (error && !(error == -ENOENT && c->allow_no_cuda && !run &&
                   (!count || (count == 1 && is_folder(arguments[0]))))) {
        vt_error("%s", message.text);
        status = VT_STATUS_USAGE;
    } else {
        uint32_t found = logs.count;
        if (!error && !only && !run)
            vt_logs_complete(&logs);
        c->how.added = found ? logs.paths + found : NULL;
        c->how.added_count = logs.count - found;
        if (!error)
            find_left_out(arguments, count, &logs, &all, &c->how);
        vt_progress_allow();
        status = vt_check_run(c, logs.paths, logs.count, stdout);
    }
    free(c->how.left_out);
    vt_logs_free(&all);
    vt_logs_free(&logs);
    return status;
}

static int check(void *to, char *const *arguments, int count) {
    struct options *o = to;
    if (o->check.print_suppressions) {
        fputs(vt_suppress_builtin, stdout);
        return VT_STATUS_OK;
    }
    int status = vt_check_ready(&o->check);
    return status ? status : check_logs(&o->check, arguments, count, o->run, o->only);
}

static const struct vt_option rows[] = {
    {"run", " ID", "in a folder: the run whose id begins with this, or all", vt_parse_text,
     .at = offsetof(struct options, run)},
    {"only", NULL, "only the logs that are named, not all of their runs", vt_parse_flag,
     .at = offsetof(struct options, only)},
    VT_OPTION_HELP,
    {.name = NULL},
};

int vt_cmd_check(int argc, char **argv) {
    static const struct vt_options options = {
        .command = "check",
        .usage = "usage: vramtrace check [options] [LOG...]\n"
                 "\n"
                 "The leak gate: exits with 0 if a run passes, with 23 if it leaks. LOG is a log,\n"
                 "which stands for its run, or a folder, which stands for its newest run.\n"
                 "Default: the newest run here.\n"
                 "\n",
        .all = {{.rows = vt_check_options, .at = offsetof(struct options, check)}, {.rows = rows}},
        .run = check,
    };
    struct options o = {0};
    vt_check_start(&o.check, &vt_builder);
    int status = vt_options_run(&options, argc, argv, &o);
    vt_check_free(&o.check);
    return status;
}
