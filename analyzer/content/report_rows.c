/* SPDX-License-Identifier: MIT */
/*
 * The text report's lists of call sites: bytes, blocks, place, and the source line below. A row has all sites of one
 * line and function, or another grouping by --by.
 */
#include "report_doc.h"

#include "vramtrace/log_format.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_SHOWN = 10 };

const char *vt_rows_noun(const struct vt_subject *t) {
    static const char *const nouns[] = {"line", "call site", "function", "file", "module"};
    return nouns[t->options->by];
}

static uint64_t hash_text(uint64_t seed, const char *text) {
    return text ? vt_hash_bytes(seed, text, strlen(text)) : seed;
}

/* Equal for sites whose rows would look the same: they share the line, the call and the device. */
static uint64_t line_key(const struct vt_site *site) {
    uint64_t key = hash_text((uint64_t)site->layer << 32 | site->device, site->api);
    return vt_mix(key) + vt_site_caller_line(site) + vt_stack_line(site->stack, VT_LINE_SHOWN);
}

/* Sites with the same key share a row. */
static uint64_t row_key(const struct vt_site *site, enum vt_by by) {
    const struct vt_frame *frame = vt_stack_main_frame(site->stack);
    if (by == VT_BY_SITE || site->before)
        return site->id;
    if (!frame)
        return 1;
    if (by == VT_BY_LINE)
        return line_key(site);
    const char *file = frame->file ? frame->file : frame->module;
    if (by == VT_BY_MODULE)
        return hash_text(2, frame->module ? frame->module : frame->file);
    if (by == VT_BY_FILE)
        return hash_text(3, file);
    if (!frame->function)
        return hash_text(4 + frame->offset, file);
    return hash_text(hash_text(4, file), frame->function);
}

uint64_t vt_rows_line_key(const struct vt_site *site) {
    return row_key(site, VT_BY_LINE);
}

static int larger_first(const void *a, const void *b) {
    const struct vt_row *x = a, *y = b;
    return VT_ORDER({y->bytes, x->bytes}, {y->blocks, x->blocks}, {x->key, y->key});
}

/* Memory still held at the end: without memory that its context released. */
static uint64_t held_count(const struct vt_site *site) {
    return vt_site_still_count(&site->figures);
}

static bool belongs(const struct vt_site *site, enum vt_rows_what what, unsigned device) {
    if (what == VT_ROWS_PINNED || what == VT_ROWS_MANAGED)
        return site->layer == (what == VT_ROWS_PINNED ? VT_LAYER_HOST : VT_LAYER_MANAGED) &&
               held_count(site);
    if ((site->layer != VT_LAYER_FRAMEWORK && site->layer != VT_LAYER_DRIVER) ||
        site->class != VT_CLASS_PROGRAM)
        return false; /* list a cache's blocks instead, and no memory of CUDA libraries */
    return what == VT_ROWS_HELD   ? held_count(site) > 0
           : what == VT_ROWS_LATE ? site->held_count > 0
           : what == VT_ROWS_OOM  ? site->device == device && site->bytes_at_oom != VT_UNKNOWN &&
                                       site->bytes_at_oom > 0
                                 : site->device == device && site->count_at_peak > 0;
}

static uint64_t bytes_of(const struct vt_site *site, enum vt_rows_what what) {
    return what == VT_ROWS_PEAK   ? site->bytes_at_peak
           : what == VT_ROWS_LATE ? site->held_bytes
           : what == VT_ROWS_OOM  ? site->bytes_at_oom
                                  : vt_site_still_bytes(&site->figures);
}

static uint64_t blocks_of(const struct vt_site *site, enum vt_rows_what what) {
    return what == VT_ROWS_PEAK   ? site->count_at_peak
           : what == VT_ROWS_LATE ? site->held_count
                                  : held_count(site);
}

/* Keeps the largest sites of a row, the largest first. */
static void add_site(struct vt_row *row, const struct vt_site *site, enum vt_rows_what what) {
    uint32_t at = row->sites < VT_ROW_SITES ? row->sites : VT_ROW_SITES;
    for (; at && bytes_of(row->largest[at - 1], what) < bytes_of(site, what); at--)
        if (at < VT_ROW_SITES)
            row->largest[at] = row->largest[at - 1];
    if (at < VT_ROW_SITES)
        row->largest[at] = site;
    row->site = row->largest[0];
}

void vt_rows_make(struct vt_rows *rows, const struct vt_subject *t, enum vt_rows_what what,
                  unsigned device) {
    VT_SCOPED_MAP known = {0};
    *rows = (struct vt_rows){.what = what};
    for (uint32_t i = 0; i < t->process->site_count; i++) {
        const struct vt_site *site = &t->process->sites[i];
        if (!belongs(site, what, device))
            continue;
        uint64_t blocks = blocks_of(site, what);
        uint64_t bytes = bytes_of(site, what);
        uint64_t key = row_key(site, t->options->by);
        uint32_t index = vt_map_get(&known, key);
        if (index == VT_MAP_NONE) {
            index = rows->count;
            VT_GROW(rows->rows, rows->count, rows->room);
            rows->rows[rows->count++] = (struct vt_row){.key = key, .figures = vt_site_no_figures};
            vt_map_put(&known, key, index);
        }
        struct vt_row *row = &rows->rows[index];
        add_site(row, site, what);
        row->bytes += bytes;
        row->blocks += blocks;
        vt_site_figures_add(&row->figures, &site->figures);
        row->sites++;
        rows->bytes += bytes;
        rows->blocks += blocks;
    }
    rows->whole = rows->bytes;
    vt_sort(rows->rows, rows->count, sizeof *rows->rows, larger_first);
}

void vt_rows_free(struct vt_rows *rows) {
    free(rows->rows);
    *rows = (struct vt_rows){0};
}

void vt_text_share(uint64_t bytes, uint64_t whole, char out[64]) {
    double share = whole ? 100.0 * (double)bytes / (double)whole : 0;
    snprintf(out, 64, bytes && share < 0.5 ? "<1 %%" : "%.0f %%", share);
}

/* "3 of 3", or "12 %" of a peak, rounded up from 0 %. */
static void share_text(const struct vt_rows *rows, const struct vt_row *row, char out[64]) {
    if (rows->what == VT_ROWS_PEAK)
        vt_text_share(row->bytes, rows->whole, out);
    else if (row->site->before && row->sites == 1)
        snprintf(out, 64, "%s", VT_NUMBER(row->blocks));
    else
        snprintf(out, 64, "%s of %s", VT_NUMBER(row->blocks), VT_NUMBER(row->alloc_count));
}

/* Where it was allocated. */
static char *row_text(const struct vt_subject *t, const struct vt_row *row) {
    const struct vt_frame *frame = vt_stack_main_frame(row->site->stack);
    struct vt_frame shown = frame ? *frame : (struct vt_frame){0};
    if (row->site->before)
        return vt_strdup("(allocated before --since)");
    if (!frame || t->options->by <= VT_BY_SITE)
        return vt_stack_text(t->process, row->site->stack, UINT_MAX, false);
    /* show only the common part of the group's sites */
    shown.line = 0;
    if (t->options->by == VT_BY_MODULE && frame->module)
        return vt_strdup(frame->module);
    if (t->options->by != VT_BY_FUNCTION)
        shown.function = NULL;
    return vt_frame_text(t->process, &shown, UINT_MAX);
}

static bool same_frame(const struct vt_frame *a, const struct vt_frame *b) {
    return a == b || vt_frame_line(a, VT_LINE_SHOWN) == vt_frame_line(b, VT_LINE_SHOWN);
}

/* The index in site's stack at which its path differs from the other's; its count: nowhere. */
static uint32_t parting(const struct vt_site *site, const struct vt_site *other) {
    const struct vt_stack *s = site->stack, *o = other->stack;
    if (!s->count || !o->count || site == other ||
        !same_frame(vt_stack_main_frame(s), vt_stack_main_frame(o)))
        return s->count;
    uint32_t i = vt_stack_main(s), j = vt_stack_main(o);
    while (i < s->count && j < o->count) {
        const struct vt_frame *a = vt_stack_frame(s, i), *b = vt_stack_frame(o, j);
        if (!a->interpreter && !b->interpreter && !same_frame(a, b))
            break;
        i += a->interpreter || !b->interpreter; /* frames of the interpreter do not count */
        j += b->interpreter || !a->interpreter;
    }
    if (j == o->count && o->cut)
        return s->count; /* the other stack's outer frames are unknown */
    while (i < s->count && vt_stack_frame(s, i)->interpreter)
        i++;
    return i;
}

static const struct vt_frame *frame_at(const struct vt_stack *stack, uint32_t at) {
    return stack && at < stack->count ? vt_stack_frame(stack, at) : NULL;
}

const struct vt_frame *vt_rows_parting(const struct vt_site *site, const struct vt_site *other) {
    return frame_at(site->stack, parting(site, other));
}

const struct vt_frame *vt_rows_way_in(const struct vt_site *site, const struct vt_site *other) {
    const struct vt_stack *s = site->stack, *o = other->stack;
    if (!s->count || !o->count || !same_frame(vt_stack_main_frame(s), vt_stack_main_frame(o)))
        return NULL;
    uint32_t i = vt_stack_main(s), j = vt_stack_main(o);
    while (i && j && same_frame(vt_stack_frame(s, i), vt_stack_frame(o, j))) {
        do
            i--;
        while (i && vt_stack_frame(s, i)->interpreter);
        do
            j--;
        while (j && vt_stack_frame(o, j)->interpreter);
    }
    const struct vt_frame *frame = vt_stack_frame(s, i);
    return frame->interpreter || same_frame(frame, vt_stack_frame(o, j)) ? NULL : frame;
}

static bool elsewhere(const struct vt_frame *frame, const struct vt_frame *other) {
    return frame->file && other->file && strcmp(frame->file, other->file) != 0;
}

uint32_t vt_rows_callers(const struct vt_stack *stack, const struct vt_frame *callers[VT_CALLERS]) {
    const struct vt_frame *main_frame = frame_at(stack, stack ? stack->user_frame : 0), *frame;
    uint32_t count = 0, at = main_frame ? stack->user_frame : 0;
    while (main_frame && (frame = frame_at(stack, at = vt_stack_caller(stack, at)))) {
        callers[count++] = frame;
        if (count == VT_CALLERS || !frame->file || !main_frame->file ||
            elsewhere(frame, main_frame))
            break;
    }
    return count;
}

const struct vt_frame *vt_rows_caller_elsewhere(const struct vt_stack *stack) {
    const struct vt_frame *main_frame = frame_at(stack, stack ? stack->user_frame : 0),
                          *frame = NULL;
    uint32_t at = main_frame ? stack->user_frame : 0;
    while (main_frame && (frame = frame_at(stack, at = vt_stack_caller(stack, at))) &&
           !elsewhere(frame, main_frame))
        ;
    return frame;
}

static void add_caller(const struct vt_subject *t, const struct vt_frame *caller,
                       struct vt_doc *doc) {
    vt_doc_add(doc, VT_DOC_CALLER, vt_doc_keep(doc, vt_frame_text(t->process, caller, UINT_MAX)));
}

/* For a row that looks like another one in the list: its callers where the two paths differ. If there are more than a
 * few, the outer ones, because fewer rows share them. */
static void add_callers(const struct vt_rows *rows, uint32_t shown, uint32_t i,
                        const struct vt_subject *t, struct vt_doc *doc) {
    enum { MOST = 3 };
    const struct vt_stack *stack = rows->rows[i].site->stack;
    uint32_t callers[MOST + 1], count = 0; /* indices of frames, the outermost first */
    if (rows->rows[i].site->caller && t->options->by == VT_BY_LINE) {
        add_caller(t, rows->rows[i].site->caller, doc);
        return;
    }
    for (uint32_t j = 0; j < shown && t->options->by <= VT_BY_SITE; j++) {
        uint32_t caller = parting(rows->rows[i].site, rows->rows[j].site), at = 0;
        while (at < count && callers[at] > caller)
            at++;
        if (caller == stack->count || (at < count && callers[at] == caller))
            continue;
        memmove(callers + at + 1, callers + at, (count - at) * sizeof *callers);
        callers[at] = caller;
        count += count < MOST;
    }
    while (count-- > 0)
        add_caller(t, vt_stack_frame(stack, callers[count]), doc);
}

/* The frame at which the path of a site differs from another's: the user's frame there, if the stack has one. */
static const struct vt_frame *user_parting(const struct vt_site *site,
                                           const struct vt_site *other) {
    const struct vt_stack *stack = site->stack;
    uint32_t at = parting(site, other);
    while (stack->user_frame < stack->count && at < stack->count &&
           !vt_stack_frame(stack, at)->user_code)
        at++;
    return frame_at(stack, at);
}

/* The callers of a row's largest sites, if they differ: all of three, with the number of blocks for each; two of
 * more. */
static void add_row_callers(const struct vt_rows *rows, const struct vt_row *row,
                            const struct vt_subject *t, struct vt_doc *doc) {
    uint32_t most = row->sites <= VT_ROW_SITES ? row->sites : VT_ROW_SITES - 1, count = 0;
    const struct vt_frame *callers[VT_ROW_SITES];
    uint64_t blocks[VT_ROW_SITES];
    if (row->sites < 2 || t->options->by != VT_BY_LINE || row->site->caller)
        return;
    for (uint32_t i = 0; i < most; i++) {
        const struct vt_frame *caller = user_parting(row->largest[i], row->largest[!i]);
        uint32_t at = 0;
        while (caller && at < count && !same_frame(callers[at], caller))
            at++;
        if (!caller)
            continue;
        if (at == count) {
            callers[count] = caller;
            blocks[count++] = 0;
        }
        blocks[at] += blocks_of(row->largest[i], rows->what);
    }
    VT_SCOPED_STRING s = {0};
    for (uint32_t i = 0; i < count; i++) {
        VT_SCOPED char *text = vt_frame_text(t->process, callers[i], UINT_MAX);
        vt_string_format(&s, "%s%s", i ? ", " : "called by ", text);
        if (row->sites <= most) /* for further ones the rest is unknown here */
            vt_string_format(&s, " (%s)", VT_NUMBER(blocks[i]));
    }
    if (count > 1) {
        vt_string_add(&s, row->sites > most ? ", and others" : "");
        struct vt_doc_item *item = vt_doc_add(doc, VT_DOC_MORE, NULL);
        item->text = vt_doc_text(doc, "%s", s.text);
        item->style = VT_STYLE_DIM;
    }
}

/* The second line: the source, and facts that it does not show. */
static void add_source(const struct vt_subject *t, const struct vt_row *row, struct vt_doc *doc) {
    const struct vt_site *site = row->site;
    const struct vt_frame *frame =
        t->options->by <= VT_BY_SITE ? vt_stack_main_frame(site->stack) : NULL;
    struct vt_string extra = {0};
    char *source = vt_doc_keep(doc, vt_frame_text_source(t->process, frame, UINT_MAX));
    if (row->sites > 1 && t->options->by == VT_BY_LINE) /* the row has the id of the largest */
        vt_string_format(&extra, "+%u more call site%s", row->sites - 1, vt_plural(row->sites - 1));
    else if (row->sites > 1)
        vt_string_format(&extra, "%u call sites", row->sites);
    else if (site->api && !(source && strstr(source, site->api)))
        vt_string_add(&extra, site->api);
    if (t->process->device_count > 1 && site->device < VT_DEVICE_HOST)
        vt_string_format(&extra, "%s%s", extra.length ? ", " : "", VT_GPU(site->device));
    if (source || extra.length)
        vt_doc_add(doc, VT_DOC_SOURCE, source)->source =
            extra.length ? vt_doc_keep(doc, extra.text) : NULL;
}

void vt_rows_add(const struct vt_rows *rows, const struct vt_subject *t, struct vt_doc *doc) {
    bool with_ids = t->options->by <= VT_BY_SITE;
    uint32_t most = t->options->top ? t->options->top : ROWS_SHOWN;
    uint32_t shown = rows->count < most ? rows->count : most;
    uint64_t left = rows->bytes;
    const struct vt_doc_column columns[] = {
        {"held", 0, 10, .right = true},
        {rows->what == VT_ROWS_PEAK ? "share" : "blocks", 2, 5, .right = true},
        {"allocated at", 2, 0, .code = true, .fill = with_ids, .style = VT_STYLE_HEAD},
        {"site", 2, 0, .code = true},
    };
    vt_doc_table(doc, columns, with_ids ? 4 : 3);
    for (uint32_t i = 0; i < shown; i++) {
        const struct vt_row *row = &rows->rows[i];
        char share[64];
        share_text(rows, row, share);
        vt_doc_cells(doc, VT_BYTES(row->bytes), share, vt_doc_keep(doc, row_text(t, row)),
                     vt_doc_text(doc, "%.*s", (int)t->digits, row->site->name));
        left -= row->bytes;
        add_source(t, row, doc);
        add_callers(rows, shown, i, t, doc);
        add_row_callers(rows, row, t, doc);
    }
    if (rows->count > shown)
        vt_doc_rest(doc, left, "in %u more %s%s (--top %u shows them)", rows->count - shown,
                    vt_rows_noun(t), vt_plural(rows->count - shown), rows->count);
}
