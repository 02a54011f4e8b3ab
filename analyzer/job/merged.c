/* SPDX-License-Identifier: MIT */
/*
 * Writes a merged file (see merged.h).
 */
#include "merged.h"

#include "merged_record.h"

#include "base/base.h"
#include "vramtrace/log_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    const struct vt_job *job;
    struct vt_gzip *gzip;
    uint64_t *runs;                 /* by number: the id of the run's first process */
    struct vt_merged_record record; /* the next row */
    struct vt_string row;           /* the next row as text */
};

/* --- a row as text --- */

static void add_number(struct vt_string *to, uint64_t number) {
    char digits[20], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    vt_string_add_bytes(to, at, (size_t)(digits + sizeof digits - at));
}

static void add_levels(struct vt_string *to, const struct vt_levels *levels) {
    vt_string_add_bytes(to, "[", 1);
    for (uint32_t i = 0; i < levels->count; i++) {
        if (i)
            vt_string_add_bytes(to, ",", 1);
        add_number(to, levels->bytes[i] < INT64_MAX ? levels->bytes[i] : INT64_MAX);
    }
    vt_string_add_bytes(to, "]", 1);
}

static void add_text_or_null(struct vt_string *to, const char *text) {
    if (text)
        vt_json_add_text(to, text);
    else
        vt_string_add(to, "null");
}

static void add_value(struct vt_string *to, const struct vt_merged_column *c, const void *field) {
    uint64_t number = vt_merged_number(c, field);
    bool larger = number > c->type->most;
    char time[VT_JSON_TIME];
    switch (c->type->form) {
    case VT_MERGED_TEXT:
        add_text_or_null(to, *(const char *const *)field);
        break;
    case VT_MERGED_WORD:
        add_text_or_null(to, c->type->words[number]);
        break;
    case VT_MERGED_TIME:
        add_text_or_null(to, vt_json_format_time(number, time) ? time : NULL);
        break;
    case VT_MERGED_FLAG:
        vt_string_add(to, *(const bool *)field ? "true" : "false");
        break;
    case VT_MERGED_LIST:
        add_levels(to, field);
        break;
    default:
        if (c->type->null && (number == c->type->unknown || (larger && c->type->size == 4)))
            vt_string_add(to, "null");
        else if (c->type->form == VT_MERGED_HEX)
            vt_string_format(to, "\"%016llx\"", (unsigned long long)number);
        else
            add_number(to, larger ? c->type->most : number);
    }
}

/* Writes the record as a row that has the columns of `kind`. */
static void add_row(struct writer *w, unsigned kind) {
    w->row.length = 0;
    w->record.row = vt_merged_kinds[__builtin_ctz(kind)];
    for (size_t i = 0; i < vt_merged_column_count; i++) {
        const struct vt_merged_column *c = &vt_merged_columns[i];
        if (!(c->rows & kind))
            continue;
        vt_string_add(&w->row, w->row.length ? ",\"" : "{\"");
        vt_string_add(&w->row, c->name);
        vt_string_add_bytes(&w->row, "\":", 2);
        add_value(&w->row, c, vt_merged_field(&w->record, c));
    }
    vt_string_add_bytes(&w->row, "}\n", 2);
    vt_gzip_add(w->gzip, w->row.text, w->row.length);
}

/* Several kinds of rows may have a column of the same name; false for all but the first. */
static bool is_first_of_name(size_t index) {
    for (size_t i = 0; i < index; i++)
        if (!strcmp(vt_merged_columns[i].name, vt_merged_columns[index].name))
            return false;
    return true;
}

/* The first row: all columns, each with a value of its type. */
static void add_schema(struct writer *w) {
    vt_string_format(&w->row, "{\"row\":\"schema\",\"schema\":\"" VT_MERGED_SCHEMA "%u\"",
                     VT_MERGED_VERSION);
    for (size_t i = 2; i < vt_merged_column_count; i++)
        if (is_first_of_name(i))
            vt_string_format(&w->row, ",\"%s\":%s", vt_merged_columns[i].name,
                             vt_merged_columns[i].type->empty);
    vt_string_add(&w->row, "}\n");
    vt_gzip_add(w->gzip, w->row.text, w->row.length);
}

/* --- the rows of a job --- */

/* Begins a row of this process: its identity and its host. */
static void set_process(struct writer *w, uint32_t index) {
    const struct vt_job_process *p = &w->job->processes[index];
    w->record.process = *p;
    w->record.process.log = vt_basename(p->log); /* the folder means nothing on other machines */
    w->record.run = w->runs[p->run];
    w->record.host = w->job->hosts[p->host].name;
    w->record.boot = w->job->hosts[p->host].boot;
}

/* For a row without a device, the layer distinguishes host memory from an unknown device. */
static void set_device(struct writer *w, unsigned ordinal) {
    w->record.device_number = ordinal;
    w->record.line.layer = ordinal == VT_DEVICE_HOST ? VT_LAYER_HOST : VT_LAYER_DRIVER;
}

static void add_device(struct writer *w, const struct vt_job_device *d) {
    set_process(w, d->process);
    set_device(w, d->ordinal);
    w->record.device = *d;
    add_row(w, VT_MERGED_DEVICE);
}

static void add_series(struct writer *w, const struct vt_job_device *d) {
    set_process(w, d->process);
    set_device(w, d->ordinal);
    w->record.levels = d->levels;
    if (d->levels.count)
        add_row(w, VT_MERGED_SERIES);
}

static void add_leak(struct writer *w, const struct vt_job_leak *l) {
    set_process(w, l->process);
    w->record.line = w->job->lines[l->line];
    w->record.leak = *l;
    add_row(w, VT_MERGED_LEAK);
}

static void add_oom(struct writer *w, const struct vt_job_oom *o) {
    set_process(w, o->process);
    w->record.line = (struct vt_job_line){.key = VT_UNKNOWN};
    set_device(w, o->device);
    if (o->line != VT_JOB_NONE)
        w->record.line = w->job->lines[o->line];
    w->record.oom = *o;
    add_row(w, VT_MERGED_OOM);
}

static void add_cell(struct writer *w, const struct vt_job_cell *c) {
    set_process(w, c->process);
    set_device(w, c->device);
    w->record.line = w->job->lines[c->line];
    w->record.cell = *c;
    add_row(w, VT_MERGED_LINE);
}

static void add_owned(struct writer *w, const struct vt_job_owned *o) {
    set_process(w, o->process);
    w->record.owner = w->job->owners[o->owner];
    w->record.owned = *o;
    add_row(w, VT_MERGED_OWNER);
}

/* --- the order --- */

/* A row's position in the file: by the text of its line or owner, then by the line's or owner's key. */
struct place {
    const char *text; /* the job stores each text once */
    uint64_t key;
    size_t row;
};

static int compare_places(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    int order = x->text == y->text ? 0 : strcmp(x->text, y->text);
    return order ? order : VT_ORDER({x->key, y->key}, {x->row, y->row});
}

static void add_all_owned(struct writer *w) {
    const struct vt_job *f = w->job;
    VT_SCOPED struct place *places = vt_alloc(f->owned_count, sizeof *places);
    for (size_t i = 0; i < f->owned_count; i++) {
        const struct vt_job_owner *owner = &f->owners[f->owned[i].owner];
        places[i] = (struct place){owner->text, owner->key, i};
    }
    vt_sort(places, f->owned_count, sizeof *places, compare_places);
    for (size_t i = 0; i < f->owned_count; i++)
        add_owned(w, &f->owned[places[i].row]);
}

static void add_all_cells(struct writer *w) {
    const struct vt_job *f = w->job;
    VT_SCOPED struct place *places = vt_alloc(f->cell_count, sizeof *places);
    for (size_t i = 0; i < f->cell_count; i++) {
        const struct vt_job_line *line = &f->lines[f->cells[i].line];
        places[i] = (struct place){line->text, line->key, i};
    }
    vt_sort(places, f->cell_count, sizeof *places, compare_places);
    for (size_t i = 0; i < f->cell_count; i++)
        add_cell(w, &f->cells[places[i].row]);
}

/* A run's name is the id of its first process, because its number differs between files. */
static uint64_t *name_runs(const struct vt_job *f) {
    uint64_t *runs = vt_alloc(f->process_count, sizeof *runs);
    VT_SCOPED uint32_t *first = vt_alloc(f->process_count, sizeof *first);
    for (uint32_t i = 0; i < f->process_count; i++) {
        const struct vt_job_process *p = &f->processes[i], *q = &f->processes[first[p->run]];
        if (runs[p->run] && VT_ORDER({q->started_at, p->started_at}, {q->id, p->id}) <= 0)
            continue;
        first[p->run] = i;
        runs[p->run] = p->id;
    }
    return runs;
}

static void add_rows(struct writer *w) {
    const struct vt_job *f = w->job;
    for (uint32_t i = 0; i < f->process_count; i++) {
        set_process(w, i);
        add_row(w, VT_MERGED_PROCESS);
    }
    for (size_t i = 0; i < f->device_count; i++)
        add_device(w, &f->devices[i]);
    for (size_t i = 0; i < f->device_count; i++)
        add_series(w, &f->devices[i]);
    for (size_t i = 0; i < f->leak_count; i++)
        add_leak(w, &f->leaks[i]);
    for (size_t i = 0; i < f->oom_count; i++)
        add_oom(w, &f->ooms[i]);
    add_all_owned(w);
    add_all_cells(w);
}

int vt_merged_write(const struct vt_job *job, FILE *out) {
    struct writer w = {.job = job, .gzip = vt_gzip_open(out)};
    if (!w.gzip)
        return -ENOMEM;
    w.runs = name_runs(job);
    add_schema(&w);
    add_rows(&w);
    vt_gzip_close(w.gzip);
    free(w.runs);
    vt_string_free(&w.row);
    return 0;
}
