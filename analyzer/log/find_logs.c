/* SPDX-License-Identifier: MIT */
/*
 * Which logs a command reads (see find_logs.h). A folder may hold logs of many runs; logs with the
 * same run id are one run, and a log without an id is a run by itself. In a folder, files that are
 * no logs are ignored; a file that the user names must be a log. LOG.nvml is not, but is ignored if
 * LOG is named too, because a shell pattern such as *.vtl* names both.
 */
#include "find_logs.h"

#include "log_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* A log in a folder. */
struct found {
    char *path;
    char run[41];
    uint64_t started; /* CLOCK_REALTIME, ns */
};

struct folder {
    struct found *found;
    uint32_t count, room;
};

static int newest_first(const void *a, const void *b) {
    const struct found *x = a, *y = b;
    if (x->started != y->started)
        return x->started < y->started ? 1 : -1;
    return strcmp(x->path, y->path);
}

static void look_at(struct folder *folder, const char *path) {
    struct vt_log_header header;
    struct vt_string message = {0};
    uint64_t bytes;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    if (!vt_log_read_header(fd, path, &header, &bytes, &message)) {
        VT_GROW(folder->found, folder->count, folder->room);
        struct found *f = &folder->found[folder->count++];
        *f = (struct found){.path = vt_strdup(path), .started = header.start_realtime_ns};
        snprintf(f->run, sizeof f->run, "%s", header.run_id);
    }
    close(fd);
    vt_string_free(&message);
}

/* `any_name`: look also at files without .vtl in the name, because the user named this folder. */
static int look_into(struct folder *folder, const char *path, bool any_name,
                     struct vt_string *message) {
    DIR *dir = opendir(path);
    if (!dir) {
        int error = errno;
        vt_string_format(message, "%s: %s", path, strerror(error));
        return -error;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct vt_string file = {0};
        if (entry->d_name[0] == '.' ||
            (entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK) ||
            (!any_name && !strstr(entry->d_name, ".vtl")))
            continue;
        if (strcmp(path, "."))
            vt_string_format(&file, "%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/");
        vt_string_add(&file, entry->d_name);
        look_at(folder, file.text);
        vt_string_free(&file);
    }
    closedir(dir);
    if (folder->count)
        qsort(folder->found, folder->count, sizeof *folder->found, newest_first);
    return 0;
}

static bool in_run(const struct found *f, const struct found *newest, const char *run) {
    if (run && !strcmp(run, "all"))
        return true;
    if (run)
        return f->run[0] && !strncasecmp(f->run, run, strlen(run));
    return f == newest || (f->run[0] && !strcmp(f->run, newest->run));
}

/* Whether `path` is the LOG.nvml of a log among the arguments. */
static bool belongs_to_other(char *const *arguments, int count, const char *path) {
    size_t length = strlen(path), suffix = strlen(VT_NVML_SUFFIX);
    if (length <= suffix || strcmp(path + length - suffix, VT_NVML_SUFFIX))
        return false;
    for (int i = 0; i < count; i++)
        if (strlen(arguments[i]) == length - suffix &&
            !strncmp(arguments[i], path, length - suffix))
            return true;
    return false;
}

static void add(struct vt_logs *logs, const char *path) {
    VT_GROW(logs->paths, logs->count, logs->room);
    logs->paths[logs->count++] = vt_strdup(path);
}

static int choose(const char *path, bool here, const char *run, struct vt_logs *logs,
                  struct vt_string *message) {
    struct folder folder = {0};
    const char *where = here ? "here" : path;
    int error = look_into(&folder, path, !here, message);
    uint32_t before = logs->count, left_out;
    if (error)
        return error;
    for (uint32_t i = 0; i < folder.count; i++)
        if (in_run(&folder.found[i], &folder.found[0], run))
            add(logs, folder.found[i].path);
    uint32_t chosen = logs->count - before;
    left_out = folder.count - chosen;
    if (!folder.count) {
        vt_string_format(message,
                         "no log %s%s: expected *.vtl files, found none; name a log, or trace a "
                         "program with 'vramtrace run'",
                         here ? "" : "in ", where);
        error = -ENOENT;
    } else if (!chosen) {
        vt_string_format(message, "no log %s%s has a run id that begins with %s", here ? "" : "in ",
                         where, run);
        error = -ENOENT;
    } else if (!run) {
        struct vt_string said = {0};
        vt_string_format(&said, "newest run %s%s: %s", here ? "" : "in ", where,
                         vt_basename(folder.found[0].path));
        if (chosen > 1)
            vt_string_format(&said, " and %u more", chosen - 1);
        if (left_out)
            vt_string_format(&said, "   (%u older left out; --run all)", left_out);
        free(logs->said);
        logs->said = said.text;
    }
    for (uint32_t i = 0; i < folder.count; i++)
        free(folder.found[i].path);
    free(folder.found);
    return error;
}

int vt_logs_find(char *const *arguments, int count, const char *run, struct vt_logs *logs,
                 struct vt_string *message) {
    *logs = (struct vt_logs){0};
    if (count == 0)
        return choose(".", true, run, logs, message);
    for (int i = 0; i < count; i++) {
        struct stat st;
        int error = 0;
        if (stat(arguments[i], &st)) {
            error = -errno;
            vt_string_format(message, "%s: %s", arguments[i], strerror(-error));
        } else if (S_ISDIR(st.st_mode)) {
            error = choose(arguments[i], false, run, logs, message);
        } else if (!belongs_to_other(arguments, count, arguments[i])) {
            add(logs, arguments[i]);
        }
        if (error)
            return error;
    }
    return 0;
}

void vt_logs_free(struct vt_logs *logs) {
    for (uint32_t i = 0; i < logs->count; i++)
        free(logs->paths[i]);
    free(logs->paths);
    free(logs->said);
    *logs = (struct vt_logs){0};
}
