/* SPDX-License-Identifier: MIT */
/*
 * Few long iterations, such as epochs, have too few rises for a trend. They are enough if snapshots saw one owner to
 * which each iteration adds equally much, and which frees nothing.
 *
 * The rises themselves show the iterations: bursts, with pauses in which the program frees other memory, more than a
 * load or a first try does. Memory that fills up (a cache in its first epoch, an optimizer's state in its first
 * step) has fewer bursts, unequal ones, or none in the last iterations. A missing snapshot makes no verdict stronger.
 */
#include "growth_search.h"

/* Bursts of rises and their distances. */
struct bursts {
    uint32_t count;
    uint64_t least, most;     /* blocks of one */
    double shortest, longest; /* from begin to begin */
    double last;              /* where the last one begins */
};

/* The shortest pause that separates two bursts. */
static double pause_between(const struct rise *rises, uint32_t count) {
    double longest = 0;
    for (uint32_t i = 1; i < count; i++)
        if (rises[i].at - rises[i - 1].until > longest)
            longest = rises[i].at - rises[i - 1].until;
    return longest * EPOCH_PAUSE;
}

/* Adds a burst. */
static void add_burst(struct bursts *b, uint64_t blocks, double begin) {
    double apart = begin - b->last;
    if (b->count == 1 || (b->count && apart < b->shortest))
        b->shortest = apart;
    if (b->count && apart > b->longest)
        b->longest = apart;
    b->least = !b->count || blocks < b->least ? blocks : b->least;
    b->most = blocks > b->most ? blocks : b->most;
    b->last = begin;
    b->count++;
}

/* Divides rises into bursts. None if the program frees too little between two of them. */
static struct bursts find_bursts(const struct search *s, uint32_t count) {
    const struct vt_bucket *buckets = s->history->buckets;
    const struct rise *rises = s->rises;
    struct bursts bursts = {0};
    double pause = pause_between(rises, count);
    for (uint32_t first = 0, i = 1; i <= count; i++) {
        if (i < count && rises[i].at - rises[i - 1].until < pause)
            continue;
        uint64_t blocks = 0;
        for (uint32_t k = first; k < i; k++)
            blocks += rises[k].count;
        if (first && buckets[rises[first].bucket].frees <
                         buckets[rises[first - 1].bucket].frees + EPOCH_WORK)
            return (struct bursts){0};
        add_burst(&bursts, blocks, rises[first].at);
        first = i;
    }
    return bursts;
}

/* Whether snapshots saw one owner of ONE_OWNER of a site or more: a container with any number of items. The newest
 * blocks may not be in it yet. */
static bool is_in_one_container(const struct vt_site *site) {
    uint32_t count;
    if (!site->owned.count)
        return false;
    VT_SCOPED struct vt_owner_group *groups =
        vt_owner_groups(site->owned.owners, site->owned.count, false, &count);
    const struct vt_memory_owner *o = &groups->owner;
    return o->root.kind <= VT_ROOT_THREAD_LOCAL && o->container_steps < o->name_count &&
           (double)groups->count >= ONE_OWNER * (double)site->held_count;
}

bool vt_growth_has_owner(const struct search *s, const struct subject *subject) {
    return subject->site_count == 1 &&
           is_in_one_container(&s->process->sites[s->index[subject->sites[0]]]);
}

/* Whether a site rose by equal amounts, at equal distances and to the end, in at least so many bursts. */
static bool rises_evenly(const struct search *s, const struct curve *c, uint32_t least,
                         struct found *found) {
    struct scale scale;
    if (!vt_growth_scale(s, c, BY_RHYTHM, true, &scale))
        return false;
    uint32_t count = vt_growth_kept(s, c, &scale);
    struct bursts b = find_bursts(s, count);
    if (b.count < least || (double)b.most > (double)b.least * EPOCHS_ALIKE ||
        b.longest > b.shortest * EPOCHS_ALIKE || scale.end - b.last > b.longest * EPOCHS_ALIKE)
        return false;
    vt_growth_found(s, c, &scale, 0, count, found);
    found->rises = b.count;
    return true;
}

bool vt_growth_epochs(const struct search *s, const struct subject *subject, struct found *found) {
    return rises_evenly(s, &subject->curve, EPOCHS_LEAST, found);
}

/* Whether a site rose in each of the marked iterations that remained when it began. */
static bool rises_marked(const struct search *s, const struct curve *c, struct found *found) {
    struct scale scale;
    if (!vt_growth_scale(s, c, BY_ITERATION, true, &scale))
        return false;
    uint32_t count = vt_growth_kept(s, c, &scale);
    const struct rise *rises = s->rises;
    for (uint32_t i = 0; i < count; i++)
        if ((i + 1 < count ? rises[i + 1].at : scale.end) - rises[i].at > EPOCHS_ALIKE)
            return false;
    if (count < ROUNDS_LEAST)
        return false;
    vt_growth_found(s, c, &scale, 0, count, found);
    return true;
}

bool vt_growth_few_rounds(const struct search *s, const struct subject *subject,
                          struct found *found) {
    return rises_marked(s, &subject->curve, found) ||
           rises_evenly(s, &subject->curve, ROUNDS_LEAST, found);
}
