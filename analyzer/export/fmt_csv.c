/* SPDX-License-Identifier: MIT */
/*
 * A table of call sites as CSV (RFC 4180): a row for each site with all its figures, the largest of
 * the chosen value first. Unknown is an empty field. Each row is one line: a stack is written as
 * fmt_folded.c does, and control characters are escaped. A text that a spreadsheet would run as a
 * formula has a ' before it.
 */
#include "samples.h"

#include "vramtrace/log_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const struct vt_process *process;
    const struct vt_site *site;
    uint64_t bytes[VT_EXPORT_VALUES], counts[VT_EXPORT_VALUES];
    enum vt_export_value value; /* by which rows are sorted */
    uint32_t number;
};

struct table {
    FILE *out;
    const struct vt_export_options *options;
    struct vt_sample_stack stack;
    bool first; /* in its row */
};

static void comma(struct table *t) {
    if (!t->first)
        fputc(',', t->out);
    t->first = false;
}

/* NULL: unknown. */
static void text(struct table *t, const char *value) {
    VT_SCOPED_STRING escaped = {0};
    comma(t);
    if (!value || !*value)
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
static void number(struct table *t, uint64_t value) {
    comma(t);
    if (value != VT_UNKNOWN)
        fprintf(t->out, "%" PRIu64, value);
}

static void end_row(struct table *t) {
    fputs("\r\n", t->out);
    t->first = true;
}

/* --- the columns --- */

/* A row, and what several of its columns need. */
struct figures {
    const struct row *row;
    const struct vt_process *process;
    const struct vt_site *site;
    const struct vt_frame *own;      /* NULL: no frame of the user's */
    const struct vt_owned_by *owned; /* what has most of it; NULL: unknown */
};

/* A column writes one field. */
#define COLUMNS(TEXT, NUMBER, WRITE)                                                               \
    TEXT(log, f->process->log)                                                                     \
    NUMBER(pid, f->process->pid)                                                                   \
    NUMBER(rank, vt_rank_number(f->process->rank))                                                 \
    TEXT(host, f->process->host)                                                                   \
    TEXT(site, f->site->name)                                                                      \
    TEXT(verdict, vt_verdict_names[f->site->verdict])                                              \
    NUMBER(device, vt_device_number(f->site->device))                                              \
    TEXT(layer, vt_layer_name(f->site->layer))                                                     \
    TEXT(api, f->site->api)                                                                        \
    TEXT(class, vt_class_names[f->site->class])                                                    \
    TEXT(class_name, f->site->class_name)                                                          \
    NUMBER(live_bytes, f->site->live_bytes)                                                        \
    NUMBER(live_count, f->site->live_count)                                                        \
    NUMBER(peak_bytes, f->site->peak_bytes)                                                        \
    NUMBER(bytes_at_peak, f->site->bytes_at_peak)                                                  \
    NUMBER(count_at_peak, f->site->count_at_peak)                                                  \
    NUMBER(allocated_bytes, f->site->allocated_bytes)                                              \
    NUMBER(alloc_count, f->site->alloc_count)                                                      \
    NUMBER(free_count, f->site->free_count)                                                        \
    NUMBER(leaked_bytes, f->row->bytes[VT_EXPORT_LEAKED])                                          \
    NUMBER(leaked_count, f->row->counts[VT_EXPORT_LEAKED])                                         \
    NUMBER(first_at_ns, f->site->first_at)                                                         \
    NUMBER(last_at_ns, f->site->last_at)                                                           \
    WRITE(allocated_at, where)                                                                     \
    TEXT(own_function, f->own ? f->own->function : NULL)                                           \
    TEXT(own_file, f->own ? f->own->file : NULL)                                                   \
    NUMBER(own_line, f->own && f->own->line ? f->own->line : VT_UNKNOWN)                           \
    TEXT(owner, f->owned ? f->owned->owner->name : NULL)                                           \
    NUMBER(owner_bytes, f->owned ? f->owned->bytes : VT_UNKNOWN)                                   \
    WRITE(stack, stack)                                                                            \
    TEXT(why, f->site->why)

static void where(struct table *t, const struct figures *f) {
    VT_SCOPED char *at = vt_stack_text(f->process, f->site->stack, 1000, false);
    text(t, f->site->before ? "live before" : at);
}

static void stack(struct table *t, const struct figures *f) {
    struct vt_sample sample = {
        .process = f->process, .site = f->site, .layer = f->site->layer, .device = f->site->device};
    VT_SCOPED_STRING frames = {0};
    vt_samples_stack(&(struct vt_samples){0}, &sample, t->options->native, &t->stack);
    for (uint32_t i = 0; i < t->stack.count; i++) {
        VT_SCOPED char *line = vt_samples_line(&t->stack.frames[i], true);
        vt_string_format(&frames, "%s%s", i ? ";" : "", line);
    }
    text(t, frames.text);
}

static void names(struct table *t) {
#define COLUMN(name, value) comma(t), fputs(#name, t->out);
    COLUMNS(COLUMN, COLUMN, COLUMN)
#undef COLUMN
    end_row(t);
}

static void row(struct table *t, const struct row *r) {
    const struct vt_stack *s = r->site->stack;
    const struct vt_owned_list *owned = &r->site->owned;
    const struct figures figures = {.row = r,
                                    .process = r->process,
                                    .site = r->site,
                                    .own = s && s->user_frame < s->count
                                               ? vt_stack_frame(s, s->user_frame)
                                               : NULL,
                                    .owned = owned->count ? &owned->owners[0] : NULL},
                         *f = &figures;
#define TEXT(name, value)     text(t, value);
#define NUMBER(name, value)   number(t, value);
#define WRITE(name, function) function(t, f);
    COLUMNS(TEXT, NUMBER, WRITE)
#undef TEXT
#undef NUMBER
#undef WRITE
    end_row(t);
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
        VT_SCOPED const struct vt_leak **leaks = vt_process_leaks_by_site(p);
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
    names(&t);
    for (uint32_t i = 0; i < count; i++)
        row(&t, &rows[i]);
    vt_samples_stack_free(&t.stack);
    return 0;
}
