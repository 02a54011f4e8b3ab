/* SPDX-License-Identifier: MIT */
/*
 * Makes every vt_growth: from a rule's findings, a site's share of its source line's growth, a leak's sites together,
 * or a failed pytest test. Its figures: bytes per iteration, first growing iteration, and time to a full device. If the
 * program marked no iterations, the allocations of one regular site (the period site) count as iterations.
 */
#include "growth_search.h"

#include <math.h>
#include <stdlib.h>

/* --- the run's rhythm --- */

/* Whether a cache or a CUDA library decides when a site allocates (such as segments or recycled buffers). Their rhythm
 * is not the program's. */
static bool is_others(const struct search *s, uint32_t site) {
    const struct vt_site *of =
        s->index[site] == VT_NO_SITE ? NULL : &s->process->sites[s->index[site]];
    return of && (of->class != VT_CLASS_PROGRAM || of->recycled);
}

/* How often a site allocated before a bucket. */
static uint64_t allocs_before(const struct search *s, uint32_t site, uint32_t bucket) {
    const struct vt_site_history *h = &s->history->sites[site];
    uint32_t low = 0, high = h->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (h->samples[middle].bucket < bucket)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? h->samples[low - 1].allocs : 0;
}

/* How often the period site (if none: the growing sites) allocated before a bucket. */
static uint64_t periods_before(const struct search *s, const struct found *found,
                               uint32_t period_site, uint32_t bucket) {
    uint64_t sum = 0;
    if (period_site != VT_NO_SITE)
        return allocs_before(s, period_site, bucket);
    for (uint32_t i = 0; i < found->site_count; i++)
        sum += allocs_before(s, found->sites[i], bucket);
    return sum;
}

/* A candidate for the period site, and how often it allocated during the growth. */
struct candidate {
    uint64_t count;
    uint32_t site;
};

static int compare_candidates(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    return VT_ORDER({x->count, y->count}, {x->site, y->site});
}

/* The sites that allocate evenly during the whole growth, sorted by their allocations in it. Free them. Given a thread,
 * only its sites: interleaving with others varies between runs. */
static struct candidate *find_even(const struct search *s, uint32_t first_bucket, uint32_t thread,
                                   uint32_t *count) {
    size_t site_count = s->replay->site_count;
    struct candidate *candidates = vt_alloc(site_count, sizeof *candidates);
    uint32_t end = s->last_bucket + 1, marks[5];
    uint64_t from = s->history->buckets[first_bucket].events;
    *count = 0;
    for (uint32_t i = 0; i <= 4; i++) {
        uint64_t at = from + (s->history->events_at_last_alloc + 1 - from) * i / 4;
        uint32_t low = first_bucket, high = end;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (s->history->buckets[middle].events < at)
                low = middle + 1;
            else
                high = middle;
        }
        marks[i] = low;
    }
    marks[4] = end;
    for (uint32_t i = 0; i < site_count && i < s->history->site_room; i++) {
        const struct vt_site_history *h = &s->history->sites[i];
        if (is_others(s, i) || (thread != VT_NO_THREAD && (h->shared || h->thread != thread)))
            continue;
        uint64_t all = allocs_before(s, i, end) - allocs_before(s, i, first_bucket);
        bool even = all > 0;
        for (int q = 0; q < 4 && even; q++) {
            uint64_t part = allocs_before(s, i, marks[q + 1]) - allocs_before(s, i, marks[q]);
            even = (double)part >= (double)all * PERIOD_LEAST;
        }
        if (even)
            candidates[(*count)++] = (struct candidate){all, i};
    }
    vt_sort(candidates, *count, sizeof *candidates, compare_candidates);
    return candidates;
}

/* Whether `count` is about `times` times `base`. */
static bool is_times(uint64_t count, uint64_t base, uint64_t times) {
    double n = (double)count, expected = (double)(base * times);
    return n <= expected + expected * PERIOD_ALIKE + 1 && n + n * PERIOD_ALIKE + 1 >= expected;
}

static uint64_t allocs_of(const struct search *s, uint32_t site) {
    return s->replay->sites[site].alloc_count;
}

/* Finds the site whose allocations count as iterations. Sites vote: those that allocate as often (2 votes) or 2 to 8
 * times as often (1). At equal votes, the more frequent wins; at equal counts, the one with the most allocations in the
 * run. VT_NO_SITE: none. */
static uint32_t find_period_site(const struct search *s, uint32_t first_bucket, uint32_t thread) {
    struct tempo {
        uint64_t count; /* of its most frequent site */
        uint32_t site;  /* the one with the most allocations in the whole run */
        uint32_t sites;
    };
    uint32_t count, n = 0, best = VT_NO_SITE, best_votes = 0;
    VT_SCOPED struct candidate *candidates = find_even(s, first_bucket, thread, &count);
    VT_SCOPED struct tempo *tempos = vt_alloc(count, sizeof *tempos);
    for (uint32_t i = 0; i < count; i++) {
        if (n && is_times(candidates[i].count, tempos[n - 1].count, 1)) {
            tempos[n - 1].count = candidates[i].count;
            if (allocs_of(s, candidates[i].site) >= allocs_of(s, tempos[n - 1].site))
                tempos[n - 1].site = candidates[i].site;
            tempos[n - 1].sites++;
        } else {
            tempos[n++] = (struct tempo){candidates[i].count, candidates[i].site, 1};
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t votes = PERIOD_VOTES * tempos[i].sites;
        for (uint32_t j = i + 1; j < n; j++) {
            uint64_t times = (tempos[j].count + tempos[i].count / 2) / tempos[i].count;
            if (times >= 2 && times <= PERIOD_TIMES &&
                is_times(tempos[j].count, tempos[i].count, times))
                votes += tempos[j].sites;
        }
        if (votes >= best_votes) {
            best_votes = votes;
            best = tempos[i].site;
        }
    }
    return best;
}

/* --- the figures --- */

/* How many phases called `name` are in each phase named as `outer`; 0: the number varies, or only one phase is named
 * so. */
static uint64_t phases_in(const struct vt_process *p, const struct vt_phase *outer,
                          const char *name) {
    uint64_t inside = 0, in_each = 0, outers = 0, end = 0;
    for (const struct vt_phase *at = outer; at < p->phases + p->phase_count; at++) {
        if (at->mark || at->thread != outer->thread)
            continue;
        if (at->name != outer->name) {
            inside += at->name == name && at->end <= end;
            continue;
        }
        if (outers > 1 && inside != in_each)
            return 0;
        in_each = inside;
        inside = 0;
        outers++;
        end = at->end;
    }
    return outers > 1 && inside == in_each ? in_each : 0;
}

/* Finds the innermost phase that contains a whole number of iterations. */
static void find_outer_phase(const struct vt_process *p, struct vt_growth *g) {
    const struct vt_phase *first = NULL;
    for (uint32_t i = 0; i < p->phase_count && !first; i++)
        if (p->phases[i].name == g->per)
            first = &p->phases[i];
    for (uint32_t i = 0; first && !p->phase_sum_count && &p->phases[i] < first; i++) {
        const struct vt_phase *outer = &p->phases[i];
        if (outer->mark || outer->thread != first->thread || outer->end < first->end)
            continue;
        uint64_t in_each = phases_in(p, outer, g->per);
        if (in_each > 1) {
            g->outer = outer->name;
            g->outer_iterations = in_each;
        }
    }
}

/* Without marked iterations: takes the rarest regular site (not the growing one) that allocates once in several
 * iterations. */
static void find_outer_period(const struct search *s, const struct found *found,
                              uint32_t period_site, struct vt_growth *g) {
    for (uint32_t i = 0; i < s->replay->site_count && i < s->history->site_room; i++) {
        uint64_t count = s->replay->sites[i].alloc_count,
                 length = count ? g->iterations / count : 0;
        const struct vt_site_history *h = &s->history->sites[i];
        if (i == found->sites[0] || is_others(s, i) || count < 2 || length < EPOCH_ITERATIONS ||
            g->iterations % count || length <= g->outer_iterations)
            continue;
        bool even = true;
        uint64_t before = 0;
        uint32_t allocs = 0;
        for (uint32_t j = 0; j < h->count && even; j++) {
            if (h->samples[j].allocs == allocs)
                continue;
            uint64_t now = periods_before(s, found, period_site, h->samples[j].bucket);
            uint64_t rounds = now - before;
            double apart = fabs((double)rounds - (double)length);
            even = h->samples[j].allocs == allocs + 1 &&
                   (!allocs || apart <= (double)length * OUTER_SLACK + 1);
            before = now;
            allocs++;
        }
        if (even)
            g->outer_iterations = length;
    }
}

uint64_t vt_growth_room(const struct vt_process *p, const struct vt_site *site) {
    const struct vt_device *d = vt_process_device(p, site->device);
    /* a refused allocation means a full device, unless a retry succeeded */
    for (uint32_t i = 0; i < p->oom_count; i++)
        if (p->ooms[i].device == site->device && p->ooms[i].outcome != VT_OOM_RECOVERED)
            return 0;
    if (!d || site->layer == VT_LAYER_HOST || site->layer == VT_LAYER_MANAGED ||
        d->total_bytes == VT_UNKNOWN)
        return VT_UNKNOWN;
    uint64_t used = d->peak_bytes;
    if (d->driver_used_bytes != VT_UNKNOWN && d->driver_used_bytes > used)
        used = d->driver_used_bytes;
    if (d->from_nvml && d->other_processes_bytes != VT_UNKNOWN)
        used += d->other_processes_bytes;
    return used < d->total_bytes ? d->total_bytes - used : 0;
}

/* Estimates when the growth fills the device. */
static void foresee(const struct vt_process *p, const struct vt_site *site,
                    struct vt_growth *growth, double ns) {
    uint64_t room = vt_growth_room(p, site);
    growth->full_in_iterations = growth->full_in = VT_UNKNOWN;
    if (room == VT_UNKNOWN || !vt_growth_bytes(growth))
        return;
    growth->full_in_iterations = (uint64_t)((double)room / growth->pace);
    growth->full_in = vt_analysis_ahead((double)growth->full_in_iterations * ns);
}

/* How many iterations come before a bucket, on the clock on which the growth was found. */
static double iterations_before(const struct search *s, const struct found *found,
                                uint32_t period_site, uint32_t bucket) {
    enum clock_kind kind = found->scale.kind;
    if (kind == BY_RHYTHM)
        return (double)periods_before(s, found, period_site, bucket);
    return vt_growth_position(s, kind, bucket) - 1;
}

/* Bytes per iteration, from the first to the last rise: the time after the last does not count. With bursts, from the
 * start of the first to that of the last: each includes the pause after it. `all`: the bytes of all rises. 0: there is
 * one rise. */
static double pace_of(const struct search *s, const struct found *found, uint32_t period_site,
                      uint64_t all) {
    const struct rise *rises = s->rises + found->first_rise;
    uint32_t count = found->rise_count, last = 0;
    VT_SCOPED double *at = vt_alloc(count, sizeof *at);
    double pause = 0, longest = 0;
    uint64_t so_far = 0, before = 0; /* the last burst */
    bool bursts = false;
    for (uint32_t i = 0; i < count; i++) {
        at[i] = iterations_before(s, found, period_site, rises[i].bucket);
        pause = i && at[i] - at[i - 1] > pause ? at[i] - at[i - 1] : pause;
    }
    for (uint32_t i = 0; i < count; so_far += rises[i++].bytes) {
        bool goes_on = i && at[i] - at[i - 1] <= pause * BURST_GAP;
        last = goes_on ? last : i;
        before = goes_on ? before : so_far;
        bursts |= goes_on;
        longest = at[i] - at[last] > longest ? at[i] - at[last] : longest;
    }
    if (!bursts || longest > pause) {
        last = count - 1;
        before = all - rises[0].bytes;
    }
    return at[last] > at[0] ? (double)before / (at[last] - at[0]) : 0;
}

struct vt_growth *vt_growth_describe(const struct search *s, const struct found *found,
                                     const struct vt_process *p) {
    const struct vt_bucket *buckets = s->history->buckets;
    const struct rise *rises = s->rises + found->first_rise;
    uint32_t own = found->sites[0], count = found->rise_count;
    const struct vt_site *site = &p->sites[s->index[own]];
    enum clock_kind kind = found->scale.kind;
    struct vt_growth *g = vt_alloc(1, sizeof *g);
    uint32_t begin = rises[0].bucket, period_site = VT_NO_SITE;
    uint64_t end_ticks = s->history->last_alloc;
    double all; /* iterations of the run */
    g->chance = found->chance;
    g->rule = found->rule;
    g->operation = found->rule == VT_RULE_APPENDS ? vt_appends_name(site->stack) : NULL;
    g->rises = found->rises;
    g->since = vt_clock_ns(s->clock, buckets[begin].ticks);
    for (uint32_t i = 0; i < count; i++) {
        g->bytes += rises[i].bytes;
        g->blocks += rises[i].count;
    }
    if (kind == BY_ITERATION) {
        g->per = p->phase_names[s->iterations->name];
        g->marked = true;
        g->iterations = s->iterations->count;
        all = (double)g->iterations;
        find_outer_phase(p, g);
        if (s->iterations->end < end_ticks)
            end_ticks = s->iterations->end;
    } else {
        period_site = find_period_site(
            s, found->begin, found->one_thread ? s->history->sites[own].thread : VT_NO_THREAD);
        g->per = "rhythm";
        g->period = period_site == VT_NO_SITE             ? site->stack
                    : s->index[period_site] == VT_NO_SITE ? NULL
                                                          : p->sites[s->index[period_site]].stack;
        for (uint32_t i = 0; period_site == VT_NO_SITE && i < found->site_count; i++)
            g->iterations += s->replay->sites[found->sites[i]].alloc_count;
        if (period_site != VT_NO_SITE)
            g->iterations = s->replay->sites[period_site].alloc_count;
        all = (double)g->iterations;
        find_outer_period(s, found, period_site, g);
    }
    double before = iterations_before(s, found, period_site, begin);
    double length = all - before, each = pace_of(s, found, period_site, g->bytes);
    g->since_iteration = (uint64_t)before + 1;
    length = length < 1e-9 ? 1e-9 : length;
    each = each > 0 ? each : (double)g->bytes / length;
    g->pace = each;
    if (!found->scale.whole)
        g->bytes = (uint64_t)(each * length + 0.5);
    uint64_t ns = end_ticks > buckets[begin].ticks
                      ? vt_clock_ns(s->clock, end_ticks - buckets[begin].ticks)
                      : 0;
    foresee(p, site, g, (double)ns / length);
    return g;
}

static struct vt_growth *copy(const struct vt_growth *from) {
    struct vt_growth *g = vt_alloc(1, sizeof *g);
    *g = *from;
    return g;
}

struct vt_growth *vt_growth_part(const struct vt_growth *line, const struct rise *rises,
                                 uint32_t count) {
    struct vt_growth *g = copy(line);
    g->bytes = g->blocks = 0;
    for (uint32_t i = 0; i < count; i++) {
        g->bytes += rises[i].bytes;
        g->blocks += rises[i].count;
    }
    double share = (double)g->bytes / (double)line->bytes;
    g->pace = line->pace * share;
    if (line->full_in_iterations != VT_UNKNOWN) /* one site alone fills it later */
        g->full_in_iterations = (uint64_t)((double)line->full_in_iterations / share);
    if (line->full_in != VT_UNKNOWN)
        g->full_in = vt_analysis_ahead((double)line->full_in / share);
    return g;
}

struct vt_growth *vt_growth_in_step(const struct vt_growth *with, const struct rise *all,
                                    uint32_t rises) {
    struct vt_growth *g = vt_growth_part(with, all, 1);
    g->rule = VT_RULE_IN_STEP;
    g->operation = NULL;
    g->rises = rises;
    return g;
}

struct vt_growth *vt_growth_sum(struct vt_growth *sum, const struct vt_growth *g) {
    if (!sum)
        return copy(g);
    bool same_rounds = vt_same_text(sum->per, g->per) && sum->iterations == g->iterations;
    double pace = g->pace;
    if (!same_rounds && sum->bytes) /* in step, but measured by another clock */
        pace = sum->pace * (double)g->bytes / (double)sum->bytes;
    double before = sum->pace;
    double ns = sum->full_in_iterations && sum->full_in_iterations != VT_UNKNOWN
                    ? (double)sum->full_in / (double)sum->full_in_iterations
                    : 0;
    if (sum->full_in == VT_UNKNOWN)
        ns = INFINITY;
    sum->pace += pace;
    sum->bytes += g->bytes;
    sum->blocks += g->blocks;
    sum->chance = g->chance < sum->chance ? g->chance : sum->chance;
    if (g->rule < sum->rule) { /* the first rule is the strongest: a trend */
        sum->rule = g->rule;
        sum->operation = g->operation;
        sum->rises = g->rises;
    } else if (g->rule == sum->rule && g->rises > sum->rises) {
        sum->rises = g->rises;
    }
    if (same_rounds && g->since_iteration < sum->since_iteration) {
        sum->since_iteration = g->since_iteration;
        sum->since = g->since;
    }
    if (sum->full_in_iterations != VT_UNKNOWN && sum->pace > 0) {
        sum->full_in_iterations = (uint64_t)((double)sum->full_in_iterations * before / sum->pace);
        sum->full_in = vt_analysis_ahead((double)sum->full_in_iterations * ns);
    }
    return sum;
}

/* The site's level rose in every round. By chance (Mann-Kendall), one of the n! orders of n levels does. */
struct vt_growth *vt_growth_of_test(const struct vt_tested *t, const struct vt_site *site) {
    double chance = 1;
    for (uint32_t i = 2; i <= t->rounds && chance > 1e-9; i++)
        chance /= i;
    return copy(&(struct vt_growth){
        .rule = VT_RULE_TREND,
        .per = "rhythm",
        .iterations = t->rounds,
        .period = site->stack,
        .pace = (double)t->left_bytes / t->rounds,
        .since_iteration = 1,
        .since = site->first_at,
        .full_in_iterations = VT_UNKNOWN,
        .full_in = VT_UNKNOWN,
        .bytes = t->left_bytes,
        .rises = t->rounds,
        .blocks = t->left_count,
        .chance = chance,
    });
}
