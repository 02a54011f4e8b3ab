/* SPDX-License-Identifier: MIT */
/*
 * Chooses the logs that a command reads (see find_logs.h). A folder may hold logs of many runs. Logs with the same run
 * id are one run. So are a parent and its children, a process before and after exec, and ranks that were launched
 * together. Their ids differ unless `vramtrace run` started them.
 *
 * In a folder, other files than logs and merged files are ignored; a file named by the user must be a log. LOG.nvml and
 * LOG.summary are ignored if LOG is also named, because a shell pattern such as *.vtl* matches them all. Subfolders are
 * not read; if the folder itself has no log, the message states how many subfolders have logs.
 */
#include "find_logs.h"

#include "clock.h"
#include "log_reader.h"
#include "log_runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
    struct vt_found_log *found;
    uint32_t count, room;
    struct vt_logs *merged; /* NULL: ignore merged files */
    char *denied;           /* the first file or folder that we may not read; NULL: none */
    uint32_t denied_count;
};

static void deny(struct folder *folder, const char *path) {
    if (!folder->denied_count++)
        folder->denied = vt_strdup(path);
}

/* If something may not be read; otherwise nothing. */
static void add_denied(const struct folder *folder, struct vt_string *text) {
    if (folder->denied_count)
        vt_string_format(text, "; permission denied: %s", folder->denied);
    if (folder->denied_count > 1)
        vt_string_format(text, " and %u more", folder->denied_count - 1);
}

static int newest_first(const void *a, const void *b) {
    const struct vt_found_log *x = a, *y = b;
    if (x->started != y->started)
        return x->started < y->started ? 1 : -1;
    return strcmp(x->path, y->path);
}

/* The process's end in CLOCK_REALTIME. */
static uint64_t end_of(const struct vt_log_header *header) {
    struct vt_log log = {.header = *header};
    if (header->exit_kind == VT_EXIT_NONE || header->exit_ticks >= VT_TICKS_MASK)
        return UINT64_MAX;
    return header->start_realtime_ns + vt_clock_ns(vt_clock_of(&log), header->exit_ticks);
}

static void add_log(struct vt_logs *logs, const char *path) {
    *VT_ADD(logs->paths, logs->count, logs->room) = vt_strdup(path);
}

bool vt_logs_is_merged(const char *path) {
    int fd = vt_rights_open(path, path, NULL);
    bool merged = fd >= 0 && vt_log_is_merged(fd);
    if (fd >= 0)
        close(fd);
    return merged;
}

static void look_at(struct folder *folder, const char *path) {
    struct vt_log_header header;
    struct stat st;
    VT_SCOPED_STRING message = {0};
    uint64_t bytes;
    vt_rights_note_owner(path);
    int fd = vt_log_file_open(path, VT_PACK_LOG, sizeof header, NULL, &message);
    if (fd < 0) {
        if (fd == -EACCES)
            deny(folder, path);
        return;
    }
    vt_string_free(&message);
    if (!vt_log_read_header(fd, path, &header, &bytes, &message) && !fstat(fd, &st)) {
        struct vt_found_log *f = VT_ADD(folder->found, folder->count, folder->room);
        *f = (struct vt_found_log){.path = vt_strdup(path),
                                   .pid = header.pid,
                                   .ppid = header.ppid,
                                   .process_start = header.process_start,
                                   .pid_namespace = header.pid_namespace,
                                   .rank = header.rank < 0 ? -1 : header.rank,
                                   .world = header.world_size,
                                   .restart = header.restart,
                                   .started = header.start_realtime_ns,
                                   .ended = end_of(&header),
                                   .device = st.st_dev,
                                   .inode = st.st_ino};
        snprintf(f->run, sizeof f->run, "%s", header.run_id);
        snprintf(f->boot, sizeof f->boot, "%s", header.boot_id);
        snprintf(f->host, sizeof f->host, "%s", header.host);
        snprintf(f->job, sizeof f->job, "%s", header.job);
        snprintf(f->launch, sizeof f->launch, "%s", header.launch);
    } else if (folder->merged && vt_log_is_merged(fd)) {
        add_log(folder->merged, path);
    }
    close(fd);
}

/* "out.vtl" of "out.vtl.2": the length of the name without its distinguishing number. */
static size_t stem_length(const char *name) {
    size_t length = strlen(name);
    while (length && name[length - 1] >= '0' && name[length - 1] <= '9')
        length--;
    return length > 1 && name[length] && name[length - 1] == '.' ? length - 1 : strlen(name);
}

static bool same_stem(const char *a, const char *b) {
    size_t length = stem_length(a);
    return length == stem_length(b) && !memcmp(a, b, length);
}

/* Whether a file may be a log, by its name: see look_into. */
static bool is_called_so(const struct folder *folder, const char *name, const char *beside) {
    return !beside || strstr(name, ".vtl") || same_stem(name, beside) ||
           (folder->merged && strstr(name, ".jsonl"));
}

/* Adds the logs of a packed folder. */
static void look_into_pack(struct folder *folder, const char *path, const struct vt_pack *pack) {
    const char *log;
    for (uint32_t i = 0; (log = vt_pack_log(pack, i)); i++) {
        VT_SCOPED char *file = vt_formatted("%s/%s", path, log);
        look_at(folder, file);
    }
}

/* Files with .vtl in their names (merged ones: .jsonl), and those named like `beside` except for a number; all files
 * if it is NULL, because the user named this folder. */
static int look_into(struct folder *folder, const char *path, const char *beside,
                     struct vt_string *message) {
    const struct vt_pack *pack;
    int error = vt_pack_open(path, &pack, message);
    if (error)
        return error;
    DIR *dir = pack ? NULL : opendir(path);
    if (!dir && !pack) {
        error = errno;
        vt_string_format(message, "%s: %s", path, strerror(error));
        return -error;
    }
    if (pack)
        look_into_pack(folder, path, pack);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        VT_SCOPED_STRING file = {0};
        if (entry->d_name[0] == '.' ||
            (entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK) ||
            !is_called_so(folder, entry->d_name, beside))
            continue;
        if (strcmp(path, "."))
            vt_string_format(&file, "%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/");
        vt_string_add(&file, entry->d_name);
        look_at(folder, file.text);
    }
    if (dir)
        closedir(dir);
    vt_sort(folder->found, folder->count, sizeof *folder->found, newest_first);
    return 0;
}

/* Adds all logs of the runs of the chosen ones. */
static void choose_runs(struct folder *folder) {
    VT_SCOPED bool *chosen = vt_alloc(folder->count, sizeof *chosen);
    vt_log_runs_find(folder->found, folder->count);
    for (uint32_t i = 0; i < folder->count; i++)
        chosen[folder->found[i].run_of] |= folder->found[i].chosen;
    for (uint32_t i = 0; i < folder->count; i++)
        folder->found[i].chosen = chosen[folder->found[i].run_of];
}

/* `run`: see find_logs.h. */
static void choose_logs(struct folder *folder, const char *run) {
    for (uint32_t i = 0; i < folder->count; i++) {
        struct vt_found_log *f = &folder->found[i];
        f->chosen = !run                  ? i == 0
                    : !strcmp(run, "all") ? true
                                          : (f->run[0] && !strncasecmp(f->run, run, strlen(run))) ||
                                                !strcmp(f->job, run);
    }
    if (!run)
        choose_runs(folder);
}

static void folder_free(struct folder *folder) {
    for (uint32_t i = 0; i < folder->count; i++)
        free(folder->found[i].path);
    free(folder->found);
    free(folder->denied);
}

/* Whether `path` is the LOG.nvml or the LOG.summary of a log among the arguments. */
static bool belongs_to_other(char *const *arguments, int count, const char *path) {
    const char *suffix = strrchr(path, '.');
    if (!suffix || (strcmp(suffix, VT_NVML_SUFFIX) && strcmp(suffix, VT_SUMMARY_SUFFIX)))
        return false;
    size_t length = (size_t)(suffix - path);
    for (int i = 0; i < count; i++)
        if (strlen(arguments[i]) == length && !strncmp(arguments[i], path, length))
            return true;
    return false;
}

/* The contents of the folders: logs and merged files, chosen and left out. */
struct taken {
    uint32_t folders, chosen, merged, older, merged_left;
};

/* The line that names the chosen run of a folder, or of each of several; `where` is the last one. */
static void note_run(struct vt_logs *logs, const char *where, const struct taken *taken,
                     const struct folder *folder) {
    struct vt_string said = {0};
    uint32_t chosen = taken->chosen, merged = taken->merged;
    if (taken->folders > 1 && chosen)
        vt_string_format(&said, "newest run in each of %u folders: %u log%s", taken->folders,
                         chosen, vt_plural(chosen));
    else if (taken->folders > 1)
        vt_string_format(&said, "%u merged file%s in %u folders", merged, vt_plural(merged),
                         taken->folders);
    else if (chosen)
        vt_string_format(
            &said, "newest run %s: %s", where,
            vt_basename(logs->paths[logs->count - 1])); /* the log of the first process */
    else
        vt_string_format(&said, "merged %s: %s", where, vt_basename(logs->paths[logs->count - 1]));
    uint32_t more = (chosen ? chosen : merged) - 1;
    if (more && taken->folders == 1)
        vt_string_format(&said, " and %u more", more);
    if (chosen && merged)
        vt_string_format(&said, " and %u merged file%s", merged, vt_plural(merged));
    if (taken->older)
        vt_string_format(&said, "   (%u older left out; --run all)", taken->older);
    else if (taken->merged_left)
        vt_string_format(&said, "   (%u merged file%s left out; --run all)", taken->merged_left,
                         vt_plural(taken->merged_left));
    add_denied(folder, &said);
    free(logs->said);
    logs->said = vt_printable(said.text);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The number of folders in `path` with logs: each host of a job may have written into its own. */
static uint32_t folders_below(struct folder *above, const char *path) {
    uint32_t count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        struct folder below = {0};
        VT_SCOPED_STRING message = {0};
        VT_SCOPED char *folder = vt_formatted("%s/%s", path, entry->d_name);
        struct stat st;
        if (!stat(folder, &st) && S_ISDIR(st.st_mode) &&
            look_into(&below, folder, "", &message) == -EACCES)
            deny(above, folder);
        if (below.denied)
            deny(above, below.denied);
        count += below.count > 0;
        folder_free(&below);
    }
    if (dir)
        closedir(dir);
    return count;
}

static void report_none(struct folder *folder, const char *path, const char *where,
                        struct vt_string *message) {
    uint32_t below = folders_below(folder, path);
    vt_string_format(message, "no log %s: expected *.vtl files, found ", where);
    if (below)
        vt_string_format(message, "them in %u folder%s below; name %s, as in %s%s*/", below,
                         vt_plural(below), below == 1 ? "it" : "them", path,
                         path[strlen(path) - 1] == '/' ? "" : "/");
    else if (folder->denied_count)
        vt_string_add(message, "none that may be read");
    else
        vt_string_add(message, "none; name a log, or trace a program with 'vramtrace run'");
    add_denied(folder, message);
}

/* Adds the logs of the folder `path` that `run` selects. Returns 0, or -errno with `message`. */
static int add_chosen(struct folder *folder, const char *path, const char *where, const char *run,
                      struct taken *taken, struct vt_logs *logs, struct vt_string *message) {
    uint32_t before = logs->count, merged = folder->merged ? folder->merged->count : 0;
    choose_logs(folder, run);
    for (uint32_t i = 0; i < folder->count; i++)
        if (folder->found[i].chosen)
            add_log(logs, folder->found[i].path);
    uint32_t chosen = logs->count - before;
    if (run && !strcmp(run, "all") && !before) {
        vt_log_runs_find(folder->found, folder->count);
        logs->runs = vt_alloc(folder->count, sizeof *logs->runs);
        for (uint32_t i = 0; i < folder->count; i++)
            logs->runs[i] = folder->found[i].run_of;
    }
    bool takes_merged = run ? !strcmp(run, "all") : !folder->count;
    if (merged && takes_merged) {
        vt_sort(folder->merged->paths, merged, sizeof *folder->merged->paths, by_name);
        for (uint32_t i = 0; i < merged; i++)
            add_log(logs, folder->merged->paths[i]);
    }
    if (logs->count == before) {
        if (folder->count || merged)
            vt_string_format(message, "no log %s has a run id that begins with %s, or that job",
                             where, run);
        else
            report_none(folder, path, where, message);
        return -ENOENT;
    }
    taken->folders++;
    taken->chosen += chosen;
    taken->older += folder->count - chosen;
    *(takes_merged ? &taken->merged : &taken->merged_left) += merged;
    if (!run)
        note_run(logs, where, taken, folder);
    return 0;
}

static int choose(const char *path, bool here, const char *run, bool with_merged,
                  struct taken *taken, struct vt_logs *logs, struct vt_string *message) {
    struct vt_logs merged = {0};
    struct folder folder = {.merged = with_merged ? &merged : NULL};
    int error = look_into(&folder, path, here ? "" : NULL, message);
    if (!error) {
        VT_SCOPED char *where = here ? vt_strdup("here") : vt_formatted("in %s", path);
        error = add_chosen(&folder, path, where, run, taken, logs, message);
    }
    folder_free(&folder);
    vt_logs_free(&merged);
    return error;
}

int vt_logs_are_in(const char *path, bool *folder, struct vt_string *message) {
    const struct vt_pack *pack;
    struct stat st;
    *folder = false;
    if (vt_log_file_stat(path, &st)) {
        int error = errno;
        vt_string_format(message, "%s: %s", path, strerror(error));
        return -error;
    }
    int error = vt_pack_open(path, &pack, message);
    *folder = pack ? vt_pack_is_folder(pack) : S_ISDIR(st.st_mode);
    return error;
}

static int find_all_logs(char *const *arguments, int count, const char *run, bool with_merged,
                         struct vt_logs *logs, struct vt_string *message) {
    struct taken taken = {0};
    *logs = (struct vt_logs){0};
    if (count == 0)
        return choose(".", true, run, with_merged, &taken, logs, message);
    bool folders = false;
    for (int i = 0; i < count; i++) {
        bool folder;
        int error = vt_logs_are_in(arguments[i], &folder, message);
        if (!error && folder) {
            folders = true;
            error = choose(arguments[i], false, run, with_merged, &taken, logs, message);
        } else if (!error && !belongs_to_other(arguments, count, arguments[i])) {
            add_log(logs, arguments[i]);
        }
        if (error)
            return error;
    }
    if (run && strcmp(run, "all") && !folders) {
        vt_string_format(message,
                         "--run %s: expected a folder to choose a run from, found only files", run);
        return -EINVAL;
    }
    return 0;
}

int vt_logs_find(char *const *arguments, int count, const char *run, struct vt_logs *logs,
                 struct vt_string *message) {
    return find_all_logs(arguments, count, run, false, logs, message);
}

int vt_logs_find_merged(char *const *arguments, int count, const char *run, struct vt_logs *logs,
                        struct vt_string *message) {
    return find_all_logs(arguments, count, run, true, logs, message);
}

/* --- the other logs of the named logs' runs --- */

static uint64_t file_key(dev_t device, ino_t inode) {
    return vt_mix(vt_mix(device) + inode);
}

/* The listed files, under any name. */
static void list_files(const struct vt_logs *logs, struct vt_map *listed) {
    for (uint32_t i = 0; i < logs->count; i++) {
        struct stat st;
        if (!stat(logs->paths[i], &st))
            vt_map_put(listed, file_key(st.st_dev, st.st_ino), i);
    }
}

static void add_runs_of(struct folder *folder, struct vt_logs *logs, struct vt_map *listed) {
    for (uint32_t i = 0; i < folder->count; i++) {
        struct vt_found_log *f = &folder->found[i];
        f->chosen = vt_map_get(listed, file_key(f->device, f->inode)) != VT_MAP_NONE;
    }
    choose_runs(folder);
    for (uint32_t i = 0; i < folder->count; i++) {
        const struct vt_found_log *f = &folder->found[i];
        if (f->chosen && vt_map_add_key(listed, file_key(f->device, f->inode)))
            add_log(logs, f->path);
    }
}

/* The folder of a file. Free it. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return !slash ? vt_strdup(".") : vt_strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

void vt_logs_complete(struct vt_logs *logs) {
    uint32_t named = logs->count;
    VT_SCOPED_MAP listed = {0};
    char *last = NULL;
    const char *last_name = NULL;
    list_files(logs, &listed);
    for (uint32_t i = 0; i < named; i++) {
        const char *name = vt_basename(logs->paths[i]);
        VT_SCOPED_STRING message = {0};
        struct folder folder = {0};
        char *path = folder_of(logs->paths[i]);
        /* most are in one folder, with usual names for logs, or named like the last one */
        bool done =
            last && !strcmp(last, path) && (strstr(name, ".vtl") || same_stem(name, last_name));
        if (!done && !look_into(&folder, path, name, &message))
            add_runs_of(&folder, logs, &listed);
        folder_free(&folder);
        free(last);
        last = path;
        last_name = name;
    }
    free(last);
}

void vt_logs_free(struct vt_logs *logs) {
    vt_free_texts(logs->paths, logs->count);
    free(logs->runs);
    free(logs->said);
    *logs = (struct vt_logs){0};
}
