/* SPDX-License-Identifier: MIT */
/*
 * Writes a merged file (see merged.h).
 */
#include "merged.h"

#include "merged_row.h"

#include "base/base.h"
#include "vramtrace/log_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    const struct vt_fleet *fleet;
    struct vt_gzip *gzip;
    uint64_t *runs;           /* by number: the id of the run's first process */
    struct vt_string row;     /* the row as text */
    const char **last;        /* by column: the text that it had last, and how that is written */
    struct vt_string *quoted; /* (a fleet has each text once, so the pointers tell) */
};

/* --- a row as text --- */

static void add_number(struct vt_string *to, uint64_t number) {
    char digits[20], *at = digits + sizeof digits;
    /* readers take numbers as signed */
    number = number < INT64_MAX ? number : INT64_MAX;
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    vt_string_add_bytes(to, at, (size_t)(digits + sizeof digits - at));
}

static void add_text(struct writer *w, size_t column, const char *text) {
    if (text != w->last[column]) {
        w->last[column] = text;
        w->quoted[column].length = 0;
        vt_json_add_text(&w->quoted[column], text);
    }
    vt_string_add_bytes(&w->row, w->quoted[column].text, w->quoted[column].length);
}

static void add_levels(struct vt_string *to, const struct vt_merged_levels *levels) {
    vt_string_add_bytes(to, "[", 1);
    for (uint32_t i = 0; i < levels->count; i++) {
        if (i)
            vt_string_add_bytes(to, ",", 1);
        add_number(to, levels->items[i]);
    }
    vt_string_add_bytes(to, "]", 1);
}

static void add_value(struct writer *w, size_t column, const struct vt_merged_row *row) {
    const struct vt_merged_column *c = &vt_merged_columns[column];
    const void *value = vt_merged_value(row, c);
    uint64_t number = VT_UNKNOWN;
    char time[VT_JSON_TIME];
    if (c->type == VT_MERGED_NUMBER || c->type == VT_MERGED_COUNT || c->type == VT_MERGED_ID ||
        c->type == VT_MERGED_TIME)
        memcpy(&number, value, sizeof number);
    if (c->type == VT_MERGED_TEXT && *(const char *const *)value)
        add_text(w, column, *(const char *const *)value);
    else if (c->type == VT_MERGED_COUNT || (c->type == VT_MERGED_NUMBER && number != VT_UNKNOWN))
        add_number(&w->row, number);
    else if (c->type == VT_MERGED_ID && number != VT_UNKNOWN)
        vt_string_format(&w->row, "\"%016llx\"", (unsigned long long)number);
    else if (c->type == VT_MERGED_TIME && vt_json_format_time(number, time))
        vt_string_format(&w->row, "\"%s\"", time);
    else if (c->type == VT_MERGED_FLAG)
        vt_string_add(&w->row, *(const bool *)value ? "true" : "false");
    else if (c->type == VT_MERGED_LEVELS)
        add_levels(&w->row, value);
    else
        vt_string_add(&w->row, "null");
}

/* `kind`: whose columns the row has. */
static void add_row(struct writer *w, unsigned kind, struct vt_merged_row *row) {
    w->row.length = 0;
    row->row = vt_merged_kinds[__builtin_ctz(kind)];
    for (size_t i = 0; i < vt_merged_column_count; i++) {
        if (!(vt_merged_columns[i].rows & kind))
            continue;
        vt_string_add(&w->row, w->row.length ? ",\"" : "{\"");
        vt_string_add(&w->row, vt_merged_columns[i].name);
        vt_string_add_bytes(&w->row, "\":", 2);
        add_value(w, i, row);
    }
    vt_string_add_bytes(&w->row, "}\n", 2);
    vt_gzip_add(w->gzip, w->row.text, w->row.length);
}

/* The first row: all columns, each with a value of its type. */
static void add_schema(struct writer *w) {
    static const char *const empty[] = {[VT_MERGED_TEXT] = "\"\"",
                                        [VT_MERGED_NUMBER] = "0",
                                        [VT_MERGED_COUNT] = "0",
                                        [VT_MERGED_ID] = "\"\"",
                                        [VT_MERGED_TIME] = "\"1970-01-01T00:00:00.000Z\"",
                                        [VT_MERGED_FLAG] = "false",
                                        [VT_MERGED_LEVELS] = "[0]"};
    vt_string_format(&w->row, "{\"row\":\"schema\",\"schema\":\"" VT_MERGED_SCHEMA "%u\"",
                     VT_MERGED_VERSION);
    for (size_t i = 2; i < vt_merged_column_count; i++)
        vt_string_format(&w->row, ",\"%s\":%s", vt_merged_columns[i].name,
                         empty[vt_merged_columns[i].type]);
    vt_string_add(&w->row, "}\n");
    vt_gzip_add(w->gzip, w->row.text, w->row.length);
}

/* --- the rows of a fleet --- */

/* A row of this process: what it is, and where it ran. */
static struct vt_merged_row row_of(const struct writer *w, uint32_t process) {
    const struct vt_fleet_process *p = &w->fleet->processes[process];
    struct vt_merged_row row = vt_merged_blank;
    row.process = p->id;
    row.run = w->runs[p->run];
    row.job = p->job;
    row.host = w->fleet->hosts[p->host].name;
    row.rank = vt_rank_number(p->rank);
    row.started_at = p->started_at;
    return row;
}

/* Where a device is null the layer says whether it is host memory, or of an unknown device. */
static const char *layer_of(unsigned device) {
    return vt_layer_names[device == VT_DEVICE_HOST ? VT_LAYER_HOST : VT_LAYER_DRIVER];
}

static void set_line(const struct writer *w, uint32_t index, struct vt_merged_row *row) {
    const struct vt_fleet_line *line = &w->fleet->lines[index];
    row->line_id = line->key;
    VT_MERGED_COPY(LINE, row, line);
    row->line = line->line ? line->line : VT_UNKNOWN;
    row->layer = vt_layer_names[line->layer];
}

static void add_process(struct writer *w, uint32_t index) {
    const struct vt_fleet_process *p = &w->fleet->processes[index];
    struct vt_merged_row row = row_of(w, index);
    row.started_at_ns = p->started_at;
    row.log_started_ns = p->started_realtime;
    row.log_monotonic_ns = p->started_monotonic;
    VT_MERGED_COPY(PROCESS, &row, p);
    row.boot_id = w->fleet->hosts[p->host].boot;
    row.pid_namespace = p->pid_namespace ? p->pid_namespace : VT_UNKNOWN;
    row.process_start = p->process_start ? p->process_start : VT_UNKNOWN;
    row.log = vt_basename(p->log); /* where it lay is nothing to other machines */
    row.world_size = p->world_size ? p->world_size : VT_UNKNOWN;
    row.restart = p->restart;
    row.duration_ns = p->duration;
    row.exit_kind = vt_end_names[p->ending.how];
    row.exit_status = p->ending.status < 0 ? VT_UNKNOWN : (uint64_t)p->ending.status;
    add_row(w, VT_MERGED_PROCESS, &row);
}

static void add_device(struct writer *w, const struct vt_fleet_device *d) {
    struct vt_merged_row row = row_of(w, d->process);
    row.device = vt_device_number(d->ordinal);
    row.layer = layer_of(d->ordinal);
    row.name = d->name;
    row.uuid = d->uuid;
    VT_MERGED_COPY(DEVICE, &row, d);
    row.peak_at_ns = d->peak_at;
    add_row(w, VT_MERGED_DEVICE, &row);
}

static void add_series(struct writer *w, const struct vt_fleet_device *d) {
    struct vt_merged_row row = row_of(w, d->process);
    if (!d->levels.count)
        return;
    row.device = vt_device_number(d->ordinal);
    row.layer = layer_of(d->ordinal);
    row.from_ns = d->levels.from;
    row.to_ns = d->levels.to;
    row.peak_part = d->levels.peak;
    row.levels = (struct vt_merged_levels){d->levels.bytes, d->levels.count};
    add_row(w, VT_MERGED_SERIES, &row);
}

static void add_leak(struct writer *w, const struct vt_fleet_leak *l) {
    struct vt_merged_row row = row_of(w, l->process);
    set_line(w, l->line, &row);
    row.verdict = vt_verdict_names[l->verdict];
    VT_MERGED_COPY(LEAK, &row, l);
    row.per = l->per;
    row.since_ns = l->since;
    row.full_in_ns = l->full_in;
    row.kept_by = l->kept_by;
    row.why = l->why;
    row.caller = l->caller;
    add_row(w, VT_MERGED_LEAK, &row);
}

static void add_oom(struct writer *w, const struct vt_fleet_oom *o) {
    struct vt_merged_row row = row_of(w, o->process);
    row.layer = layer_of(o->device);
    if (o->line != VT_FLEET_NONE)
        set_line(w, o->line, &row);
    row.device = vt_device_number(o->device);
    row.at_ns = o->at;
    VT_MERGED_COPY(OOM, &row, o);
    row.outcome = vt_oom_outcome_names[o->outcome];
    row.cause = vt_oom_cause_names[o->cause];
    row.why = o->why;
    row.caller = o->caller;
    add_row(w, VT_MERGED_OOM, &row);
}

static void add_cell(struct writer *w, const struct vt_fleet_cell *c) {
    struct vt_merged_row row = row_of(w, c->process);
    set_line(w, c->line, &row);
    row.device = vt_device_number(c->device);
    row.verdict = vt_verdict_names[c->verdict];
    VT_MERGED_COPY(CELL, &row, c);
    row.bytes_at_peak = c->at_peak_bytes;
    row.caller = c->caller;
    add_row(w, VT_MERGED_LINE, &row);
}

static void add_owned(struct writer *w, const struct vt_fleet_owned *o) {
    const struct vt_fleet_owner *owner = &w->fleet->owners[o->owner];
    struct vt_merged_row row = row_of(w, o->process);
    row.owner_id = owner->key;
    VT_MERGED_COPY(OWNER, &row, owner);
    row.line = owner->line ? owner->line : VT_UNKNOWN;
    row.role = owner->purpose;
    row.bytes = o->bytes;
    row.count = o->count;
    row.at_ns = o->at;
    row.snapshot = vt_snapshot_why_names[o->why];
    add_row(w, VT_MERGED_OWNER, &row);
}

/* --- the order --- */

/* A line or an owner: its text, then its key, are its place in the file. */
struct named {
    const char *text;
    uint64_t key;
    uint32_t index;
};

static int compare_named(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : VT_ORDER({x->key, y->key});
}

/* Rows by what they name, those of one thing as they stand: `what[i]` is what row i names, of `kinds` things.
 * Returns the indices of the rows; free it. */
static size_t *order_rows(struct named *named, uint32_t kinds, const uint32_t *what, size_t rows) {
    size_t *order = vt_alloc(rows, sizeof *order), *next = vt_alloc(kinds + 1, sizeof *next);
    size_t at = 0;
    vt_sort(named, kinds, sizeof *named, compare_named);
    for (size_t i = 0; i < rows; i++)
        next[what[i]]++;
    for (uint32_t i = 0; i < kinds; i++) {
        size_t count = next[named[i].index];
        next[named[i].index] = at;
        at += count;
    }
    for (size_t i = 0; i < rows; i++)
        order[next[what[i]]++] = i;
    free(next);
    return order;
}

/* Writes all `rows` of the fleet by the text of what each names: a field `what` of theirs, which is an index
 * in `things`. */
#define ADD_BY_TEXT(w, things, thing_count, rows, row_count, what, add)                            \
    do {                                                                                           \
        const struct vt_fleet *f = (w)->fleet;                                                     \
        struct named *named = vt_alloc(f->thing_count, sizeof *named);                             \
        uint32_t *whats = vt_alloc(f->row_count, sizeof *whats);                                   \
        for (uint32_t i = 0; i < f->thing_count; i++)                                              \
            named[i] = (struct named){f->things[i].text, f->things[i].key, i};                     \
        for (size_t i = 0; i < f->row_count; i++)                                                  \
            whats[i] = f->rows[i].what;                                                            \
        size_t *order = order_rows(named, f->thing_count, whats, f->row_count);                    \
        for (size_t i = 0; i < f->row_count; i++)                                                  \
            add(w, &f->rows[order[i]]);                                                            \
        free(order);                                                                               \
        free(whats);                                                                               \
        free(named);                                                                               \
    } while (0)

/* A run is called by its first process: its number is another in each file. */
static uint64_t *name_runs(const struct vt_fleet *f) {
    uint64_t *runs = vt_alloc(f->process_count, sizeof *runs);
    uint32_t *first = vt_alloc(f->process_count, sizeof *first);
    for (uint32_t i = 0; i < f->process_count; i++) {
        const struct vt_fleet_process *p = &f->processes[i], *q = &f->processes[first[p->run]];
        if (runs[p->run] && VT_ORDER({q->started_at, p->started_at}, {q->id, p->id}) <= 0)
            continue;
        first[p->run] = i;
        runs[p->run] = p->id;
    }
    free(first);
    return runs;
}

static void add_rows(struct writer *w) {
    const struct vt_fleet *f = w->fleet;
    for (uint32_t i = 0; i < f->process_count; i++)
        add_process(w, i);
    for (size_t i = 0; i < f->device_count; i++)
        add_device(w, &f->devices[i]);
    for (size_t i = 0; i < f->device_count; i++)
        add_series(w, &f->devices[i]);
    for (size_t i = 0; i < f->leak_count; i++)
        add_leak(w, &f->leaks[i]);
    for (size_t i = 0; i < f->oom_count; i++)
        add_oom(w, &f->ooms[i]);
    ADD_BY_TEXT(w, owners, owner_count, owned, owned_count, owner, add_owned);
    ADD_BY_TEXT(w, lines, line_count, cells, cell_count, line, add_cell);
}

int vt_merged_write(const struct vt_fleet *fleet, FILE *out) {
    struct writer w = {.fleet = fleet, .gzip = vt_gzip_open(out)};
    if (!w.gzip)
        return -ENOMEM;
    w.last = vt_alloc(vt_merged_column_count, sizeof *w.last);
    w.quoted = vt_alloc(vt_merged_column_count, sizeof *w.quoted);
    w.runs = name_runs(fleet);
    add_schema(&w);
    add_rows(&w);
    vt_gzip_close(w.gzip);
    for (size_t i = 0; i < vt_merged_column_count; i++)
        vt_string_free(&w.quoted[i]);
    free(w.quoted);
    free(w.runs);
    free(w.last);
    vt_string_free(&w.row);
    return 0;
}
