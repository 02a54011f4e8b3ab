/* SPDX-License-Identifier: MIT */
/*
 * Chooses the snapshots of owners to compare (see diff.h).
 *
 * A program's memory depends on the moment: at the end main() has returned, in the middle of a step there are batches.
 * So both runs are compared at moments of the same kind: the end, the failure, a phase or a request with the same name,
 * or, if little is left at the end, growth. Each run has many growth snapshots, some at levels that the other run does
 * not reach, so the two most similar ones are compared.
 */
#include "diff.h"

#include <string.h>

/* A kind is skipped if it shows less than this part of another kind's memory. */
#define SHOWS_ENOUGH 8

static unsigned rank(const struct vt_snapshot *s) {
    static const unsigned ranks[VT_SNAPSHOT_WHYS] = {4,
                                                     [VT_SNAPSHOT_END] = 0,
                                                     [VT_SNAPSHOT_OOM] = 1,
                                                     [VT_SNAPSHOT_PHASE] = 2,
                                                     [VT_SNAPSHOT_REQUEST] = 3,
                                                     [VT_SNAPSHOT_GROWTH] = 4};
    return ranks[s->why];
}

static bool same_kind(const struct vt_snapshot *a, const struct vt_snapshot *b) {
    if (a->why != b->why)
        return false;
    return a->phase && b->phase ? !strcmp(a->phase, b->phase) : a->phase == b->phase;
}

/* Represents the end of a process without live memory, for which no snapshot is written. */
static const struct vt_snapshot nothing_left = {
    .why = VT_SNAPSHOT_END, .at = VT_UNKNOWN, .complete = true};

/* Whether a process ended without live memory. It has snapshots of growth, so it would have had one at the end. */
static bool left_nothing(const struct vt_process *p) {
    bool looked = false;
    if (p->ending.how != VT_END_EXITED || !p->quality.complete)
        return false;
    for (uint32_t i = 0; i < p->snapshot_count; i++) {
        looked |= p->snapshots[i].passing;
        if (p->snapshots[i].why == VT_SNAPSHOT_END)
            return false;
    }
    for (uint32_t i = 0; i < p->site_count; i++)
        if (p->sites[i].live_count)
            return false;
    return looked;
}

/* A process's snapshot of this kind: the last one, or during growth the fullest one. NULL: it has none. */
static const struct vt_snapshot *of_kind(const struct vt_process *p,
                                         const struct vt_snapshot *kind) {
    const struct vt_snapshot *found = NULL;
    for (uint32_t i = 0; i < p->snapshot_count; i++) {
        const struct vt_snapshot *s = &p->snapshots[i];
        if (same_kind(s, kind) &&
            (!found || !s->passing || vt_snapshot_live_bytes(s) >= vt_snapshot_live_bytes(found)))
            found = s;
    }
    return !found && same_kind(kind, &nothing_left) && left_nothing(p) ? &nothing_left : found;
}

/* Memory shown by the snapshots of this kind, plus one; 0: there are none. */
static uint64_t shows(const struct vt_model *model, const struct vt_snapshot *kind) {
    uint64_t bytes = 0;
    bool found = false;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct vt_snapshot *s = of_kind(&model->processes[i], kind);
        found |= s != NULL;
        bytes += s ? vt_snapshot_live_bytes(s) : 0;
    }
    return bytes + found;
}

/* Whether `a` is the better kind. */
static bool is_better(const struct vt_snapshot *a, const struct vt_snapshot *b) {
    return !b || rank(a) < rank(b) || (rank(a) == rank(b) && a->at > b->at);
}

/* Whether a process has a later snapshot of the same kind, as each kind is considered only once. */
static bool comes_again(const struct vt_process *p, uint32_t snapshot) {
    for (uint32_t i = snapshot + 1; i < p->snapshot_count; i++)
        if (same_kind(&p->snapshots[i], &p->snapshots[snapshot]))
            return true;
    return false;
}

/* The best kind that both runs have, if one of its snapshots shows at least `most`; `run` is one of the runs. NULL:
 * there is none. Raises `most` to the largest amount shown. */
static const struct vt_snapshot *best_kind(const struct vt_model *models[2], unsigned run,
                                           uint64_t at_least, uint64_t *most) {
    const struct vt_snapshot *best = NULL;
    for (uint32_t i = 0; i < models[run]->process_count; i++)
        for (uint32_t k = 0; k < models[run]->processes[i].snapshot_count; k++) {
            const struct vt_snapshot *s = &models[run]->processes[i].snapshots[k];
            if (comes_again(&models[run]->processes[i], k))
                continue;
            uint64_t was = shows(models[0], s), is = shows(models[1], s);
            uint64_t more = was > is ? was : is;
            if (was && is && more > *most)
                *most = more;
            if (was && is && more >= at_least && is_better(s, best))
                best = s;
        }
    return best;
}

static const struct vt_snapshot *common_kind(const struct vt_model *models[2]) {
    uint64_t most = 0;
    best_kind(models, 0, 0, &most);
    best_kind(models, 1, 0, &most);
    const struct vt_snapshot *a = best_kind(models, 0, most / SHOWS_ENOUGH, &most);
    const struct vt_snapshot *b = best_kind(models, 1, most / SHOWS_ENOUGH, &most);
    return a && (!b || !is_better(b, a)) ? a : b;
}

/* --- during growth --- */

/* How much two snapshots have in common, in bytes. `held` has the owners of `a`, by id. */
static uint64_t in_common(const struct vt_snapshot *a, const struct vt_map *held,
                          const struct vt_snapshot *b) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < b->owner_count; i++) {
        uint32_t at = vt_map_get(held, b->owners[i].id);
        if (at == VT_MAP_NONE)
            continue;
        uint64_t x = a->owners[at].bytes, y = b->owners[i].bytes;
        bytes += x < y ? x : y;
    }
    return bytes;
}

/* Chooses the two snapshots of this kind with most in common. Those of the fuller process must show at least half of
 * its maximum. */
static void add_peers(const struct vt_process *fuller, const struct vt_process *other,
                      const struct vt_snapshot *kind, const struct vt_snapshot **a,
                      const struct vt_snapshot **b) {
    uint64_t best = 0, most = vt_snapshot_live_bytes(*a);
    for (uint32_t i = 0; i < fuller->snapshot_count; i++) {
        const struct vt_snapshot *x = &fuller->snapshots[i];
        VT_SCOPED_MAP held = {0};
        if (!same_kind(x, kind) || vt_snapshot_live_bytes(x) < most / 2)
            continue;
        for (uint32_t k = 0; k < x->owner_count; k++)
            vt_map_put(&held, x->owners[k].id, k);
        for (uint32_t k = 0; k < other->snapshot_count; k++) {
            const struct vt_snapshot *y = &other->snapshots[k];
            uint64_t both = same_kind(y, kind) ? in_common(x, &held, y) : 0;
            if (both <= best)
                continue;
            best = both;
            *a = x;
            *b = y;
        }
    }
}

/* The index of the corresponding process in the other run. */
static uint32_t peer_of(const struct vt_model *model, uint32_t process,
                        const struct vt_model *other) {
    int rank_of_it = model->processes[process].rank;
    for (uint32_t i = 0; rank_of_it >= 0 && i < other->process_count; i++)
        if (other->processes[i].rank == rank_of_it)
            return i;
    return process < other->process_count ? process : 0;
}

/* --- the choice --- */

static void note_fullest(struct vt_diff_moments *m, unsigned side, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_snapshot *s = m->of[side][i];
        if (s &&
            (!m->shown[side] || vt_snapshot_live_bytes(s) > vt_snapshot_live_bytes(m->shown[side])))
            m->shown[side] = s;
    }
}

/* Whether every process of the run that took snapshots has its snapshot, and all are complete. */
static bool is_whole(const struct vt_diff_moments *m, unsigned side, const struct vt_model *model) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct vt_snapshot *s = m->of[side][i];
        if (s ? !s->complete : model->processes[i].snapshot_count > 0)
            return false;
    }
    return true;
}

void vt_diff_moments_choose(const struct vt_model *before, const struct vt_model *after,
                            struct vt_diff_moments *m) {
    const struct vt_model *models[2] = {before, after};
    const struct vt_snapshot *kind = common_kind(models);
    *m = (struct vt_diff_moments){.alike = kind != NULL};
    for (unsigned side = 0; side < 2; side++) {
        m->of[side] = vt_alloc(models[side]->process_count, sizeof *m->of[side]);
        for (uint32_t i = 0; i < models[side]->process_count; i++)
            m->of[side][i] = kind ? of_kind(&models[side]->processes[i], kind)
                                  : vt_process_snapshot_shown(&models[side]->processes[i]);
    }
    unsigned fuller = kind && shows(after, kind) > shows(before, kind), other = !fuller;
    for (uint32_t i = 0; kind && kind->passing && i < models[other]->process_count; i++) {
        uint32_t peer = peer_of(models[other], i, models[fuller]);
        if (m->of[other][i] && m->of[fuller][peer])
            add_peers(&models[fuller]->processes[peer], &models[other]->processes[i], kind,
                      &m->of[fuller][peer], &m->of[other][i]);
    }
    for (unsigned side = 0; side < 2; side++)
        note_fullest(m, side, models[side]->process_count);
    m->tell = kind && !kind->passing && is_whole(m, 0, before) && is_whole(m, 1, after);
}
