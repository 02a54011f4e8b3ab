/* SPDX-License-Identifier: MIT */
/*
 * A frame as metrics, in the text format of the node exporter's textfile collector. Metrics of devices and layers come
 * from the rows of their JSON (report/keys.h), by the rule in vramtrace-watch(1).
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

/* Begins a metric: all its samples follow. */
static void begin_metric(const char *name, const char *type, const char *help, FILE *out) {
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_number(uint64_t value, FILE *out) {
    fprintf(out, "} %llu\n", (unsigned long long)value);
}

/* --- of rows --- */

/* The nth struct of a process that the rows describe; NULL: it has no more. */
typedef const void *subject(const struct vt_watch_process *w, uint32_t n);

static const void *device_of(const struct vt_watch_process *w, uint32_t n) {
    return w->process && n < w->process->device_count ? w->devices[n].device : NULL;
}

static const void *shares_of(const struct vt_watch_process *w, uint32_t n) {
    return w->process && n < w->process->device_count ? &w->devices[n] : NULL;
}

static const void *pinned_of(const struct vt_watch_process *w, uint32_t n) {
    return w->process && !n ? &w->process->pinned : NULL;
}

static const void *managed_of(const struct vt_watch_process *w, uint32_t n) {
    return w->process && !n ? &w->process->managed : NULL;
}

static const void *figures_of(const struct vt_watch_process *w, uint32_t n) {
    return w->process && !n ? &w->figures : NULL;
}

static const struct family {
    const char *prefix;
    const struct vt_key *keys;
    subject *of;
    bool device; /* samples have its labels */
} families[] = {
    {"vramtrace_process", vt_watch_process_keys, figures_of, false},
    {"vramtrace_device", vt_device_keys, device_of, true},
    {"vramtrace_device", vt_watch_device_keys, shares_of, true},
    {"vramtrace_pinned_host", vt_apart_keys, pinned_of, false},
    {"vramtrace_managed", vt_apart_keys, managed_of, false},
};

/* A key of bytes or a count is a gauge of that name, of a total a counter: "alloc_count" is "alloc_total". Other keys
 * are none. */
static void put_metric(const struct vt_watch_frame *frame, const struct family *f,
                       const struct vt_key *key, FILE *out) {
    bool total = !strncmp(key->kind, "total", 5);
    const char *count = total ? strstr(key->key, "_count") : NULL;
    size_t length = count ? (size_t)(count - key->key) : strlen(key->key);
    VT_SCOPED char *name =
        vt_formatted("%s_%.*s%s", f->prefix, (int)length, key->key, total ? "_total" : "");
    begin_metric(name, total ? "counter" : "gauge", key->meaning, out);
    for (uint32_t i = 0; i < frame->count; i++) {
        const struct vt_watch_process *w = frame->processes[i];
        const void *of;
        uint64_t value;
        for (uint32_t n = 0; (of = f->of(w, n)); n++) {
            vt_key_value(key, of, &value);
            if (value == VT_UNKNOWN)
                continue;
            fputs(name, out);
            put_labels_of_process(w, out);
            if (f->device)
                fprintf(out, ",device=\"%u\"", w->process->devices[n].ordinal);
            if (f->device && w->process->devices[n].uuid)
                put_label("uuid", w->process->devices[n].uuid, out);
            put_number(value, out);
        }
    }
}

static void put_running(const struct vt_watch_frame *frame, FILE *out) {
    begin_metric("vramtrace_process_running", "gauge", "whether the process is running: 1 or 0",
                 out);
    for (uint32_t i = 0; i < frame->count; i++) {
        fputs("vramtrace_process_running", out);
        put_labels_of_process(frame->processes[i], out);
        put_number(frame->processes[i]->state == VT_WATCH_RUNNING, out);
    }
}

static void put_families(const struct vt_watch_frame *frame, FILE *out) {
    for (const struct family *f = families; f < families + sizeof families / sizeof *families; f++)
        for (const struct vt_key *key = f->keys; key->key; key++)
            if (key->type == VT_KEY_NUMBER && strncmp(key->kind, "ns", 2))
                put_metric(frame, f, key, out);
}

/* --- of a line, and of an owner --- */

static void put_lines(const struct vt_watch_frame *frame, uint32_t top, FILE *out) {
    begin_metric("vramtrace_line_live_bytes", "gauge",
                 "live device memory of a line of code: the largest lines", out);
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
                 "device memory that a variable kept at the last snapshot: the largest owners",
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
    put_running(frame, file.out);
    put_families(frame, file.out);
    put_lines(frame, top, file.out);
    put_owners(frame, top, file.out);
    if (!file.exists && fchmod(fileno(file.out), 0644))
        error = -errno;
    error = vt_new_file_close(&file, error);
    return error ? vt_formatted("%s: %s", path, strerror(-error)) : NULL;
}
