/* SPDX-License-Identifier: MIT */
/*
 * The comparison of two runs (see diff.h).
 */
#include "diff.h"

#include "gate/gate.h"
#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

const char *const vt_diff_names[VT_DIFF_STATES] = {
    [VT_DIFF_APPEARED] = "appeared", [VT_DIFF_GREW] = "grew", [VT_DIFF_SHRANK] = "shrank",
    [VT_DIFF_WENT] = "went",         [VT_DIFF_SAME] = "same",
};

/* Sites less alike than this are different. If one of three frames was renamed, sites with equal sizes still match;
 * with different sizes they do not. */
#define ALIKE    0.7
/* At most so many remaining sites of each run are compared pairwise. */
#define COMPARED 500
/* Number of innermost frames to compare. */
#define FRAMES   64

/* The sites of one run with the same key that allocate on the same line: a function's lines are separate rows, as in
 * a report. */
struct group {
    struct vt_stack_key key; /* only its hash, except in the result of left_over */
    uint32_t line;           /* 0: unknown */
    struct vt_diff_side side;
    bool matched;
};

struct groups {
    struct group *all;
    uint32_t count, room;
    struct vt_map by_site; /* vt_diff_site_key -> the group */
};

static uint32_t line_of(const struct vt_site *site) {
    const struct vt_frame *frame = vt_stack_main_frame(site->stack);
    return frame ? frame->line : 0;
}

static uint64_t with_line(uint64_t hash, const struct vt_site *site) {
    return vt_mix(hash) + line_of(site);
}

uint64_t vt_diff_site_key(const struct vt_site *site) {
    return with_line(vt_stack_key_of(site), site);
}

/* --- likeness --- */

static double frame_likeness(const char *a, const char *b) {
    if (!strcmp(a, b))
        return 1;
    const char *x = strrchr(a, '('), *y = strrchr(b, '(');
    size_t length = x ? (size_t)(x - a) : 0;
    /* the same function in a renamed file */
    return x && y && length == (size_t)(y - b) && *a != '?' && !memcmp(a, b, length) ? 0.95 : 0;
}

/* The similarity of two stacks, from 0 to 1: by their common frames, in order. */
static double likeness_of(const struct vt_stack_key *a, const struct vt_stack_key *b) {
    double best[FRAMES + 1] = {0};
    uint32_t n = a->count < FRAMES ? a->count : FRAMES, m = b->count < FRAMES ? b->count : FRAMES;
    /* the longest common subsequence, row by row */
    for (uint32_t i = 0; i < n; i++) {
        double diagonal = 0;
        for (uint32_t j = 1; j <= m; j++) {
            double above = best[j];
            double both = diagonal + frame_likeness(a->frames[i], b->frames[j - 1]);
            if (both > best[j])
                best[j] = both;
            if (best[j - 1] > best[j])
                best[j] = best[j - 1];
            diagonal = above;
        }
    }
    return n + m ? 2 * best[m] / (n + m) : 1;
}

static double mean(const struct vt_diff_side *side) {
    return side->alloc_count ? (double)side->allocated_bytes / (double)side->alloc_count : 0;
}

static double size_likeness(const struct vt_diff_side *a, const struct vt_diff_side *b) {
    double x = mean(a), y = mean(b);
    return x > 0 && y > 0 ? (x < y ? x / y : y / x) : 0;
}

/* --- sites of a run --- */

static void add_site(struct groups *groups, const struct vt_process *p,
                     const struct vt_site *site) {
    uint64_t key = vt_stack_key_of(site);
    uint32_t at = vt_map_get(&groups->by_site, with_line(key, site));
    if (at == VT_MAP_NONE) {
        at = groups->count;
        VT_GROW(groups->all, groups->count, groups->room);
        vt_map_put(&groups->by_site, with_line(key, site), at);
        groups->all[groups->count++] = (struct group){.key.hash = key,
                                                      .line = line_of(site),
                                                      .side = {.there = true,
                                                               .process = p,
                                                               .site = site,
                                                               .verdict = site->verdict,
                                                               .figures = vt_site_no_figures}};
    }
    struct vt_diff_side *side = &groups->all[at].side;
    if (site->live_bytes > side->site->live_bytes) {
        side->site = site;
        side->process = p;
    }
    if (site->verdict < side->verdict)
        side->verdict = site->verdict;
    struct vt_site_figures figures = site->figures;
    figures.held_bytes = vt_site_compared_bytes(p, site);
    vt_site_figures_add(&side->figures, &figures);
}

/* Adds the memory that would fail the gate. An interpreter may have freed such memory at the end, so it may differ from
 * the live memory. */
static void add_leaks(const struct vt_model *model, struct groups *groups,
                      struct vt_diff_total *total) {
    struct vt_suppressions own = {0};
    struct vt_gate_options options = {.max_peak = VT_UNKNOWN, .suppressions = &own};
    struct vt_gate gate;
    vt_suppress_add_builtin(&own);
    vt_gate_judge(model, &options, &gate);
    for (uint32_t i = 0; i < gate.count; i++) {
        const struct vt_gate_finding *f = &gate.findings[i];
        if (!f->site || f->outcome != VT_GATE_FAILS)
            continue;
        uint32_t at = vt_map_get(&groups->by_site, with_line(f->group, f->site));
        groups->all[at].side.leaked_bytes += f->amount.bytes;
        total->leaked_bytes += f->amount.bytes;
    }
    vt_gate_free(&gate);
    vt_suppress_free(&own);
}

static int by_key(const void *a, const void *b) {
    const struct group *x = a, *y = b;
    return VT_ORDER({x->key.hash, y->key.hash}, {x->line, y->line});
}

static void collect(const struct vt_model *model, struct groups *groups,
                    struct vt_diff_total *total) {
    *total = (struct vt_diff_total){.processes = model->process_count};
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct vt_process *p = &model->processes[i];
        for (uint32_t j = 0; j < p->site_count; j++)
            add_site(groups, p, &p->sites[j]);
        for (uint32_t j = 0; j < p->device_count; j++) {
            const struct vt_device *d = &p->devices[j];
            total->live_bytes += d->live_bytes;
            total->live_count += d->live_count;
            total->alloc_count += d->alloc_count;
            if (total->peak_bytes < d->peak_bytes)
                total->peak_bytes = d->peak_bytes;
        }
        total->ooms += p->oom_count + p->ooms_left_out;
        total->gaps |= p->quality.gaps;
    }
    add_leaks(model, groups, total);
    vt_map_free(&groups->by_site);
    vt_sort(groups->all, groups->count, sizeof *groups->all, by_key);
}

static void free_groups(struct groups *groups) {
    for (uint32_t i = 0; i < groups->count; i++)
        vt_stack_key_free(&groups->all[i].key);
    free(groups->all);
}

/* --- matching --- */

/* The amount to compare for a side of a row. A fixed leak is compared with the memory that is still live, since
 * memory held for a while is not a leak. */
static uint64_t amount(const struct vt_diff_row *row, unsigned side) {
    const struct vt_diff_side *s = &row->sides[side];
    if (!row->leak)
        return s->held_bytes;
    return s->leaked_bytes > s->live_bytes ? s->leaked_bytes : s->live_bytes;
}

static void add_row(struct vt_diff *diff, struct group *before, struct group *after,
                    double likeness) {
    struct vt_diff_row *row = &diff->rows[diff->count++];
    *row = (struct vt_diff_row){.likeness = (unsigned)(likeness * 100 + 0.5)};
    if (before)
        row->sides[0] = before->side;
    if (after)
        row->sides[1] = after->side;
    row->leak = row->sides[0].leaked_bytes || row->sides[1].leaked_bytes;
    uint64_t was = row->bytes[0] = amount(row, 0), is = row->bytes[1] = amount(row, 1);
    row->state = was == is  ? VT_DIFF_SAME
                 : !was     ? VT_DIFF_APPEARED
                 : !is      ? VT_DIFF_WENT
                 : is > was ? VT_DIFF_GREW
                            : VT_DIFF_SHRANK;
    diff->counts[!row->leak][row->state]++;
    if (before)
        before->matched = true;
    if (after)
        after->matched = true;
}

/* The number of groups from `at` on with the same key. */
static uint32_t same_key(const struct groups *groups, uint32_t at) {
    uint32_t count = 0;
    while (at + count < groups->count &&
           groups->all[at + count].key.hash == groups->all[at].key.hash)
        count++;
    return count;
}

/* Matches the lines of one function in order, since an edit above moves them all. If their number changed, only lines
 * that did not move match. */
static void match_lines(struct vt_diff *diff, struct group *before, uint32_t n, struct group *after,
                        uint32_t m) {
    for (uint32_t i = 0, j = 0; i < n && j < m;) {
        if (n == m || before[i].line == after[j].line)
            add_row(diff, &before[i++], &after[j++], 1);
        else if (before[i].line < after[j].line)
            i++;
        else
            j++;
    }
}

static void match_keys(struct vt_diff *diff, struct groups *before, struct groups *after) {
    for (uint32_t i = 0, j = 0; i < before->count && j < after->count;) {
        uint64_t a = before->all[i].key.hash, b = after->all[j].key.hash;
        uint32_t n = a <= b ? same_key(before, i) : 0, m = b <= a ? same_key(after, j) : 0;
        match_lines(diff, &before->all[i], n, &after->all[j], m);
        i += n;
        j += m;
    }
}

/* Two remaining sites that may be the same. */
struct pair {
    struct group *before, *after;
    double score, likeness;
    uint64_t bytes;
};

static int by_score(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return VT_ORDER({y->bytes, x->bytes}, {x->before->key.hash, y->before->key.hash},
                    {x->after->key.hash, y->after->key.hash}, {x->before->line, y->before->line},
                    {x->after->line, y->after->line});
}

/* Sorts the largest first, because at most COMPARED are compared. */
static int by_size(const void *a, const void *b) {
    const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
    return VT_ORDER({y->side.held_bytes, x->side.held_bytes},
                    {y->side.allocated_bytes, x->side.allocated_bytes}, {x->key.hash, y->key.hash},
                    {x->line, y->line});
}

static struct group **left_over(struct groups *groups, uint32_t *count) {
    struct group **left = vt_alloc(groups->count, sizeof *left);
    *count = 0;
    for (uint32_t i = 0; i < groups->count; i++)
        if (!groups->all[i].matched)
            left[(*count)++] = &groups->all[i];
    vt_sort(left, *count, sizeof *left, by_size);
    if (*count > COMPARED)
        *count = COMPARED;
    for (uint32_t i = 0; i < *count; i++)
        vt_stack_key_make(left[i]->side.site, &left[i]->key);
    return left;
}

static void match_alike(struct vt_diff *diff, struct groups *before, struct groups *after) {
    uint32_t n, m, count = 0, room = 0;
    VT_SCOPED struct group **a = left_over(before, &n), **b = left_over(after, &m);
    VT_SCOPED struct pair *pairs = NULL;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < m; j++) {
            if (strcmp(a[i]->key.call, b[j]->key.call))
                continue;
            double likeness = likeness_of(&a[i]->key, &b[j]->key);
            double score = 0.75 * likeness + 0.25 * size_likeness(&a[i]->side, &b[j]->side);
            if (score < ALIKE)
                continue;
            VT_GROW(pairs, count, room);
            pairs[count++] = (struct pair){a[i], b[j], score, likeness,
                                           a[i]->side.held_bytes + b[j]->side.held_bytes};
        }
    vt_sort(pairs, count, sizeof *pairs, by_score);
    for (uint32_t i = 0; i < count; i++)
        if (!pairs[i].before->matched && !pairs[i].after->matched)
            add_row(diff, pairs[i].before, pairs[i].after, pairs[i].likeness);
}

static uint64_t row_change(const struct vt_diff_row *row) {
    uint64_t was = row->bytes[0], is = row->bytes[1];
    return was > is ? was - is : is - was;
}

static uint64_t id_of(const struct vt_diff_row *row) {
    return row->sides[row->sides[1].there].site->id;
}

static int by_change(const void *a, const void *b) {
    const struct vt_diff_row *x = a, *y = b;
    return VT_ORDER({!x->leak, !y->leak}, {x->state, y->state}, {row_change(y), row_change(x)},
                    {y->bytes[1], x->bytes[1]}, {id_of(x), id_of(y)});
}

void vt_diff_make(const struct vt_model *before, const struct vt_model *after,
                  struct vt_diff *diff) {
    struct groups sides[2] = {{0}, {0}};
    *diff = (struct vt_diff){0};
    collect(before, &sides[0], &diff->totals[0]);
    collect(after, &sides[1], &diff->totals[1]);
    diff->rows = vt_alloc((size_t)sides[0].count + sides[1].count, sizeof *diff->rows);
    match_keys(diff, &sides[0], &sides[1]);
    match_alike(diff, &sides[0], &sides[1]);
    for (uint32_t i = 0; i < sides[0].count; i++)
        if (!sides[0].all[i].matched)
            add_row(diff, &sides[0].all[i], NULL, 0);
    for (uint32_t i = 0; i < sides[1].count; i++)
        if (!sides[1].all[i].matched)
            add_row(diff, NULL, &sides[1].all[i], 0);
    vt_sort(diff->rows, diff->count, sizeof *diff->rows, by_change);
    vt_diff_moments_choose(before, after, &diff->moments);
    vt_diff_owners_make(before, after, diff);
    free_groups(&sides[0]);
    free_groups(&sides[1]);
}

void vt_diff_free(struct vt_diff *diff) {
    free(diff->rows);
    free(diff->owners);
    free(diff->moments.of[0]);
    free(diff->moments.of[1]);
    *diff = (struct vt_diff){0};
}
