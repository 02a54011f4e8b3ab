/* SPDX-License-Identifier: MIT */
/*
 * Who owns what? Turns the snapshots' sums, which refer to steps and sites of the log, into named owners of sites and
 * leaks. analysis.c calls.
 */
#include "steps.h"

#include <stdlib.h>
#include <string.h>

/* The memory of one site that one owner holds. */
struct part {
    uint32_t owner, site, further, step;
    uint64_t bytes, count;
};

struct parts {
    struct part *list;
    size_t count, room;
};

static int compare_parts(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    return VT_ORDER({x->owner, y->owner}, {x->further, y->further}, {x->site, y->site});
}

static int compare_sizes(const void *a, const void *b) {
    const struct vt_owned_site *x = a, *y = b;
    return VT_ORDER({y->bytes, x->bytes}, {x->site, y->site});
}

static int compare_owned(const void *a, const void *b) {
    const struct vt_owned_by *x = a, *y = b;
    return VT_ORDER({y->bytes, x->bytes}, {x->owner->id, y->owner->id});
}

static int compare_owners(const void *a, const void *b) {
    const struct vt_memory_owner *x = a, *y = b;
    return VT_ORDER({y->bytes, x->bytes}, {y->host_bytes, x->host_bytes}, {x->id, y->id});
}

static bool is_device_memory(unsigned layer) {
    return layer == VT_LAYER_DRIVER || layer == VT_LAYER_FRAMEWORK;
}

/* --- a snapshot's owners --- */

struct making {
    const struct vt_sources *from;
    struct vt_process *p;
    const struct vt_replay_snapshot *replayed;
    struct vt_snapshot *snapshot;
    struct vt_map known; /* name and purpose -> owner */
    uint32_t room;
    struct parts parts;
};

/* The owner of one name and purpose; VT_MAP_NONE: the path has no name. */
static uint32_t owner_of(struct making *m, const struct vt_owned_sum *sum) {
    struct vt_snapshot *s = m->snapshot;
    struct vt_owner_names *names = m->from->names;
    uint32_t name = vt_owner_names_of(names, sum->step);
    if (name == VT_MAP_NONE)
        return VT_MAP_NONE;
    enum vt_purpose purpose = vt_owner_names_purpose(names, sum->step, sum->roles);
    uint64_t key = (uint64_t)name * VT_PURPOSES + purpose;
    uint32_t owner = vt_map_add(&m->known, key, s->owner_count);
    if (owner == s->owner_count)
        *VT_ADD(s->owners, s->owner_count, m->room) =
            (struct vt_memory_owner){.name_id = name, .purpose = purpose};
    return owner;
}

/* Memory without a named path to it. */
static void add_unowned(struct making *m, const struct vt_owned_sum *sum) {
    uint32_t index = m->from->index[sum->site];
    struct vt_site *site = index == VT_NO_SITE ? NULL : &m->p->sites[index];
    if (!site || sum->further)
        return;
    if (site->class == VT_CLASS_RUNTIME) {
        m->snapshot->runtime_bytes += sum->bytes;
        m->snapshot->runtime_count += sum->count;
    }
}

/* Whether a path is a fallback, in case the first one's variable holds nothing. */
static bool is_spare(const struct vt_log *log, uint32_t step) {
    while (log->steps[step].parent != VT_MAP_NONE)
        step = log->steps[step].parent;
    const struct vt_log_step *root = &log->steps[step];
    return !root->in_doubt && (root->kind == VT_STEP_GLOBAL || root->kind == VT_STEP_THREAD_LOCAL);
}

uint32_t vt_owners_named_step(const struct vt_sources *from, const struct vt_owned_sum *sum) {
    return sum->step == VT_MAP_NONE || sum->further
               ? sum->step
               : vt_owner_names_settle(from->names, sum->step, sum->others);
}

static void add_sum(struct making *m, const struct vt_owned_sum *of) {
    struct vt_snapshot *s = m->snapshot;
    struct vt_owned_sum settled = *of, *sum = &settled;
    const struct vt_replay_site *site = &m->from->replay->sites[sum->site];
    sum->step = vt_owners_named_step(m->from, of);
    if (of->further && sum->step != VT_MAP_NONE &&
        (is_spare(m->from->log, sum->step) || vt_owner_names_in_doubt(m->from->names, sum->step)))
        return;
    bool device = is_device_memory(site->layer);
    uint32_t owner = sum->step == VT_MAP_NONE ? VT_MAP_NONE : owner_of(m, sum);
    if (m->from->index[sum->site] == VT_NO_SITE) /* of a device that was not requested */
        return;
    if (owner == VT_MAP_NONE) {
        add_unowned(m, sum);
        return;
    }
    if (!sum->further) {
        *(device ? &s->owners[owner].bytes : &s->owners[owner].host_bytes) += sum->bytes;
        s->owners[owner].unseen_bytes += sum->unseen;
        *(device ? &s->owners[owner].count : &s->owners[owner].host_count) += sum->count;
        s->unowned_bytes -= device ? sum->bytes : 0;
        s->unowned_count -= device ? sum->count : 0;
    }
    *VT_ADD(m->parts.list, m->parts.count, m->parts.room) =
        (struct part){.owner = owner,
                      .site = m->from->index[sum->site],
                      .further = sum->further,
                      .step = sum->step,
                      .bytes = sum->bytes,
                      .count = sum->count};
}

/* Removes those of an owner's shared sites that also have blocks of its own. */
static uint32_t without_own(struct vt_memory_owner *owner, struct vt_owned_site *sites,
                            uint32_t count) {
    VT_SCOPED_MAP own = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < owner->site_count; i++)
        vt_map_put(&own, owner->sites[i].site, i);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t known = vt_map_get(&own, sites[i].site);
        if (known == VT_MAP_NONE)
            sites[kept++] = sites[i];
        else
            owner->sites[known].shared_count += sites[i].count;
    }
    return kept;
}

/* Sets each owner's sites, and its name by its largest path. */
static void set_parts(struct making *m) {
    struct part *parts = m->parts.list;
    vt_sort(parts, m->parts.count, sizeof *parts, compare_parts);
    for (size_t i = 0, end; i < m->parts.count; i = end) {
        struct vt_memory_owner *owner = &m->snapshot->owners[parts[i].owner];
        bool further = parts[i].further;
        size_t largest = i;
        for (end = i; end < m->parts.count && parts[end].owner == parts[i].owner &&
                      parts[end].further == parts[i].further;
             end++)
            largest = parts[end].bytes > parts[largest].bytes ? end : largest;
        struct vt_owned_site *sites = vt_alloc(end - i, sizeof *sites);
        uint32_t count = 0;
        for (size_t k = i; k < end; k++) {
            if (!count || sites[count - 1].site != parts[k].site)
                sites[count++].site = parts[k].site;
            sites[count - 1].bytes += parts[k].bytes;
            sites[count - 1].count += parts[k].count;
        }
        count = further ? without_own(owner, sites, count) : count;
        vt_sort(sites, count, sizeof *sites, compare_sizes);
        *(further ? &owner->others : &owner->sites) = sites;
        *(further ? &owner->other_count : &owner->site_count) = count;
        if (!owner->name)
            vt_owner_names_fill(m->from->names, parts[largest].step, owner);
    }
}

static void add_snapshot(const struct vt_sources *from, const struct vt_replay_snapshot *replayed,
                         struct vt_process *p, struct vt_snapshot *s) {
    const struct vt_rec_snapshot *r = &replayed->record;
    struct making m = {.from = from, .p = p, .replayed = replayed, .snapshot = s};
    uint32_t name = vt_map_get(&from->log->name_numbers, r->name);
    *s = (struct vt_snapshot){
        .at = vt_clock_ns(from->clock, r->ticks),
        .duration = r->ns,
        .why = r->why && r->why < VT_SNAPSHOT_WHYS ? (enum vt_snapshot_why)r->why
                                                   : VT_SNAPSHOT_REQUEST,
        .passing = r->why == VT_SNAPSHOT_GROWTH,
        .phase = name == VT_MAP_NONE ? NULL : vt_strdup(from->log->names[name]),
        .complete = !(r->flags & VT_SNAPSHOT_PARTIAL),
        .objects = r->objects,
        .unowned_bytes = replayed->live_bytes,
        .unowned_count = replayed->live_count,
    };
    for (size_t i = 0; i < replayed->sum_count; i++)
        add_sum(&m, &replayed->sums[i]);
    set_parts(&m);
    /* an owner without memory of its own here only shares others' blocks */
    vt_sort(s->owners, s->owner_count, sizeof *s->owners, compare_owners);
    free(m.parts.list);
    vt_map_free(&m.known);
}

/* --- sites and leaks --- */

static void add_owned(struct vt_owned_list *list, uint32_t *room, struct vt_owned_by by) {
    *VT_ADD(list->owners, list->count, *room) = by;
}

/* Which snapshot represents a site. */
struct seen {
    uint64_t now, unowned; /* bytes of the site at the current snapshot */
    uint64_t ended;        /* those held by the exception that ended the program */
    uint64_t in_cycle;     /* those held by a reference cycle alone */
    uint64_t most;         /* at any snapshot */
    bool still;            /* some of it was live at the snapshot of the end */
    uint32_t snapshot;     /* the one that represents it, plus one; 0: none yet */
};

static void look_at(const struct vt_sources *from, uint32_t snapshot, struct seen *seen,
                    const struct vt_process *p) {
    const struct vt_replay_snapshot *s = &from->replay->snapshots[snapshot];
    const struct vt_snapshot *named = &p->snapshots[snapshot];
    for (uint32_t i = 0; i < p->site_count; i++)
        seen[i].now = seen[i].unowned = seen[i].ended = seen[i].in_cycle = 0;
    for (uint32_t i = 0; i < named->owner_count; i++)
        for (uint32_t k = 0; k < named->owners[i].site_count; k++) {
            const struct vt_owned_site *of = &named->owners[i].sites[k];
            if (vt_owner_was_ended(p, &named->owners[i]))
                seen[of->site].ended += of->bytes;
            else if (named->owners[i].root.kind == VT_ROOT_CYCLE)
                seen[of->site].in_cycle += of->bytes;
        }
    for (size_t i = 0; i < s->sum_count; i++) {
        uint32_t site = from->index[s->sums[i].site];
        if (site == VT_NO_SITE || s->sums[i].further)
            continue;
        seen[site].now += s->sums[i].bytes;
        seen[site].unowned +=
            vt_owners_named_step(from, &s->sums[i]) == VT_MAP_NONE ? s->sums[i].bytes : 0;
    }
}

/* Chooses a snapshot for sites that it saw mostly, or a good part of; `owned`: if it found their owners. */
static void choose_snapshot(const struct vt_sources *from, uint32_t snapshot, bool owned,
                            struct seen *seen, struct vt_process *p) {
    look_at(from, snapshot, seen, p);
    for (uint32_t i = 0; i < p->site_count; i++)
        if (!seen[i].snapshot && seen[i].now && seen[i].now >= seen[i].most / 10 &&
            (!owned || seen[i].unowned < seen[i].now / 2)) {
            seen[i].snapshot = snapshot + 1;
            p->sites[i].unowned_bytes = seen[i].unowned;
        }
}

/* Chooses an earlier snapshot for the sites whose owners are gone at the end: memory held by the exception that ended
 * the program after memory ran out, as the functions still ran before; memory whose named paths are gone; and memory
 * that only a reference cycle holds, as what main() held may hang on one once it returned. */
static void let_earlier_speak(const struct vt_sources *from, uint32_t end, struct seen *seen,
                              struct vt_process *p) {
    VT_SCOPED bool *by_exception = vt_alloc(3 * (size_t)p->site_count, sizeof *by_exception);
    bool *by_nothing = by_exception + p->site_count, *by_cycle = by_nothing + p->site_count;
    look_at(from, end, seen, p);
    for (uint32_t i = 0; i < p->site_count; i++) {
        seen[i].still = seen[i].now > 0;
        by_exception[i] = seen[i].now && seen[i].ended > seen[i].now / 2;
        by_nothing[i] = seen[i].now && seen[i].unowned > seen[i].now / 2;
        by_cycle[i] = seen[i].now && seen[i].in_cycle > seen[i].now / 2;
    }
    for (uint32_t k = p->snapshot_count; k-- > 0;) {
        bool oom = p->snapshots[k].why == VT_SNAPSHOT_OOM;
        if (k == end)
            continue;
        look_at(from, k, seen, p);
        for (uint32_t i = 0; i < p->site_count; i++)
            if (!seen[i].snapshot && ((by_exception[i] && oom) || by_nothing[i] || by_cycle[i]) &&
                seen[i].now > seen[i].most / 10 &&
                seen[i].ended + seen[i].unowned + seen[i].in_cycle < seen[i].now / 2) {
                seen[i].snapshot = k + 1;
                p->sites[i].unowned_bytes = seen[i].unowned;
            }
    }
}

/* Prefers the snapshot of the end, then later ones to earlier ones. But where one shows a container that is being
 * cleared, item by item, the one with the whole container counts. */
static struct seen *choose_snapshots(const struct vt_sources *from, struct vt_process *p) {
    const struct vt_snapshot *chosen = vt_process_snapshot(p);
    struct seen *seen = vt_alloc(p->site_count, sizeof *seen);
    for (uint32_t i = 0; i < p->snapshot_count; i++) {
        look_at(from, i, seen, p);
        for (uint32_t k = 0; k < p->site_count; k++)
            seen[k].most = seen[k].now > seen[k].most ? seen[k].now : seen[k].most;
    }
    if (chosen) {
        let_earlier_speak(from, (uint32_t)(chosen - p->snapshots), seen, p);
        choose_snapshot(from, (uint32_t)(chosen - p->snapshots), false, seen, p);
    }
    for (uint32_t i = p->snapshot_count; i-- > 0;)
        choose_snapshot(from, i, true, seen, p);
    for (uint32_t i = p->snapshot_count; i-- > 0;)
        choose_snapshot(from, i, false, seen, p);
    return seen;
}

static void set_site_owners(const struct vt_sources *from, struct vt_process *p) {
    const struct vt_snapshot *chosen = vt_process_snapshot(p);
    VT_SCOPED struct seen *seen = choose_snapshots(from, p);
    for (uint32_t i = 0; i < p->site_count; i++) {
        p->sites[i].at_exit = chosen && chosen->why == VT_SNAPSHOT_END && seen[i].still;
        seen[i].still |= p->sites[i].live_count > 0; /* a process that was killed freed nothing */
    }
    VT_SCOPED uint32_t *rooms = vt_alloc(p->site_count, sizeof *rooms);
    VT_SCOPED bool *speaks = vt_alloc(p->site_count, sizeof *speaks);
    VT_SCOPED uint32_t *containers = vt_bounds_containers(from->log);
    for (uint32_t i = 0; i < p->snapshot_count; i++) {
        const struct vt_snapshot *s = &p->snapshots[i];
        for (uint32_t k = 0; k < p->site_count; k++)
            speaks[k] = seen[k].snapshot == i + 1;
        vt_bounds_mark(from, i, containers, speaks, p);
        for (uint32_t j = 0; j < s->owner_count; j++)
            for (uint32_t k = 0; k < s->owners[j].site_count; k++) {
                const struct vt_owned_site *of = &s->owners[j].sites[k];
                if (seen[of->site].snapshot != i + 1)
                    continue;
                add_owned(&p->sites[of->site].owned, &rooms[of->site],
                          (struct vt_owned_by){&s->owners[j], s == chosen ? NULL : s,
                                               seen[of->site].still, of->bytes, of->count});
            }
    }
    for (uint32_t i = 0; i < p->site_count; i++)
        vt_sort(p->sites[i].owned.owners, p->sites[i].owned.count, sizeof *p->sites[i].owned.owners,
                compare_owned);
}

/* --- missed snapshots --- */

static void add_missed(struct vt_process *p, const struct vt_rec_missed *r) {
    struct vt_missed_snapshots *m = NULL;
    for (uint32_t i = 0; i < p->missed_count; i++)
        if (p->missed[i].why == r->why && p->missed[i].reason == r->reason)
            m = &p->missed[i];
    if (!m) {
        m = VT_ADD(p->missed, p->missed_count, p->missed_room);
        *m = (struct vt_missed_snapshots){.why = r->why, .reason = r->reason};
    }
    m->count++;
    m->needed_bytes = r->needed ? r->needed : VT_UNKNOWN;
    m->room_bytes = r->needed ? r->room : VT_UNKNOWN;
}

static void add_all_missed(const struct vt_log *log, struct vt_process *p) {
    for (size_t i = 0; i < log->missed_count; i++)
        if (log->missed[i].why && log->missed[i].why < VT_SNAPSHOT_WHYS && log->missed[i].reason &&
            log->missed[i].reason < VT_MISSED_REASONS)
            add_missed(p, &log->missed[i]);
}

void vt_owners_find(const struct vt_sources *from, struct vt_process *p) {
    const struct vt_replay *r = from->replay;
    add_all_missed(from->log, p);
    p->snapshots = vt_alloc(r->snapshot_count, sizeof *p->snapshots);
    for (size_t i = 0; i < r->snapshot_count; i++)
        add_snapshot(from, &r->snapshots[i], p, &p->snapshots[p->snapshot_count++]);
    set_site_owners(from, p);
}

uint32_t vt_owners_main_container(const struct vt_site *site) {
    const struct vt_owned_list *owned = &site->owned;
    uint32_t count, container = VT_MAP_NONE;
    uint64_t all = 0;
    if (!owned->count)
        return VT_MAP_NONE;
    VT_SCOPED struct vt_owner_group *groups =
        vt_owner_groups(owned->owners, owned->count, false, &count);
    for (uint32_t i = 0; i < count; i++)
        all += groups[i].bytes;
    /* sites held only by the interpreter or a stack need not belong together */
    if (groups->owner.root.kind <= VT_ROOT_THREAD_LOCAL && !groups->owner.more_variables &&
        groups->bytes >= all / 10 * 9)
        container = groups->owner.container_id;
    return container;
}

/* The sum of the sites' owners. */
static void sum_owners(const struct vt_process *p, struct vt_leak *leak) {
    VT_SCOPED_MAP known = {0};
    uint32_t room = 0;
    for (uint32_t i = 0; i < leak->site_count; i++) {
        const struct vt_owned_list *of = &p->sites[leak->sites[i]].owned;
        for (uint32_t k = 0; k < of->count; k++) {
            const struct vt_owned_by *by = &of->owners[k];
            uint32_t at = vt_map_add(&known, by->owner->id, leak->owned.count);
            if (at == leak->owned.count) {
                add_owned(&leak->owned, &room, *by);
            } else {
                leak->owned.owners[at].bytes += by->bytes;
                leak->owned.owners[at].count += by->count;
                if (!by->seen)
                    leak->owned.owners[at].seen = NULL;
            }
        }
    }
    vt_sort(leak->owned.owners, leak->owned.count, sizeof *leak->owned.owners, compare_owned);
}

/* Whether memory that is lost had an owner before, which does not keep it any more. */
static bool was_owned(const struct vt_leak *leak) {
    for (uint32_t i = 0; i < leak->owned.count; i++)
        if (leak->owned.owners[i].seen)
            return true;
    return false;
}

/* Most of a leak. The named owners held all of 116 leaks in 327 logs, and at most a third of 7, whose rest had been
 * freed. */
static bool is_most(uint64_t bytes, uint64_t all) {
    return bytes >= all - bytes;
}

/* The owners of a leak: each with at least a tenth of the owned memory, by bytes or blocks, if together they hold most
 * of the leak. Groups of variables shown as one are excluded. */
static void find_owners_of(const struct vt_process *p, struct vt_leak *leak) {
    uint64_t bytes = 0, blocks = 0, unowned = 0, named = 0;
    uint32_t count, kept = 0;
    if (!leak->owned.count || (leak->verdict == VT_VERDICT_LOST && was_owned(leak)))
        return;
    struct vt_owner_group *groups =
        vt_owner_groups(leak->owned.owners, leak->owned.count, false, &count);
    for (uint32_t i = 0; i < leak->site_count; i++)
        unowned += p->sites[leak->sites[i]].unowned_bytes;
    for (uint32_t i = 0; i < count; i++) {
        bytes += groups[i].bytes;
        blocks += groups[i].count;
    }
    leak->kept = vt_alloc(count, sizeof *leak->kept);
    for (uint32_t i = 0; i < count; i++) {
        bool small = groups[i].bytes < bytes / 10 && groups[i].count < (blocks + 9) / 10;
        if (small || groups[i].owner.more_variables)
            continue;
        named += groups[i].bytes;
        leak->kept[kept++] = groups[i];
    }
    if (is_most(named, bytes + unowned)) {
        leak->kept_count = kept;
    } else {
        free(leak->kept);
        leak->kept = NULL;
        for (uint32_t i = 0; i < count && is_most(bytes, bytes + unowned); i++)
            leak->spread_owners += groups[i].containers;
    }
    free(groups);
}

/* Whether all owners of a leak are of kinds without look-ups: lists, autograd graphs. */
static bool is_no_cache(const struct vt_leak *leak) {
    for (uint32_t i = 0; i < leak->kept_count; i++) {
        const struct vt_memory_owner *owner = &leak->kept[i].owner;
        const char *type = owner->container_type ? owner->container_type : "";
        if (strcmp(type, "list") && strcmp(type, "collections.deque") && !owner->graph)
            return false;
    }
    return leak->kept_count > 0;
}

void vt_owners_of_leak(const struct vt_process *p, struct vt_leak *leak) {
    sum_owners(p, leak);
    find_owners_of(p, leak);
    leak->no_cache = is_no_cache(leak);
}
