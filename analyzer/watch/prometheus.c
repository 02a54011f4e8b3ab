/* SPDX-License-Identifier: MIT */
/*
 * A frame as metrics, in the text format of the node exporter's textfile collector. The metrics are documented in
 * vramtrace-watch(1), and are stable.
 */
#include "writers.h"

#include "logfile/logfile.h"
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

/* A metric, and its value in one process or device; VT_UNKNOWN: left out. */
struct metric {
    const char *name, *type, *help;
    uint64_t value;
};

/* Begins a metric: all its samples follow. */
static void begin_metric(const char *name, const char *type, const char *help, FILE *out) {
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_number(uint64_t value, FILE *out) {
    fprintf(out, "} %llu\n", (unsigned long long)value);
}

/* --- of a device --- */

enum { DEVICE_METRICS = 12 };

static void take_metrics_of_device(const struct vt_watch_device *s,
                                   struct metric to[DEVICE_METRICS]) {
    const struct vt_device *d = s->device;
    const struct metric metrics[DEVICE_METRICS] = {
        {"vramtrace_device_total_bytes", "gauge", "Memory of the device.", d->total_bytes},
        {"vramtrace_device_live_bytes", "gauge",
         "Device memory that the process has allocated and not freed.", d->live_bytes},
        {"vramtrace_device_in_use_bytes", "gauge",
         "Live device memory without what caching allocators keep idle.", s->in_use},
        {"vramtrace_device_cached_bytes", "gauge",
         "Live device memory that caching allocators keep idle.", s->cached},
        {"vramtrace_device_untracked_bytes", "gauge",
         "Device memory of the process besides its allocations: contexts, loaded code.",
         s->untracked},
        {"vramtrace_device_other_processes_bytes", "gauge", "Device memory of other processes.",
         s->others},
        {"vramtrace_device_free_bytes", "gauge", "Free device memory.", s->free},
        {"vramtrace_device_peak_bytes", "gauge", "The most device memory that was live at once.",
         d->peak_bytes},
        {"vramtrace_device_live_allocations", "gauge", "Live allocations.", d->live_count},
        {"vramtrace_device_allocations_total", "counter", "Allocations.", d->alloc_count},
        {"vramtrace_device_frees_total", "counter", "Frees.", d->free_count},
        {"vramtrace_device_failed_allocations_total", "counter",
         "Allocations that the driver refused.", d->failed_count},
    };
    memcpy(to, metrics, sizeof metrics);
}

static void put_devices(const struct vt_watch_frame *frame, FILE *out) {
    struct metric m[DEVICE_METRICS];
    take_metrics_of_device(&(struct vt_watch_device){.device = &(struct vt_device){0}}, m);
    for (unsigned which = 0; which < DEVICE_METRICS; which++) {
        begin_metric(m[which].name, m[which].type, m[which].help, out);
        for (uint32_t i = 0; i < frame->count; i++) {
            const struct vt_watch_process *w = frame->processes[i];
            for (uint32_t d = 0; w->process && d < w->process->device_count; d++) {
                const struct vt_device *device = w->devices[d].device;
                take_metrics_of_device(&w->devices[d], m);
                if (m[which].value == VT_UNKNOWN)
                    continue;
                fputs(m[which].name, out);
                put_labels_of_process(w, out);
                fprintf(out, ",device=\"%u\"", device->ordinal);
                if (device->uuid)
                    put_label("uuid", device->uuid, out);
                put_number(m[which].value, out);
            }
        }
    }
}

/* --- of a process --- */

enum { PROCESS_METRICS = 7 };

/* Before anything was read, the only known fact is that it is not running. */
static void take_metrics_of_process(const struct vt_watch_process *w,
                                    struct metric to[PROCESS_METRICS]) {
    static const struct vt_process none;
    const struct vt_process *p = w->process ? w->process : &none;
    uint64_t leaks = 0;
    for (uint32_t i = 0; i < p->leak_count; i++)
        leaks += vt_frame_shows_leak(p, &p->leaks[i]);
    const struct metric metrics[PROCESS_METRICS] = {
        {"vramtrace_process_running", "gauge", "Whether the process is running: 1 or 0.",
         w->state == VT_WATCH_RUNNING},
        {"vramtrace_pinned_host_live_bytes", "gauge", "Pinned host memory that is live.",
         p->pinned.live_bytes},
        {"vramtrace_managed_live_bytes", "gauge", "Managed memory that is live.",
         p->managed.live_bytes},
        {"vramtrace_events_total", "counter", "Events in the log.", p->events},
        {"vramtrace_dropped_events_total", "counter", "Events that could not be recorded.",
         p->quality.missing},
        {"vramtrace_out_of_memory_total", "counter", "Requests that failed for lack of memory.",
         p->oom_count + p->ooms_left_out},
        {"vramtrace_leaks", "gauge", "Known leaks; in a running process, those that grow.", leaks},
    };
    memcpy(to, metrics, sizeof metrics);
    for (unsigned i = 1; i < PROCESS_METRICS && !w->process; i++)
        to[i].value = VT_UNKNOWN;
}

static void put_processes(const struct vt_watch_frame *frame, FILE *out) {
    struct metric m[PROCESS_METRICS];
    take_metrics_of_process(&(struct vt_watch_process){0}, m);
    for (unsigned which = 0; which < PROCESS_METRICS; which++) {
        begin_metric(m[which].name, m[which].type, m[which].help, out);
        for (uint32_t i = 0; i < frame->count; i++) {
            take_metrics_of_process(frame->processes[i], m);
            if (m[which].value == VT_UNKNOWN)
                continue;
            fputs(m[which].name, out);
            put_labels_of_process(frame->processes[i], out);
            put_number(m[which].value, out);
        }
    }
}

/* --- of a line, and of an owner --- */

static void put_lines(const struct vt_watch_frame *frame, uint32_t top, FILE *out) {
    begin_metric("vramtrace_line_live_bytes", "gauge",
                 "Live device memory of a line of code: the largest lines.", out);
    for (uint32_t i = 0; i < frame->count; i++) {
        const struct vt_watch_process *w = frame->processes[i];
        for (uint32_t l = 0; l < w->line_count && l < top; l++) {
            VT_SCOPED char *where = vt_site_text(w->process, w->lines[l].site, 400);
            fputs("vramtrace_line_live_bytes", out);
            put_labels_of_process(w, out);
            put_label("site", w->lines[l].site->name, out);
            put_label("where", where, out);
            put_number(w->lines[l].bytes, out);
        }
    }
}

static void put_owners(const struct vt_watch_frame *frame, uint32_t top, FILE *out) {
    begin_metric("vramtrace_owner_bytes", "gauge",
                 "Device memory that a variable kept at the last snapshot: the largest owners.",
                 out);
    for (uint32_t i = 0; i < frame->count; i++) {
        const struct vt_watch_process *w = frame->processes[i];
        for (uint32_t o = 0; o < w->owner_count && o < top; o++) {
            VT_SCOPED char *text = vt_owner_text(w->process, &w->owners[o].owner, 0);
            fputs("vramtrace_owner_bytes", out);
            put_labels_of_process(w, out);
            put_label("owner", text, out);
            put_label("role", vt_purpose_names[w->owners[o].owner.purpose], out);
            fprintf(out, ",number=\"%u\"", o + 1); /* two owners may have one name */
            put_number(w->owners[o].bytes, out);
        }
    }
}

/* The collector must find a complete file, and needs permission to read it. */
char *vt_prometheus_write(const struct vt_watch_frame *frame, uint32_t top, const char *path) {
    struct vt_new_file file;
    if (vt_log_is_log(path))
        return vt_formatted("%s: not replaced: it is a log", path);
    int error = vt_new_file_open(&file, path, VT_NEW_FILE_GIVEN, 0644);
    if (error)
        return vt_formatted("%s: %s", path, file.why);
    put_processes(frame, file.out);
    put_devices(frame, file.out);
    put_lines(frame, top, file.out);
    put_owners(frame, top, file.out);
    if (!file.exists && fchmod(fileno(file.out), 0644))
        error = -errno;
    error = vt_new_file_close(&file, error);
    return error ? vt_formatted("%s: %s", path, strerror(-error)) : NULL;
}
