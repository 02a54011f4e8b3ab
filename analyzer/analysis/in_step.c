/* SPDX-License-Identifier: MIT */
/*
 * Which sites rise together? Sites that keep blocks in the same iterations and have something else in common share one
 * cause: a step that keeps its output keeps everything that was allocated for the output. leaks.c makes one leak of
 * such growing sites. Before that, analysis.c calls vt_in_step_adopt: a site that rises in step with a growing one also
 * counts as growing, though its own trend is too weak for growth_trend.c. Examples: the growing site's twin in an
 * optimizer; an autograd graph whose lines also allocate memory that is freed later.
 *
 * Rising in the same iterations is not enough, as everything in a loop does. One of these is needed as well:
 *   - a common caller in the user's code other than main or a module;
 *   - blocks that were freed alternately at exit, so one owner held them;
 *   - equally many kept blocks, or tensors with a whole ratio (one for each layer that a step calls), unless the sites
 *     were freed one after the other and neither calls the other.
 */
#include "steps.h"

#include "growth_search.h"

#include <stdlib.h>
#include <string.h>

enum {
    COURSE_PARTS = 256,
    GROWING_ASKED = 256 /* growing sites that are compared with each site */
};

/* --- the course of a site --- */

/* How many blocks a site kept in each part of the run, from bucket `begin` on. A queue keeps none; for a queue, by how
 * much its floor rose. */
static uint64_t count_kept(const struct vt_history *h, const struct vt_site_history *site,
                           uint64_t held, uint32_t begin, uint64_t parts[COURSE_PARTS]) {
    uint64_t end = h->events_at_last_alloc + 1, sum = 0, floor = held;
    for (int by_floor = 0; by_floor < 2 && (double)sum < COURSE_KEPT * (double)held; by_floor++) {
        memset(parts, 0, COURSE_PARTS * sizeof *parts);
        sum = 0;
        for (uint32_t i = site->count; i-- > 0;) {
            const struct vt_sample *sample = &site->samples[i];
            uint64_t at = h->buckets[sample->bucket].events, kept = sample->kept_count;
            if (at >= end || sample->bucket < begin)
                continue;
            if (by_floor) {
                kept = sample->low_count < floor ? floor - sample->low_count : 0;
                floor -= kept;
            }
            parts[at * COURSE_PARTS / end] += kept;
            sum += kept;
        }
    }
    return sum;
}

/* Adds a site's course. */
static struct vt_site_course *draw(struct vt_courses *c, const struct vt_history *h,
                                   const struct vt_site_history *site, uint64_t held,
                                   uint32_t begin, uint32_t i) {
    uint64_t parts[COURSE_PARTS], so_far = 0, share = 0;
    struct vt_site_course *course = &c->of[i];
    course->first = c->step_count;
    course->kept = count_kept(h, site, held, begin, parts);
    for (uint16_t part = 0; part < COURSE_PARTS && course->kept; part++) {
        so_far += parts[part];
        if (so_far * UINT16_MAX / course->kept == share)
            continue;
        share = so_far * UINT16_MAX / course->kept;
        *VT_ADD(c->steps, c->step_count, c->step_room) =
            (struct vt_course_step){part, (uint16_t)share};
    }
    course->count = c->step_count - course->first;
    return course;
}

/* The bucket in which a growth began. */
static uint32_t begin_of(const struct vt_history *h, struct vt_clock clock, uint64_t since) {
    uint32_t low = 0, high = h->bucket_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (vt_clock_ns(clock, h->buckets[middle].ticks) < since)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- in the same iterations --- */

bool vt_in_step(const struct vt_courses *c, uint32_t a, uint32_t b) {
    const struct vt_course_step *x = c->steps + c->of[a].first, *end_x = x + c->of[a].count;
    const struct vt_course_step *y = c->steps + c->of[b].first, *end_y = y + c->of[b].count;
    uint32_t steps = c->of[a].count < c->of[b].count ? c->of[a].count : c->of[b].count;
    int share_x = 0, share_y = 0;
    if (!steps)
        return false;
    double most = APART_LEAST + APART_STEPS / steps;
    if (most > APART_MOST)
        most = APART_MOST;
    while (x < end_x || y < end_y) {
        bool of_x = x < end_x && (y == end_y || x->part <= y->part);
        bool of_y = y < end_y && (x == end_x || y->part <= x->part);
        share_x = of_x ? x++->share : share_x;
        share_y = of_y ? y++->share : share_y;
        if (abs(share_x - share_y) > most * UINT16_MAX)
            return false;
    }
    return true;
}

/* Whether both kept equally many blocks; with `times`, one may have kept a whole multiple. The run may have ended when
 * only one had its newest block. */
static bool as_many(const struct vt_site_course *a, const struct vt_site_course *b, bool times) {
    uint64_t more = a->kept > b->kept ? a->kept : b->kept;
    uint64_t fewer = a->kept > b->kept ? b->kept : a->kept;
    uint64_t each = times && fewer ? (more + fewer / 2) / fewer : 1;
    uint64_t apart = more > each * fewer ? more - each * fewer : each * fewer - more;
    return apart <= each + more / 50;
}

/* --- the order of the frees at exit --- */

static void list_freed(struct vt_courses *order, const struct vt_sources *from,
                       uint32_t site_count) {
    const struct vt_history *h = from->history;
    const uint32_t *index = from->index;
    order->freed = h->freed;
    order->first = vt_alloc((size_t)site_count + 2, sizeof *order->first);
    for (size_t i = 0; i < h->freed_count; i++)
        if (index[h->freed[i].site] != VT_NO_SITE)
            order->first[index[h->freed[i].site] + 2]++;
    for (uint32_t i = 0; i < site_count; i++)
        order->first[i + 2] += order->first[i + 1];
    order->at = vt_alloc(h->freed_count + 1, sizeof *order->at);
    /* `first` of the next site is the insertion point, and so reaches its final value */
    for (size_t i = 0; i < h->freed_count; i++)
        if (index[h->freed[i].site] != VT_NO_SITE)
            order->at[order->first[index[h->freed[i].site] + 1]++] = i;
}

void vt_in_step_close(struct vt_courses *courses) {
    free(courses->of);
    free(courses->steps);
    free(courses->first);
    free(courses->at);
    free(courses);
}

enum free_order { FREED_UNKNOWN, FREED_ALTERNATELY, FREED_ONE_BY_ONE, FREED_BY_AGE };

/* Whether a site's oldest blocks were freed first. */
static bool by_age(const struct vt_courses *order, uint32_t site) {
    size_t older = 0, newer = 0;
    for (size_t i = order->first[site] + 1; i < order->first[site + 1]; i++) {
        uint32_t before = order->freed[order->at[i - 1]].allocated_in;
        uint32_t now = order->freed[order->at[i]].allocated_in;
        older += before < now;
        newer += before > now;
    }
    return older > newer;
}

static enum free_order free_order_of(const struct vt_courses *order, uint32_t a, uint32_t b) {
    size_t i = order->first[a], j = order->first[b], changes = 0;
    size_t end_a = order->first[a + 1], end_b = order->first[b + 1];
    if (i == end_a || j == end_b)
        return FREED_UNKNOWN;
    for (int last = -1; i < end_a || j < end_b;) {
        int now = j == end_b || (i < end_a && order->at[i] < order->at[j]) ? 0 : 1;
        changes += last >= 0 && now != last;
        last = now;
        i += !now;
        j += (size_t)now;
    }
    if (changes <= ONE_BY_ONE)
        return FREED_ONE_BY_ONE;
    /* a garbage collector finalizes by age, whatever owned the objects */
    return by_age(order, a) && by_age(order, b) ? FREED_BY_AGE : FREED_ALTERNATELY;
}

/* --- what else they have in common --- */

enum common { NOTHING, WHOLE_PROGRAM, FUNCTION };

/* Whether the whole program runs in this function. */
static bool is_whole(const struct vt_frame *frame, const struct vt_frame *outermost) {
    return vt_same_function(frame, outermost) || !strcmp(frame->function, "main") ||
           !strcmp(frame->function, "<module>");
}

/* The user code that both stacks have in common. Stacks without user code may belong to a framework's thread, so they
 * count as having the whole program in common. */
static enum common what_in_common(const struct vt_stack *a, const struct vt_stack *b) {
    const struct vt_frame *outermost = NULL;
    enum common common = NOTHING;
    if (a->user_frame == a->count || b->user_frame == b->count)
        return WHOLE_PROGRAM;
    for (uint32_t i = 0; i < a->count; i++)
        if (vt_stack_frame(a, i)->user_code)
            outermost = vt_stack_frame(a, i);
    for (uint32_t i = a->user_frame; i < a->count; i++)
        for (uint32_t j = b->user_frame; j < b->count && vt_stack_frame(a, i)->user_code; j++) {
            if (!vt_stack_frame(b, j)->user_code ||
                !vt_same_function(vt_stack_frame(a, i), vt_stack_frame(b, j)))
                continue;
            if (!is_whole(vt_stack_frame(a, i), outermost))
                return FUNCTION;
            common = WHOLE_PROGRAM;
        }
    return common;
}

static bool both_directly(const struct vt_stack *a, const struct vt_stack *b) {
    const struct vt_frame *x = vt_stack_main_frame(a), *y = vt_stack_main_frame(b);
    return x && y && vt_same_function(x, y);
}

/* Whether one site allocates directly in a function that calls the other's. */
static bool one_calls(const struct vt_stack *a, const struct vt_stack *b) {
    const struct vt_stack *stacks[] = {a, b};
    for (int i = 0; i < 2 && !both_directly(a, b); i++) {
        const struct vt_frame *inner = vt_stack_main_frame(stacks[i]);
        const struct vt_stack *other = stacks[!i];
        for (uint32_t j = other->user_frame + 1; inner && j < other->count; j++)
            if (vt_stack_frame(other, j)->user_code &&
                vt_same_function(vt_stack_frame(other, j), inner))
                return true;
    }
    return false;
}

bool vt_in_step_one(const struct vt_process *p, const struct vt_courses *c, uint32_t a,
                    uint32_t b) {
    const struct vt_site *x = &p->sites[a], *y = &p->sites[b];
    if (x->layer != y->layer || x->device != y->device || !vt_in_step(c, a, b))
        return false;
    enum common common = what_in_common(x->stack, y->stack);
    if (common != WHOLE_PROGRAM)
        return common == FUNCTION;
    /* two functions that a native main calls are independent */
    if (x->layer != VT_LAYER_FRAMEWORK && !p->python && !both_directly(x->stack, y->stack))
        return false;
    enum free_order freed = free_order_of(c, a, b);
    if (freed == FREED_ALTERNATELY)
        return true;
    /* an autograd graph frees its nodes by kind: a loop's batches after everything computed from them */
    bool calls = one_calls(x->stack, y->stack);
    if (freed == FREED_ONE_BY_ONE && !calls)
        return false;
    bool times = x->layer == VT_LAYER_FRAMEWORK && (calls || freed != FREED_BY_AGE);
    return as_many(&c->of[a], &c->of[b], times);
}

/* --- adopting --- */

static bool may_join(const struct vt_process *p, const struct vt_site *site) {
    return !site->before && !site->growth && !site->tested && site->held_count &&
           site->class == VT_CLASS_PROGRAM && !vt_site_freed_at_exit(p, site);
}

/* Marks a site as growing with another one, if they are in step. */
static bool adopt(const struct vt_history *h, const struct vt_site_history *own, uint32_t begin,
                  struct vt_courses *c, struct vt_process *p, uint32_t i, uint32_t with) {
    struct vt_site *site = &p->sites[i];
    struct vt_site_course *course = draw(c, h, own, site->held_count, begin, i);
    struct rise all = {.bytes = site->held_bytes / site->held_count * course->kept,
                       .count = course->kept};
    if (course->kept * 2 >= site->held_count && all.bytes && vt_in_step_one(p, c, i, with)) {
        site->growth = vt_growth_in_step(p->sites[with].growth, &all, course->count);
        site->inconclusive = VT_RULE_NONE;
        return true;
    }
    c->step_count = course->first;
    *course = (struct vt_site_course){0};
    return false;
}

struct vt_courses *vt_in_step_adopt(const struct vt_sources *from, struct vt_process *p) {
    const struct vt_history *h = from->history;
    const uint32_t *index = from->index;
    uint32_t growing[GROWING_ASKED], begins[GROWING_ASKED], count = 0;
    struct vt_courses *c = vt_alloc(1, sizeof *c);
    c->of = vt_alloc(p->site_count, sizeof *c->of);
    list_freed(c, from, p->site_count);
    for (uint32_t i = 0; i < from->replay->site_count && i < h->site_room; i++) {
        struct vt_site *site = index[i] == VT_NO_SITE ? NULL : &p->sites[index[i]];
        if (!site || !site->growth)
            continue;
        uint32_t begin = begin_of(h, from->clock, site->growth->since);
        draw(c, h, &h->sites[i], site->held_count, begin, index[i]);
        if (count < GROWING_ASKED && !vt_site_freed_at_exit(p, site) &&
            site->class == VT_CLASS_PROGRAM) {
            begins[count] = begin;
            growing[count++] = index[i];
        }
    }
    for (uint32_t i = 0; count && i < from->replay->site_count && i < h->site_room; i++) {
        if (index[i] == VT_NO_SITE || !may_join(p, &p->sites[index[i]]))
            continue;
        uint32_t j = 0;
        while (j < count && !adopt(h, &h->sites[i], begins[j], c, p, index[i], growing[j]))
            j++;
    }
    return c;
}
