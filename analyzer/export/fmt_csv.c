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

static const char *const columns[] = {
    "log",
    "pid",
    "rank",
    "host",
    "site",
    "verdict",
    "device",
    "layer",
    "api",
    "class",
    "class_name",
    "live_bytes",
    "live_count",
    "peak_bytes",
    "bytes_at_peak",
    "count_at_peak",
    "allocated_bytes",
    "alloc_count",
    "free_count",
    "leaked_bytes",
    "leaked_count",
    "first_at_ns",
    "last_at_ns",
    "allocated_at",
    "own_function",
    "own_file",
    "own_line",
    "owner",
    "owner_bytes",
    "stack",
    "why",
};

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
    struct vt_string escaped = {0};
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
    vt_string_free(&escaped);
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

static void stack(struct table *t, const struct vt_sample *sample) {
    struct vt_string frames = {0};
    vt_samples_stack(&(struct vt_samples){0}, sample, t->options->native, &t->stack);
    for (uint32_t i = 0; i < t->stack.count; i++) {
        char *line = vt_samples_line(&t->stack.frames[i], true);
        vt_string_format(&frames, "%s%s", i ? ";" : "", line);
        free(line);
    }
    text(t, frames.text);
    vt_string_free(&frames);
}

static void where(struct table *t, const struct row *r) {
    const struct vt_stack *s = r->site->stack;
    const struct vt_frame *own = s && s->user_frame < s->count ? &s->frames[s->user_frame] : NULL;
    char *at = vt_stack_text(r->process, s, 1000, false);
    text(t, r->site->before ? "live before" : at);
    text(t, own ? own->function : NULL);
    text(t, own ? own->file : NULL);
    number(t, own && own->line ? own->line : VT_UNKNOWN);
    free(at);
}

static void row(struct table *t, const struct row *r) {
    const struct vt_process *p = r->process;
    const struct vt_site *s = r->site;
    const struct vt_owned_by *owned = s->owned.count ? &s->owned.owners[0] : NULL;
    text(t, p->log);
    number(t, p->pid);
    number(t, p->rank < 0 ? VT_UNKNOWN : (uint64_t)p->rank);
    text(t, p->host);
    text(t, s->name);
    text(t, vt_verdict_names[s->verdict]);
    number(t, s->device >= VT_DEVICE_HOST ? VT_UNKNOWN : s->device);
    text(t, vt_layer_name(s->layer));
    text(t, s->api);
    text(t, vt_class_names[s->class]);
    text(t, s->class_name);
    number(t, s->live_bytes);
    number(t, s->live_count);
    number(t, s->peak_bytes);
    number(t, s->bytes_at_peak);
    number(t, s->count_at_peak);
    number(t, s->allocated_bytes);
    number(t, s->alloc_count);
    number(t, s->free_count);
    number(t, r->bytes[VT_EXPORT_LEAKED]);
    number(t, r->counts[VT_EXPORT_LEAKED]);
    number(t, s->first_at);
    number(t, s->last_at);
    where(t, r);
    text(t, owned ? owned->owner->name : NULL);
    number(t, owned ? owned->bytes : VT_UNKNOWN);
    stack(t, &(struct vt_sample){.process = p, .site = s, .layer = s->layer, .device = s->device});
    text(t, s->why);
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
        const struct vt_leak **leaks = vt_process_leaks_by_site(p);
        for (uint32_t k = 0; k < p->site_count; k++) {
            VT_GROW(rows, *count, room);
            struct row *r = &rows[*count];
            *r = (struct row){
                .process = p, .site = &p->sites[k], .value = value, .number = (*count)++};
            vt_samples_of_site(r->site, leaks[k], r->bytes, r->counts);
        }
        free(leaks);
    }
    vt_sort(rows, *count, sizeof *rows, by_value);
    return rows;
}

int vt_export_csv_write(const struct vt_model *model, const struct vt_export_options *options,
                        FILE *out) {
    struct table t = {.out = out, .options = options, .first = true};
    uint32_t count;
    struct row *rows = make_rows(model, options->value, &count);
    for (unsigned i = 0; i < sizeof columns / sizeof *columns; i++) {
        comma(&t);
        fputs(columns[i], out);
    }
    end_row(&t);
    for (uint32_t i = 0; i < count; i++)
        row(&t, &rows[i]);
    vt_samples_stack_free(&t.stack);
    free(rows);
    return 0;
}
