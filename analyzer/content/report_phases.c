/* SPDX-License-Identifier: MIT */
/*
 * Phases in a report, such as data loading, training and evaluation: all of one name are one row; names that differ
 * only in numbers, or in suffixes of PyTorch's profiler, are one name. A run under emit_nvtx() has as many names as
 * operator calls.
 */
#include "report_doc.h"

#include <stdlib.h>
#include <string.h>

/* Phases of one name, ignoring numbers in it. */
struct group {
    char *name;   /* "train"; "epoch *" for several: printable */
    bool several; /* of several names */
    const struct vt_phase *first, *last;
    uint64_t count, peak_bytes;
    int64_t left;  /* sum of the changes of memory */
    uint64_t rise; /* highest rise above the start of a phase */
};

static void add_phase(struct group *g, const struct vt_phase *f) {
    uint64_t rise = f->peak_bytes > f->live_at_start ? f->peak_bytes - f->live_at_start : 0;
    g->first = g->count ? g->first : f;
    g->last = f;
    g->count++;
    if (f->live_at_end != VT_UNKNOWN)
        g->left += (int64_t)(f->live_at_end - f->live_at_start);
    g->peak_bytes = f->peak_bytes > g->peak_bytes ? f->peak_bytes : g->peak_bytes;
    g->rise = rise > g->rise ? rise : g->rise;
}

/* The largest change of memory in one of them. */
static uint64_t weight(const struct group *g) {
    uint64_t left = (uint64_t)(g->left < 0 ? -g->left : g->left);
    return g->rise > left ? g->rise : left;
}

static int heavier_first(const void *a, const void *b) {
    const struct group *x = a, *y = b;
    return VT_ORDER({weight(y), weight(x)}, {x->first->start, y->first->start},
                    {(uint64_t)(uintptr_t)x->first, (uint64_t)(uintptr_t)y->first});
}

static int earlier_first(const void *a, const void *b) {
    const struct group *x = a, *y = b;
    return VT_ORDER({(uint64_t)(uintptr_t)x->first, (uint64_t)(uintptr_t)y->first});
}

/* Names the groups: by their only name, or the common part of their names. */
static void name_all(struct group *groups, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        struct group *g = &groups[i];
        size_t length = vt_phase_operator_length(g->first->name);
        if (!g->several) {
            free(g->name);
            g->name = vt_strndup(g->first->name, length);
        }
        vt_printable(g->name);
    }
}

/* Adds those evicted from a summary: the log has the first, the last and the extreme ones of each name. */
static void add_sums(const struct vt_process *p, struct group *groups,
                     const struct vt_map *by_name) {
    for (uint32_t i = 0; i < p->phase_sum_count; i++) {
        const struct vt_phase_sum *sum = &p->phase_sums[i];
        uint32_t index = sum->mark || !sum->name
                             ? VT_MAP_NONE
                             : vt_map_get(by_name, vt_hash_bytes(1, sum->name, strlen(sum->name)));
        if (index == VT_MAP_NONE)
            continue;
        groups[index].count += sum->count;
        groups[index].left += (int64_t)(sum->rose - sum->fell);
        groups[index].several |= sum->several;
    }
}

/* The phases in which memory changed most, at most `most`, by start. For the others: *moved, the groups with changes;
 * *still, those without. */
static struct group *make_groups(const struct vt_process *p, uint32_t most, uint32_t *shown,
                                 uint32_t *moved, uint32_t *still) {
    struct group *groups = NULL;
    VT_SCOPED_MAP by_pointer = {0}, by_name = {0};
    uint32_t count = 0, room = 0;
    for (uint32_t i = 0; i < p->phase_count; i++) {
        const struct vt_phase *f = &p->phases[i];
        if (f->mark || !f->name)
            continue;
        uint64_t pointer = (uint64_t)(uintptr_t)f->name;
        uint32_t index = vt_map_get(&by_pointer, pointer);
        if (index == VT_MAP_NONE) {
            VT_SCOPED char *name = vt_phase_group_name(f->name);
            uint64_t key = vt_hash_bytes(1, name, strlen(name));
            index = vt_map_get(&by_name, key);
            if (index == VT_MAP_NONE) {
                VT_GROW(groups, count, room);
                index = count++;
                groups[index] = (struct group){.name = name};
                vt_map_put(&by_name, key, index);
                name = NULL;
            }
            vt_map_put(&by_pointer, pointer, index);
        }
        struct group *g = &groups[index];
        if (g->count &&
            vt_phase_operator_length(g->first->name) == vt_phase_operator_length(f->name))
            g->several |= strncmp(g->first->name, f->name, vt_phase_operator_length(f->name)) != 0;
        else
            g->several |= g->count > 0;
        add_phase(g, f);
    }
    add_sums(p, groups, &by_name);
    name_all(groups, count);
    vt_sort(groups, count, sizeof *groups, heavier_first);
    *shown = count < most ? count : most;
    *moved = *still = 0;
    for (uint32_t i = *shown; i < count; i++) {
        *(weight(&groups[i]) ? moved : still) += 1;
        free(groups[i].name);
    }
    vt_sort(groups, *shown, sizeof *groups, earlier_first);
    return groups;
}

/* --- the list --- */

enum { SHOWN = 12, LEAST_NAME = 24 /* columns */ };

static void add_row_of_group(const struct group *g, struct vt_doc *doc) {
    uint64_t left = (uint64_t)(g->left < 0 ? -g->left : g->left);
    const char *sign = g->left < 0 ? "-" : left ? "+" : "";
    vt_doc_cells(doc, g->name, VT_NUMBER(g->count), VT_BYTES(g->first->live_at_start),
                 g->last->live_at_end == VT_UNKNOWN ? "open" : VT_BYTES(g->last->live_at_end),
                 VT_BYTES(g->peak_bytes), vt_doc_text(doc, "%s%s", sign, VT_BYTES(left)));
}

void vt_report_add_phases(const struct vt_subject *t, struct vt_doc *doc) {
    static const struct vt_doc_column columns[] = {
        {"name", 2, LEAST_NAME, .name = true},
        {"times", 1, 7, .right = true, .fixed = true},
        {"before", 1, 9, .right = true, .fixed = true},
        {"after", 1, 9, .right = true, .fixed = true},
        {"peak", 1, 9, .right = true, .fixed = true},
        {"left", 1, 10, .right = true, .fixed = true},
    };
    uint32_t count, moved, still, most = t->options->top ? t->options->top : SHOWN;
    VT_SCOPED struct group *groups = make_groups(t->process, most, &count, &moved, &still);
    if (count) {
        vt_doc_heading(doc, VT_STYLE_HEAD, "PHASES", "device memory before and after, all GPUs");
        vt_doc_table(doc, columns, sizeof columns / sizeof *columns);
    }
    for (uint32_t i = 0; i < count; i++) {
        add_row_of_group(&groups[i], doc);
        free(groups[i].name);
    }
    const char *how =
        !still  ? ""
        : moved ? vt_doc_text(doc, "; in %s of them memory did not change", VT_NUMBER(still))
                : "; memory did not change in them";
    if (moved + still)
        vt_doc_remark(doc, "and %s more name%s (--top %u shows them)%s", VT_NUMBER(moved + still),
                      vt_plural(moved + still), count + moved + still, how);
    vt_doc_add(doc, VT_DOC_END, NULL);
}
