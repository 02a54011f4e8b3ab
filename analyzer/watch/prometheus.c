/* SPDX-License-Identifier: MIT */
/*
 * A frame as metrics, in the text format that the node exporter's textfile collector reads. The
 * metrics are documented in vramtrace-watch(1), and are stable.
 */
#include "writers.h"

#include "watch_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A label's value: valid UTF-8, with the three escapes of the format. */
static void put_value(const char *text, FILE *out) {
    size_t left = text ? strlen(text) : 0;
    fputc('"', out);
    while (left) {
        unsigned bytes = vt_utf8_length(text, left);
        if (*text == '\n')
            fputs("\\n", out);
        else if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (!vt_shown_length(text, left))
            fputs("\357\277\275", out); /* U+FFFD */
        else
            fwrite(text, 1, bytes, out);
        bytes = bytes ? bytes : 1;
        text += bytes;
        left -= bytes;
    }
    fputc('"', out);
}

static void put_label(const char *name, const char *text, FILE *out) {
    fprintf(out, ",%s=", name);
    put_value(text, out);
}

static void put_labels_of_process(const struct vt_watch_process *w, FILE *out) {
    fprintf(out, "{pid=\"%u\"", w->pid);
    put_label("log", w->log ? w->log : w->source, out);
    if (w->process && w->process->host)
        put_label("host", w->process->host, out);
    if (w->process && w->process->job)
        put_label("job_id", w->process->job, out);
    if (w->process && w->process->rank >= 0)
        fprintf(out, ",rank=\"%d\"", w->process->rank);
}

/* Begins a metric: its samples stand together. */
static void begin(const char *name, const char *type, const char *help, FILE *out) {
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_number(uint64_t value, FILE *out) {
    fprintf(out, "} %llu\n", (unsigned long long)value);
}

/* --- of a device --- */

enum device_value {
    TOTAL,
    LIVE,
    IN_USE,
    CACHED,
    UNTRACKED,
    OTHERS,
    FREE,
    PEAK,
    BLOCKS,
    ALLOCATIONS,
    FREES,
    FAILURES,
    DEVICE_VALUES
};

static const struct {
    const char *name, *type, *help;
} device_metrics[DEVICE_VALUES] = {
    [TOTAL] = {"vramtrace_device_total_bytes", "gauge", "Memory of the device."},
    [LIVE] = {"vramtrace_device_live_bytes", "gauge",
              "Device memory that the process has allocated and not freed."},
    [IN_USE] = {"vramtrace_device_in_use_bytes", "gauge",
                "Live device memory without what caching allocators keep idle."},
    [CACHED] = {"vramtrace_device_cached_bytes", "gauge",
                "Live device memory that caching allocators keep idle."},
    [UNTRACKED] = {"vramtrace_device_untracked_bytes", "gauge",
                   "Device memory of the process beside its allocations: contexts, loaded code."},
    [OTHERS] = {"vramtrace_device_other_processes_bytes", "gauge",
                "Device memory of other processes."},
    [FREE] = {"vramtrace_device_free_bytes", "gauge", "Device memory that is left."},
    [PEAK] = {"vramtrace_device_peak_bytes", "gauge",
              "The most device memory that the process had live at a time."},
    [BLOCKS] = {"vramtrace_device_live_allocations", "gauge", "Live allocations."},
    [ALLOCATIONS] = {"vramtrace_device_allocations_total", "counter", "Allocations."},
    [FREES] = {"vramtrace_device_frees_total", "counter", "Frees."},
    [FAILURES] = {"vramtrace_device_failed_allocations_total", "counter",
                  "Allocations that the driver refused."},
};

/* VT_UNKNOWN: it is left out. */
static uint64_t device_value(const struct vt_watch_device *s, enum device_value value) {
    const uint64_t values[DEVICE_VALUES] = {
        [TOTAL] = s->device->total_bytes,
        [LIVE] = s->device->live_bytes,
        [IN_USE] = s->in_use,
        [CACHED] = s->cached,
        [UNTRACKED] = s->untracked,
        [OTHERS] = s->others,
        [FREE] = s->free,
        [PEAK] = s->device->peak_bytes,
        [BLOCKS] = s->device->live_count,
        [ALLOCATIONS] = s->device->alloc_count,
        [FREES] = s->device->free_count,
        [FAILURES] = s->device->failed_count,
    };
    return values[value];
}

static void put_devices(const struct vt_watch_frame *frame, FILE *out) {
    for (enum device_value value = 0; value < DEVICE_VALUES; value++) {
        begin(device_metrics[value].name, device_metrics[value].type, device_metrics[value].help,
              out);
        for (uint32_t i = 0; i < frame->count; i++) {
            const struct vt_watch_process *w = frame->processes[i];
            for (uint32_t d = 0; w->process && d < w->process->device_count; d++) {
                const struct vt_device *device = w->devices[d].device;
                uint64_t number = device_value(&w->devices[d], value);
                if (number == VT_UNKNOWN)
                    continue;
                fputs(device_metrics[value].name, out);
                put_labels_of_process(w, out);
                fprintf(out, ",device=\"%u\"", device->ordinal);
                if (device->uuid)
                    put_label("uuid", device->uuid, out);
                put_number(number, out);
            }
        }
    }
}

/* --- of a process --- */

enum process_value { RUNNING, PINNED, MANAGED, EVENTS, DROPPED, OOMS, LEAKS, PROCESS_VALUES };

static const struct {
    const char *name, *type, *help;
} process_metrics[PROCESS_VALUES] = {
    [RUNNING] = {"vramtrace_process_running", "gauge", "Whether the process runs: 1 or 0."},
    [PINNED] = {"vramtrace_pinned_host_live_bytes", "gauge", "Pinned host memory that is live."},
    [MANAGED] = {"vramtrace_managed_live_bytes", "gauge", "Managed memory that is live."},
    [EVENTS] = {"vramtrace_events_total", "counter", "Events in the log."},
    [DROPPED] = {"vramtrace_dropped_events_total", "counter", "Events that the log lacks."},
    [OOMS] = {"vramtrace_out_of_memory_total", "counter",
              "Requests that failed for lack of memory."},
    [LEAKS] = {"vramtrace_leaks", "gauge",
               "Leaks that are known: of a running process, what grows."},
};

static uint64_t process_value(const struct vt_watch_process *w, enum process_value value) {
    const struct vt_process *p = w->process;
    uint64_t leaks = 0;
    if (value == RUNNING)
        return w->state == VT_WATCH_RUNNING;
    if (!p)
        return VT_UNKNOWN;
    for (uint32_t i = 0; i < p->leak_count; i++)
        leaks += vt_frame_judges(p, &p->leaks[i]);
    const uint64_t values[PROCESS_VALUES] = {
        [PINNED] = p->pinned.live_bytes,
        [MANAGED] = p->managed.live_bytes,
        [EVENTS] = p->events,
        [DROPPED] = p->dropped_events,
        [OOMS] = p->oom_count + p->ooms_left_out,
        [LEAKS] = leaks,
    };
    return values[value];
}

static void put_processes(const struct vt_watch_frame *frame, FILE *out) {
    for (enum process_value value = 0; value < PROCESS_VALUES; value++) {
        begin(process_metrics[value].name, process_metrics[value].type, process_metrics[value].help,
              out);
        for (uint32_t i = 0; i < frame->count; i++) {
            uint64_t number = process_value(frame->processes[i], value);
            if (number == VT_UNKNOWN)
                continue;
            fputs(process_metrics[value].name, out);
            put_labels_of_process(frame->processes[i], out);
            put_number(number, out);
        }
    }
}

/* --- of a line, and of an owner --- */

static void put_lines(const struct vt_watch_frame *frame, uint32_t top, FILE *out) {
    begin("vramtrace_line_live_bytes", "gauge",
          "Device memory that a line of code allocated and that is live: the largest lines.", out);
    for (uint32_t i = 0; i < frame->count; i++) {
        const struct vt_watch_process *w = frame->processes[i];
        for (uint32_t l = 0; l < w->line_count && l < top; l++) {
            char *where = vt_site_text(w->process, w->lines[l].site, 400);
            fputs("vramtrace_line_live_bytes", out);
            put_labels_of_process(w, out);
            put_label("site", w->lines[l].site->name, out);
            put_label("where", where, out);
            put_number(w->lines[l].bytes, out);
            free(where);
        }
    }
}

static void put_owners(const struct vt_watch_frame *frame, uint32_t top, FILE *out) {
    begin("vramtrace_owner_bytes", "gauge",
          "Device memory that a variable kept at the last snapshot: the largest owners.", out);
    for (uint32_t i = 0; i < frame->count; i++) {
        const struct vt_watch_process *w = frame->processes[i];
        for (uint32_t o = 0; o < w->owner_count && o < top; o++) {
            char *text = vt_owner_text(w->process, &w->owners[o].owner, 0);
            fputs("vramtrace_owner_bytes", out);
            put_labels_of_process(w, out);
            put_label("owner", text, out);
            put_label("role", vt_purpose_names[w->owners[o].owner.purpose], out);
            fprintf(out, ",number=\"%u\"", o + 1); /* two may have one name */
            put_number(w->owners[o].bytes, out);
            free(text);
        }
    }
}

static int write_metrics(const struct vt_watch_frame *frame, uint32_t top, const char *path) {
    int error = 0;
    FILE *out = fopen(path, "we");
    if (!out)
        return -errno;
    put_processes(frame, out);
    put_devices(frame, out);
    put_lines(frame, top, out);
    put_owners(frame, top, out);
    if (fflush(out) || ferror(out))
        error = errno ? -errno : -EIO;
    if (fclose(out) && !error)
        error = -errno;
    return error;
}

/* The collector must find a whole file, so a file is replaced: a link's target, not the link. */
static int replace(const struct vt_watch_frame *frame, uint32_t top, const char *path) {
    char *target = realpath(path, NULL); /* NULL: there is none yet */
    path = target ? target : path;
    char *next = vt_formatted("%s.%d.tmp", path, (int)getpid()); /* the collector reads *.prom */
    int error = write_metrics(frame, top, next);
    if (!error && (chmod(next, 0644) || rename(next, path)))
        error = -errno;
    if (error)
        unlink(next);
    free(next);
    free(target);
    return error;
}

int vt_prometheus_write(const struct vt_watch_frame *frame, uint32_t top, const char *path,
                        struct vt_string *message) {
    struct stat at;
    bool is_file = stat(path, &at) || S_ISREG(at.st_mode); /* or will be one */
    /* A device or a pipe is written to: /dev/null must not become a file. */
    int error = is_file ? replace(frame, top, path) : write_metrics(frame, top, path);
    if (error)
        vt_string_format(message, "%s: %s", path, strerror(-error));
    return error;
}
