/* SPDX-License-Identifier: MIT */
/*
 * A buffer that is replaced by a longer one again and again keeps no block, and its sizes do not show why it gets
 * longer: batches sorted by length do the same. The operation shows it: it appends (symbols/appends.def).
 *
 * A vector that doubles its capacity has few steps, at growing distances, so the tests for a trend do not apply. The
 * steps must be many and continue to the end, and the buffer must not have been emptied.
 */
#include "growth_search.h"

#include <string.h>

/* Whether the pause after the last step is still short enough for a next one. */
static bool goes_on(const struct search *s, const struct scale *scale, uint32_t count) {
    double start = s->rises[0].at, before = start, longest = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (s->rises[i].at - before > longest)
            longest = s->rises[i].at - before;
        before = s->rises[i].at;
    }
    double tail = scale->end - before;
    return tail <= APPEND_PAUSES * longest || tail <= TAIL_SHARE * (scale->end - start);
}

/* Whether it holds more than before it was last emptied. A buffer that is filled and emptied repeatedly does not grow,
 * even if the run ends while it is full. The old buffer, which coexists with its replacement, does not count. */
static bool outgrew(const struct search *s, const struct curve *c) {
    uint64_t before = 0;
    for (uint32_t i = 0; i < c->count && c->samples[i].bucket < s->rises[0].bucket; i++)
        if (c->samples[i].last_bytes > before && c->samples[i].last_count <= c->held_count)
            before = c->samples[i].last_bytes;
    return (double)c->held >= REFILLED * (double)before;
}

/* Whether a block that was freed since the process's last allocation is older than the buffer. */
static bool is_older(const struct search *s, const struct vt_freed *f, uint32_t site) {
    const struct vt_replay_site *sites = s->replay->sites;
    return f->site != site && sites[f->site].layer == sites[site].layer &&
           sites[f->site].first_ticks < sites[site].first_ticks &&
           s->history->sites[f->site].samples[f->allocated_in].bucket <= s->rises[0].bucket;
}

/* The outermost function below a program's top-level code, by a stack; NULL: unknown. */
static const struct vt_frame *main_function(const struct vt_stack *stack) {
    const struct vt_frame *function = NULL;
    for (uint32_t i = 0; i < stack->count && !stack->cut; i++) {
        const struct vt_frame *f = vt_stack_frame(stack, i);
        if (!f->python || !f->user_code || !f->function)
            continue;
        if (!strcmp(f->function, "<module>"))
            return function;
        function = f;
    }
    return NULL;
}

/* Whether snapshots saw most of a site's memory in that function's own variables, rather than in those of a function
 * that it calls or of a generator that it holds. */
static bool is_held_by_main(const struct vt_site *site) {
    const struct vt_frame *f = main_function(site->stack);
    uint64_t all = 0, own = 0;
    for (uint32_t i = 0; f && i < site->owned.count; i++) {
        const struct vt_memory_owner *o = site->owned.owners[i].owner;
        all += site->owned.owners[i].bytes;
        if (o->root.kind == VT_ROOT_FRAME && vt_same_text(o->root.function, f->function) &&
            vt_same_text(o->root.file, f->file) && !o->is_local_of_another)
            own += site->owned.owners[i].bytes;
    }
    return own > all / 2;
}

/* Whether the program still held the buffer when its own code ended. A program that frees the buffer itself, after the
 * process's last allocation, was done with it, as with a generation's key-value cache. But if most of the older memory
 * had been freed before, the function that held everything returned. The same holds, in any order, if most of the older
 * memory was freed before the interpreter's end and a variable of the outermost function held the buffer, which was
 * filled once. */
static bool held_to_end(const struct search *s, const struct curve *c, uint32_t site) {
    const struct vt_history *h = s->history;
    const struct vt_process *p = s->process;
    uint64_t given_up = 0, before = 0, after = 0, returned = 0;
    for (size_t i = 0; i < h->freed_count; i++) {
        const struct vt_freed *f = &h->freed[i];
        given_up += f->site == site && f->given_up;
        if (!is_older(s, f, site))
            continue;
        *(given_up < c->held_count ? &before : &after) += f->bytes;
        returned += f->given_up ? f->bytes : 0;
    }
    for (size_t i = 0; i < s->replay->site_count; i++) {
        const struct vt_replay_site *other = &s->replay->sites[i];
        bool is_program =
            s->index[i] == VT_NO_SITE || p->sites[s->index[i]].class == VT_CLASS_PROGRAM;
        if (i != site && is_program && other->layer == s->replay->sites[site].layer)
            after += other->live_bytes;
    }
    double gone = OLDER_GONE * (double)(before + after);
    return given_up < c->held_count || (double)before > gone ||
           ((double)returned > gone && s->rises[0].bucket == c->first &&
            is_held_by_main(&p->sites[s->index[site]]));
}

bool vt_growth_may_append(const struct search *s, const struct subject *subject) {
    const struct curve *c = &subject->curve;
    return subject->site_count == 1 && c->held_count && !s->replay->corrected && !c->joined &&
           vt_appends_name(s->process->sites[s->index[subject->sites[0]]].stack);
}

static bool appends_in(const struct search *s, const struct subject *subject, uint32_t steps,
                       struct found *found) {
    const struct curve *c = &subject->curve;
    uint32_t site = subject->sites[0];
    const struct vt_site_history *h = &s->history->sites[site];
    for (enum clock_kind kind = BY_ITERATION; kind <= BY_RHYTHM; kind++) {
        struct scale scale;
        if (kind == BY_ITERATION && s->iterations->shared && c->one_thread)
            continue; /* as in growth_trend.c */
        if (!vt_growth_scale(s, c, kind, false, &scale) || !scale.held)
            continue;
        uint32_t count = vt_growth_floor(s, c, &scale);
        if (!count)
            continue;
        bool doubled = h->doublings >= DOUBLINGS && h->doubled_in >= s->rises[0].bucket;
        if ((count < steps && !doubled) || !goes_on(s, &scale, count) || !outgrew(s, c) ||
            !held_to_end(s, c, site))
            continue;
        vt_growth_found(s, c, &scale, 0, count, found);
        return true;
    }
    return false;
}

bool vt_growth_appends_few(const struct search *s, const struct subject *subject,
                           struct found *found) {
    return appends_in(s, subject, RHYTHM_RISES, found);
}

bool vt_growth_appends(const struct search *s, const struct subject *subject, struct found *found) {
    return appends_in(s, subject, APPENDS, found);
}
