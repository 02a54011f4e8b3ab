/* SPDX-License-Identifier: MIT */
/*
 * The logs of a run (see run_logs.h).
 */
#define _GNU_SOURCE
#include "run_logs.h"

#include "base/base.h"
#include "replay/replay.h"
#include "logfile/logfile.h"
#include "run_list.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void add(void *of, const char *line) {
    struct vt_run_logs *logs = of;
    if (*line == '!')
        logs->failed++;
    else
        *VT_ADD(logs->paths, logs->count, logs->room) = vt_strdup(line);
}

void vt_run_logs_read(const char *path, struct vt_run_logs *logs) {
    struct vt_run_list list = {.path = path};
    *logs = (struct vt_run_logs){0};
    vt_run_list_read(&list, add, logs);
    vt_run_list_free(&list);
}

void vt_run_logs_free(struct vt_run_logs *logs) {
    for (size_t i = 0; i < logs->count; i++)
        free(logs->paths[i]);
    free(logs->paths);
    *logs = (struct vt_run_logs){0};
}

/* --- none --- */

/* The missing part of the driver; NULL: none. A container may have the device files (of a PC, a Tegra, or Windows)
 * without the library. */
static const char *missing_driver(void) {
    static const char *const files[] = {"/dev/nvidiactl", "/dev/nvhost-ctrl", "/dev/nvmap",
                                        "/dev/dxg"};
    bool found = false;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        found |= !access(files[i], F_OK);
    if (!found)
        return "this machine has no NVIDIA driver";
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return "libcuda.so.1, the NVIDIA driver's library, cannot be loaded";
    dlclose(library);
    return NULL;
}

/* Whether `pytest --vramtrace` executed this program (packaging/wheel/vramtrace/pytest_start.py). */
static bool is_pytest(void) {
    const char *pid = getenv("VRAMTRACE_PYTEST_STARTED_BY");
    return pid && strtol(pid, NULL, 10) == (long)getpid();
}

char *vt_run_logs_why_none(bool simulated) {
    /* the variable: inside a run on the simulated GPU */
    const char *missing = simulated || getenv("VRAMTRACE_SIM_SHARE") ? NULL : missing_driver();
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (!missing)
        return vt_formatted(visible ? "no CUDA call succeeded (CUDA_VISIBLE_DEVICES is \"%s\")"
                                    : "no CUDA call succeeded",
                            visible);
    return vt_formatted("no CUDA call succeeded, and %s: %s runs it on the simulated GPU", missing,
                        is_pytest() ? "--vramtrace-sim" : "--sim");
}

/* --- an end that the process could not record --- */

static bool write_field(int fd, const void *field, size_t size, size_t offset) {
    return pwrite(fd, field, size, (off_t)offset) == (ssize_t)size;
}

/* Writes one field of the header; false: failed. */
#define PUT(fd, header, field)                                                                     \
    write_field(fd, &(header)->field, sizeof(header)->field, offsetof(struct vt_log_header, field))

/* Writes the time of the process's end in the log's ticks, and a second calibration pair. The pair is later, and so
 * better, than the process's own; we share its clocks. */
static bool put_time(int fd, struct vt_log_header *h, const struct vt_run_child *child) {
    uint64_t ticks = h->clock == VT_CLOCK_MONOTONIC ? child->ended_ns : child->ended_tsc;
    if (ticks <= h->start_ticks || child->ended_ns <= h->start_monotonic_ns)
        return true; /* this machine lacks that clock, so the time stays unknown */
    h->exit_ticks = ticks - h->start_ticks;
    if (!PUT(fd, h, exit_ticks))
        return false;
    if (ticks <= h->calibration_ticks)
        return true;
    const uint64_t pair[] = {ticks,
                             child->ended_ns}; /* in one write: half a pair gives a wrong rate */
    return write_field(fd, pair, sizeof pair, offsetof(struct vt_log_header, calibration_ticks));
}

/* Writes the kind last, because it makes the other fields valid. */
static bool put_end(int fd, struct vt_log_header *h, const struct vt_run_child *child) {
    h->exit_status = child->signal ? child->signal : child->status;
    h->exit_kind = child->signal ? VT_EXIT_SIGNALED : VT_EXIT_EXITED;
    h->flags |= child->signal ? 0 : VT_FLAG_BARE_END;
    return put_time(fd, h, child) && PUT(fd, h, exit_status) && PUT(fd, h, flags) &&
           PUT(fd, h, exit_kind);
}

void vt_run_logs_mark_end(const struct vt_run_logs *logs, const struct vt_run_child *child) {
    for (size_t i = 0; i < logs->count; i++) {
        struct vt_log_header header;
        VT_SCOPED_STRING message = {0};
        uint64_t bytes;
        VT_SCOPED_RIGHTS rights = vt_rights_lower(logs->paths[i]);
        VT_SCOPED_FD fd =
            rights < 0 ? -1 : vt_file_open_as(logs->paths[i], O_RDWR | O_NOFOLLOW, NULL);
        if (fd < 0)
            continue;
        if (!vt_log_read_header(fd, logs->paths[i], &header, &bytes, &message) &&
            header.exit_kind == VT_EXIT_NONE && header.pid == (uint32_t)child->pid &&
            header.process_start == child->started && !put_end(fd, &header, child))
            vt_error("%s: cannot write how the process ended (status %d): %s", logs->paths[i],
                     child->status, strerror(errno));
    }
}

/* --- the lines --- */

/* A log's process, for its line. */
struct summary {
    const char *path;
    size_t number; /* its index in the list */
    char *program; /* NULL: the log cannot be read; `fault` says why */
    char *fault;
    uint32_t pid;
    int32_t rank; /* -1: unknown */
    uint64_t bytes, count, dropped;
    int failed; /* the first allocation's error, if none succeeded and memory was not short; 0: none */
    uint64_t python_bytes, python_count; /* at Python's end, if Python freed some then; else 0 */
    bool deleted;
    bool running, replaced; /* replaced: the process executed another program */
};

static char *program_of(const struct vt_log_header *h) {
    VT_SCOPED char *first = vt_strndup(h->command, h->command_bytes);
    const char *name = vt_basename(*first ? first : h->exe);
    return vt_printable(vt_strdup(*name ? name : "(unknown)"));
}

static void sum_up(const char *path, struct summary *s) {
    struct vt_log log;
    struct vt_string message = {0};
    *s = (struct summary){.path = path};
    VT_SCOPED_RIGHTS rights = vt_rights_lower(path);
    if (vt_log_open(path, &log, &message)) {
        s->fault = message.text;
        s->deleted = rights >= 0 && access(path, F_OK) && errno == ENOENT;
        return;
    }
    s->program = program_of(&log.header);
    s->pid = log.header.pid;
    s->rank = log.header.rank;
    s->running = log.running;
    s->replaced = log.header.exit_kind == VT_EXIT_EXEC;
    s->dropped = vt_dropped_events(&log.header);
    struct vt_window all = {0, VT_TICKS_MASK};
    struct vt_replay replay;
    if (vt_replay_run(&log, all, (struct vt_replay_options){0}, &replay, &message))
        s->fault = message.text;
    for (size_t i = 0; i < sizeof replay.devices / sizeof replay.devices[0]; i++) {
        s->bytes += replay.devices[i].driver.live_bytes;
        s->count += replay.devices[i].driver.live_count;
    }
    s->failed =
        replay.error_count && !replay.site_count && !s->dropped ? replay.errors[0].first.result : 0;
    for (size_t i = 0; i < replay.snapshot_count && log.code_count; i++) {
        const struct vt_replay_snapshot *at_end = &replay.snapshots[i];
        if (at_end->record.why == VT_SNAPSHOT_END && at_end->driver_count > s->count) {
            s->python_bytes = at_end->driver_bytes;
            s->python_count = at_end->driver_count;
        }
    }
    vt_replay_free(&replay);
    vt_log_close(&log);
}

/* A path quoted for a shell, and relative if it is in the current folder. Free it. */
static char *as_typed(const char *path) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./+,:=@%^-";
    VT_SCOPED char *here = getcwd(NULL, 0);
    size_t length = here ? strlen(here) : 0;
    if (length > 1 && !strncmp(path, here, length) && path[length] == '/')
        path += length + 1;
    struct vt_string typed = {0};
    if (*path == '-')
        vt_string_add(&typed, "./");
    if (path[strspn(path, plain)] == 0) {
        vt_string_add(&typed, path);
        return typed.text;
    }
    VT_SCOPED char *shown = vt_printable(vt_strdup(path));
    bool escaped = strcmp(shown, path) != 0; /* then $'...', with unprintable characters as \ooo */
    vt_string_add(&typed, escaped ? "$'" : "'");
    for (; *path; path++)
        vt_string_format(&typed,
                         escaped && (*path < ' ' || *path > '~' || strchr("'\\", *path)) ? "\\%03o"
                         : *path == '\''                                                 ? "'\\%c'"
                                                                                         : "%c",
                         (unsigned char)*path);
    vt_string_add(&typed, "'");
    return vt_printable(typed.text);
}

/* "3 live allocations, 1.50 GiB (120, 7.00 GiB until Python ended)" */
static void print_live(FILE *out, const struct summary *s) {
    fprintf(out, "%s live allocation%s, %s", VT_NUMBER(s->count), vt_plural(s->count),
            VT_BYTES(s->bytes));
    if (s->python_count)
        fprintf(out, " (%s, %s until Python ended)", VT_NUMBER(s->python_count),
                VT_BYTES(s->python_bytes));
    if (s->failed)
        fprintf(out, ", an allocation failed with error %d", s->failed);
    if (s->dropped)
        fprintf(out, ", %s event%s dropped", VT_NUMBER(s->dropped), vt_plural(s->dropped));
}

/* `several`: there are other lines, so the rank is shown to distinguish them. */
static void print_line(FILE *out, const struct summary *s, bool several) {
    if (!s->program && !s->deleted) {
        vt_print(out, "vramtrace: %s\n", vt_printable(s->fault));
        return;
    }
    VT_SCOPED char *typed = as_typed(s->path);
    if (s->deleted) {
        fprintf(out, "vramtrace: the log %s was deleted before the command ended\n", typed);
        return;
    }
    fprintf(out, "vramtrace: %s (", s->program);
    if (several && s->rank >= 0)
        fprintf(out, "rank %d, ", s->rank);
    fprintf(out, "pid %u): ", s->pid);
    print_live(out, s);
    fprintf(out, "%s; vramtrace report %s\n", s->running ? ", still running" : "", typed);
}

/* Readable logs first, then by bytes, then by their order in the list. */
static int by_bytes(const void *a, const void *b) {
    const struct summary *x = a, *y = b;
    return VT_ORDER({!x->program, !y->program}, {y->bytes, x->bytes}, {x->number, y->number});
}

/* The folder of a log, as typed in a shell. Free it. */
static char *folder_of(const char *path) {
    size_t length = (size_t)(vt_basename(path) - path);
    VT_SCOPED char *folder = vt_strndup(path, length > 1 ? length - 1 : 1);
    VT_SCOPED char *here = getcwd(NULL, 0);
    return here && !strcmp(folder, here) ? vt_strdup(".") : as_typed(folder);
}

/* Prints the one command that reports all processes: it names their folders, since a report takes the newest run
 * there. A report on the working folder needs no name, but then reads only files named like logs. */
static void print_command(FILE *out, const struct summary *all, size_t count) {
    enum { FOLDERS = 4 };
    char *folders[FOLDERS + 1];
    size_t found = 0;
    bool named = true;
    for (size_t i = 0; i < count && found <= FOLDERS; i++) {
        size_t at = 0;
        if (!all[i].program)
            continue; /* unreadable, and perhaps deleted with its folder */
        char *folder = folder_of(all[i].path);
        while (at < found && strcmp(folders[at], folder))
            at++;
        if (at == found)
            folders[found++] = folder;
        else
            free(folder);
        named &= strstr(vt_basename(all[i].path), ".vtl") != NULL;
    }
    if (found && found <= FOLDERS)
        fputs("; vramtrace report", out);
    for (size_t i = 0; i < found; i++) {
        if (found <= FOLDERS && !(found == 1 && named && !strcmp(folders[0], ".")))
            fprintf(out, " %s", folders[i]);
        free(folders[i]);
    }
}

static void print_total(FILE *out, const struct summary *all, size_t count) {
    struct summary total = {0};
    for (size_t i = 0; i < count; i++) {
        total.count += all[i].count;
        total.bytes += all[i].bytes;
        total.dropped += all[i].dropped;
        total.failed = total.failed ? total.failed : all[i].failed;
        total.python_bytes += all[i].python_count ? all[i].python_bytes : all[i].bytes;
        total.python_count += all[i].python_count ? all[i].python_count : all[i].count;
    }
    if (total.python_count == total.count)
        total.python_count = 0;
    fprintf(out, "vramtrace: %s processes in all: ", VT_NUMBER(count));
    print_live(out, &total);
    print_command(out, all, count);
    fputc('\n', out);
}

void vt_run_logs_print(const struct vt_run_logs *logs, FILE *out) {
    VT_SCOPED struct summary *all = vt_alloc(logs->count + 1, sizeof *all);
    size_t count = logs->count, kept = 0;
    for (size_t i = 0; i < count; i++) {
        sum_up(logs->paths[i], &all[i]);
        all[i].number = i;
    }
    /* A log that ended by exec is the first part of a process. It gets a line only if it is the only log or has live
     * memory. */
    for (size_t i = 0; i < count; i++) {
        if (all[i].replaced && !all[i].count && count > 1)
            free(all[i].program);
        else
            all[kept++] = all[i];
    }
    count = kept;
    if (count > VT_RUN_LINES)
        qsort(all, count, sizeof *all, by_bytes);
    for (size_t i = 0; i < count && i < VT_RUN_LINES; i++)
        print_line(out, &all[i], count > 1);
    if (count > 1)
        print_total(out, all, count);
    for (size_t i = 0; i < count; i++) {
        free(all[i].program);
        free(all[i].fault);
    }
}

void vt_run_logs_print_renamed(const struct vt_run_logs *logs, const char *asked, FILE *out) {
    for (size_t i = 0; i < logs->count; i++) {
        const char *path = logs->paths[i], *name = vt_basename(path), *dot = strrchr(name, '.');
        bool numbered = dot && dot[1] && !dot[1 + strspn(dot + 1, "0123456789")];
        VT_SCOPED_RIGHTS rights = vt_rights_lower(path);
        VT_SCOPED char *first = vt_strndup(path, (size_t)((numbered ? dot : name) - path));
        bool ours = !strcmp(vt_basename(asked ? asked : ""), name);
        for (size_t k = 0; k < logs->count; k++)
            ours |= !strcmp(logs->paths[k],
                            first); /* another process of this run took the name first */
        if (ours || !numbered || rights < 0 || access(first, F_OK))
            continue;
        VT_SCOPED char *old = as_typed(first), *log = as_typed(path);
        fprintf(out, "vramtrace: %s was there already: the log is %s\n", old, log);
        return;
    }
}
