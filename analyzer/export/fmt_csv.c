/* SPDX-License-Identifier: MIT */
/*
 * A table of call sites as CSV (RFC 4180): a row for each site with all its figures, the largest of the chosen value
 * first. Unknown values are empty. Each row is one line: a stack is written as in fmt_folded.c, and control
 * characters are escaped. Text that a spreadsheet would run as a formula begins with an added '.
 */
#include "samples.h"

#include "report/keys.h"

#include "vramtrace/log_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const struct vt_process *process;
    const struct vt_site *site;
    uint64_t bytes[VT_EXPORT_VALUES], counts[VT_EXPORT_VALUES];
    enum vt_export_value value; /* sort key of the rows */
    uint32_t number;
};

struct table {
    FILE *out;
    const struct vt_export_options *options;
    struct vt_sample_stack stack;
    bool names; /* the header row is being written */
    bool first; /* the next value is the first of its row */
};

/* Returns whether a value should follow; in the header row it writes the name instead. */
static bool begin_column(struct table *t, const char *name) {
    if (!t->first)
        fputc(',', t->out);
    t->first = false;
    if (t->names)
        fputs(name, t->out);
    return !t->names;
}

/* NULL: unknown. */
static void put_text(struct table *t, const char *name, const char *value) {
    VT_SCOPED_STRING escaped = {0};
    if (!begin_column(t, name) || !value || !*value)
        return;
    if (strchr("=+-@", *value))
        vt_string_add(&escaped, "'");
    vt_samples_escape(&escaped, value, false);
    fputc('"', t->out);
    for (const char *c = escaped.text; *c; c++)
        fprintf(t->out, *c == '"' ? "\"\"" : "%c", *c);
    fputc('"', t->out);
}

/* VT_UNKNOWN: unknown. */
static void put_number(struct table *t, const char *name, uint64_t value) {
    if (begin_column(t, name) && value != VT_UNKNOWN)
        fprintf(t->out, "%" PRIu64, value);
}

/* --- the columns --- */

/* A row, and data shared by several of its columns. */
struct figures {
    const struct row *row;
    const struct vt_process *process;
    const struct vt_site *site;
    const struct vt_frame *own;      /* NULL: no frame of user code */
    const struct vt_owned_by *owned; /* the owner of most of the site's memory; NULL: unknown */
};

static void put_place(struct table *t, const struct figures *f) {
    VT_SCOPED char *at = vt_stack_text(f->process, f->site->stack, 1000, false);
    put_text(t, "allocated_at", f->site->before ? "live before" : at);
}

static void put_stack(struct table *t, const struct figures *f) {
    struct vt_sample sample = {
        .process = f->process, .site = f->site, .layer = f->site->layer, .device = f->site->device};
    VT_SCOPED_STRING frames = {0};
    vt_samples_stack(&(struct vt_samples){0}, &sample, t->options->native, &t->stack);
    for (uint32_t i = 0; i < t->stack.count; i++) {
        VT_SCOPED char *line = vt_samples_line(&t->stack.frames[i], true);
        vt_string_format(&frames, "%s%s", i ? ";" : "", line);
    }
    put_text(t, "stack", frames.text);
}

/* Writes the columns for the JSON report's keys that are texts or numbers. */
static void put_keys(struct table *t, const struct vt_key *keys, const void *of) {
    for (; keys->key; keys++) {
        uint64_t number;
        const char *text =
            vt_key_is_text(keys) || vt_key_is_number(keys) ? vt_key_value(keys, of, &number) : NULL;
        if (vt_key_is_text(keys))
            put_text(t, keys->key, text);
        else if (vt_key_is_number(keys))
            put_number(t, keys->key, number);
    }
}

static void put_row(struct table *t, const struct figures *f) {
    const struct vt_process *p = f->process;
    const struct vt_site *s = f->site;
    put_text(t, "log", p->log);
    put_number(t, "pid", p->pid);
    put_number(t, "rank", vt_rank_number(p->rank));
    put_text(t, "host", p->host);
    put_keys(t, vt_site_keys, s);
    put_text(t, "verdict", vt_verdict_names[s->verdict]);
    put_text(t, "class", vt_class_names[s->class]);
    put_number(t, "leaked_bytes", f->row->bytes[VT_EXPORT_LEAKED]);
    put_number(t, "leaked_count", f->row->counts[VT_EXPORT_LEAKED]);
    put_place(t, f);
    put_text(t, "own_function", f->own ? f->own->function : NULL);
    put_text(t, "own_file", f->own ? f->own->file : NULL);
    put_number(t, "own_line", f->own && f->own->line ? f->own->line : VT_UNKNOWN);
    put_text(t, "owner", f->owned ? f->owned->owner->name : NULL);
    put_number(t, "owner_bytes", f->owned ? f->owned->bytes : VT_UNKNOWN);
    put_stack(t, f);
    put_text(t, "why", s->why);
    fputs("\r\n", t->out);
    t->first = true;
}

/* The header row, written as a row without values. */
static void put_names(struct table *t) {
    static const struct vt_process process;
    static const struct vt_site site;
    static const struct row row = {.process = &process, .site = &site};
    t->names = true;
    put_row(t, &(struct figures){.row = &row, .process = &process, .site = &site});
    t->names = false;
}

static void put_site(struct table *t, const struct row *r) {
    const struct vt_stack *s = r->site->stack;
    const struct vt_owned_list *owned = &r->site->owned;
    struct figures figures = {.row = r, .process = r->process, .site = r->site};
    if (s && s->user_frame < s->count)
        figures.own = vt_stack_frame(s, s->user_frame);
    if (owned->count)
        figures.owned = &owned->owners[0];
    put_row(t, &figures);
}

static int by_value(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    return VT_ORDER({y->bytes[y->value], x->bytes[x->value]}, {x->number, y->number});
}

static struct row *make_rows(const struct vt_model *model, enum vt_export_value value,
                             uint32_t *count) {
    struct row *rows = NULL;
    uint32_t room = 0;
    *count = 0;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct vt_process *p = &model->processes[i];
        VT_SCOPED const struct vt_leak **leaks = vt_process_leaks_by_site(p, false);
        for (uint32_t k = 0; k < p->site_count; k++) {
            VT_GROW(rows, *count, room);
            struct row *r = &rows[*count];
            *r = (struct row){
                .process = p, .site = &p->sites[k], .value = value, .number = (*count)++};
            vt_samples_of_site(r->site, leaks[k], r->bytes, r->counts);
        }
    }
    vt_sort(rows, *count, sizeof *rows, by_value);
    return rows;
}

int vt_export_csv_write(const struct vt_model *model, const struct vt_export_options *options,
                        FILE *out) {
    struct table t = {.out = out, .options = options, .first = true};
    uint32_t count;
    VT_SCOPED struct row *rows = make_rows(model, options->value, &count);
    put_names(&t);
    for (uint32_t i = 0; i < count; i++)
        put_site(&t, &rows[i]);
    vt_samples_stack_free(&t.stack);
    return 0;
}
