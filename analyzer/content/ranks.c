/* SPDX-License-Identifier: MIT */
/*
 * Figures about many processes together (see ranks.h).
 */
#include "ranks.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

/* --- memory over time --- */

/* A device's memory changed at one moment. */
struct change {
    uint64_t at, was, is;
};

static int compare_changes(const void *a, const void *b) {
    const struct change *x = a, *y = b;
    return VT_ORDER({x->at, y->at}, {x->is > x->was, y->is > y->was});
}

/* The changes of one device on the common clock. Returns their number. */
static size_t add_changes(const struct vt_job *f, const struct vt_job_device *d,
                          struct change *changes) {
    const struct vt_levels *l = &d->levels;
    uint64_t begin = f->processes[d->process].started_at + l->from, was = 0;
    size_t count = 0;
    for (uint32_t i = 0; i <= l->count && l->count; i++) {
        uint64_t is = i < l->count ? l->bytes[i] : 0;
        uint64_t at = begin + (uint64_t)((double)(l->to - l->from) / l->count * i);
        if (is != was)
            changes[count++] = (struct change){at, was, is};
        was = is;
    }
    return count;
}

/* The column of a moment. */
static unsigned column_of(const struct vt_ranks *r, uint64_t at, unsigned columns) {
    double part = (double)(at - r->from) / (double)(r->to - r->from) * columns;
    return part < columns ? (unsigned)part : columns - 1;
}

uint64_t vt_ranks_course(const struct vt_ranks *r, const struct vt_job *f, uint32_t process,
                         unsigned columns, uint64_t *course) {
    bool all = process == VT_JOB_NONE;
    size_t first = all ? 0 : f->processes[process].first_device, room = 0, count = 0;
    size_t end = all ? f->device_count : first + f->processes[process].device_count;
    for (size_t i = first; i < end; i++)
        room += f->devices[i].levels.count + 1;
    VT_SCOPED struct change *changes = vt_alloc(room, sizeof *changes);
    for (size_t i = first; i < end; i++)
        count += add_changes(f, &f->devices[i], changes + count);
    vt_sort(changes, count, sizeof *changes, compare_changes);
    uint64_t held = 0, most = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        held += changes[i].is - changes[i].was;
        if (changes[i].at == changes[i + 1].at)
            continue;
        most = held > most ? held : most;
        unsigned last = columns ? column_of(r, changes[i + 1].at - 1, columns) : 0;
        for (unsigned c = columns ? column_of(r, changes[i].at, columns) : 1; c <= last; c++)
            course[c] = held > course[c] ? held : course[c];
    }
    return most;
}

/* --- all processes --- */

/* Used GPUs, or if there are none, all that were seen. A GPU's UUID is globally unique; simulated GPUs have the same
 * UUIDs on each machine. */
static void count_gpus(struct vt_ranks *r, const struct vt_job *f) {
    VT_SCOPED_MAP seen = {0};
    bool used = false;
    for (size_t i = 0; i < f->device_count; i++)
        used |= f->devices[i].ordinal != VT_DEVICE_HOST && f->devices[i].peak_bytes;
    for (size_t i = 0; i < f->device_count; i++) {
        const struct vt_job_process *p = &f->processes[f->devices[i].process];
        const char *uuid = f->devices[i].uuid;
        uint64_t key = uuid ? vt_hash_bytes(p->simulated ? p->host + 1 : 0, uuid, strlen(uuid)) : 0;
        if (!uuid || f->devices[i].ordinal == VT_DEVICE_HOST ||
            (used && !f->devices[i].peak_bytes) || vt_map_get(&seen, key) != VT_MAP_NONE)
            continue;
        vt_map_put(&seen, key, 1);
        r->gpus++;
    }
}

static void count_processes(struct vt_ranks *r, const struct vt_job *f) {
    VT_SCOPED_MAP ranks = {0}, hosts = {0};
    r->from = VT_UNKNOWN;
    for (uint32_t i = 0; i < f->process_count; i++) {
        const struct vt_job_process *p = &f->processes[i];
        uint64_t end = p->started_at + p->duration;
        r->from = p->started_at < r->from ? p->started_at : r->from;
        r->to = end > r->to ? end : r->to;
        r->peak_bytes += p->peak_bytes;
        r->live_bytes += p->live_bytes;
        r->leaked_bytes += p->leaked_bytes;
        r->dropped_events += p->quality.missing;
        r->running += p->ending.how == VT_END_RUNNING;
        r->killed += p->ending.how == VT_END_SIGNALED;
        r->failed += p->ending.how == VT_END_EXITED && p->ending.status;
        r->incomplete += !p->quality.complete && p->ending.how != VT_END_RUNNING;
        r->ooms += p->oom_count > 0;
        if (p->rank >= 0)
            vt_map_put(&ranks, vt_mix((uint64_t)p->rank + 1), i);
        vt_map_put(&hosts, vt_mix((uint64_t)p->host + 1), i);
    }
    r->ranks = (uint32_t)ranks.used;
    r->hosts = (uint32_t)hosts.used;
}

struct placed {
    uint64_t order, peak, leaked;
    uint32_t process;
};

static int compare_placed(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    return VT_ORDER({x->order, y->order}, {y->peak, x->peak}, {y->leaked, x->leaked},
                    {x->process, y->process});
}

/* One group of peers is listed by rank; otherwise the largest is first. Helpers that allocated nothing are listed
 * only if there are no others. */
static void make_list(struct vt_ranks *r, const struct vt_job *f) {
    VT_SCOPED struct placed *placed = vt_alloc(f->process_count, sizeof *placed);
    for (uint32_t i = 0; i < f->peers_count; i++)
        r->empty += f->peers[i].empty ? f->peers[i].process_count : 0;
    r->empty = r->empty < f->process_count ? r->empty : 0;
    for (uint32_t i = 0; i < f->peers_count; i++) {
        const struct vt_job_peers *peers = &f->peers[i];
        bool left_out = peers->empty && r->empty;
        r->groups += !left_out && !peers->replaced && !peers->lacking;
        r->lacking += peers->lacking ? peers->process_count : 0;
        for (uint32_t k = 0; k < peers->process_count && !left_out; k++)
            placed[r->count++] = (struct placed){peers->replaced, 0, 0, peers->processes[k]};
    }
    for (uint32_t i = 0; i < r->count && r->groups > 1; i++) {
        placed[i].peak = f->processes[placed[i].process].peak_bytes;
        placed[i].leaked = f->processes[placed[i].process].leaked_bytes;
    }
    vt_sort(placed, r->count, sizeof *placed, compare_placed);
    r->list = vt_alloc(f->process_count, sizeof *r->list);
    for (uint32_t i = 0; i < r->count; i++)
        r->list[i] = placed[i].process;
}

void vt_ranks_make(struct vt_ranks *r, const struct vt_job *f) {
    *r = (struct vt_ranks){.processes = f->process_count};
    count_processes(r, f);
    count_gpus(r, f);
    make_list(r, f);
    r->at_once_bytes = vt_ranks_course(r, f, VT_JOB_NONE, 0, NULL);
    r->differs = vt_alloc(f->process_count, sizeof *r->differs);
    for (uint32_t i = 0; i < f->outlier_count; i++) {
        const struct vt_job_outlier *o = &f->outliers[i];
        const uint32_t *both = f->peers[o->peers].processes;
        for (uint32_t k = 0; k < (o->two ? 2 : o->process_count); k++)
            r->differs[o->two ? both[k] : o->processes[k]] = true;
    }
}

void vt_ranks_free(struct vt_ranks *r) {
    free(r->list);
    free(r->differs);
    *r = (struct vt_ranks){0};
}

/* --- rows of a table --- */

enum { OF_A_KIND = 4 }; /* rows of one outlier, or of processes that ended badly */

static uint32_t mark_taken(bool *taken, uint32_t i) {
    bool before = taken[i];
    taken[i] = true;
    return !before;
}

uint32_t vt_ranks_rows(const struct vt_ranks *r, const struct vt_job *f, uint32_t most,
                       uint32_t *rows) {
    VT_SCOPED bool *taken = vt_alloc(f->process_count, sizeof *taken);
    uint32_t count = 0, bad = 0, least_at = 0, most_at = 0, limit = 2 * most;
    const struct vt_job_process *p = f->processes;
    for (uint32_t i = 0; i < r->count; i++) {
        least_at = p[r->list[i]].peak_bytes < p[r->list[least_at]].peak_bytes ? i : least_at;
        most_at = p[r->list[i]].peak_bytes > p[r->list[most_at]].peak_bytes ? i : most_at;
    }
    if (r->count > most) {
        for (uint32_t i = 0; i < f->outlier_count && count < limit; i++)
            for (uint32_t k = 0; k < f->outliers[i].process_count && k < OF_A_KIND; k++)
                count += mark_taken(taken, f->outliers[i].processes[k]);
        count += mark_taken(taken, r->list[least_at]) + mark_taken(taken, r->list[most_at]);
        for (uint32_t i = 0; i < r->count && count < limit && bad < OF_A_KIND; i++)
            if (vt_ended_badly(p[r->list[i]].ending) && mark_taken(taken, r->list[i])) {
                count++;
                bad++;
            }
    }
    for (uint32_t i = 0; i < r->count && (r->count <= most || count < most); i++)
        count += mark_taken(taken, r->list[i]);
    count = 0;
    for (uint32_t i = 0; i < r->count; i++)
        if (taken[r->list[i]])
            rows[count++] = r->list[i];
    return count;
}

/* --- sums over all processes --- */

/* A row's contribution to the sum of a line or an owner. */
struct part {
    uint32_t what, process;
    enum vt_verdict verdict;
    uint64_t bytes;
    const char *caller, *kept_by;
    size_t row;
};

static int compare_parts(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    return VT_ORDER({x->what, y->what}, {x->row, y->row});
}

static int compare_sums(const void *a, const void *b) {
    const struct vt_ranks_sum *x = a, *y = b;
    return VT_ORDER({y->bytes, x->bytes}, {y->processes, x->processes}, {x->what, y->what});
}

/* The sum of the parts of one line or owner, grouped by process. `largest`: the maximum, not the sum: requests are
 * not held memory. */
static struct vt_ranks_sum sum_of(const struct part *parts, size_t count, bool largest) {
    struct vt_ranks_sum sum = {.what = parts->what,
                               .verdict = parts->verdict,
                               .processes = 1,
                               .most = parts->process,
                               .kept_by = parts->kept_by};
    const struct part *worst = parts;
    uint64_t of_process = 0;
    for (size_t i = 0; i < count; i++) {
        const struct part *p = &parts[i];
        if (i && p->process != parts[i - 1].process) {
            sum.processes++;
            of_process = 0;
        }
        of_process = largest && of_process > p->bytes ? of_process
                     : largest                        ? p->bytes
                                                      : of_process + p->bytes;
        if (of_process > sum.most_bytes) {
            sum.most_bytes = of_process;
            sum.most = p->process;
        }
        sum.bytes += p->bytes;
        sum.callers |= !vt_same_text(p->caller, parts->caller);
        sum.kept_by = vt_same_text(p->kept_by, sum.kept_by) ? sum.kept_by : NULL;
        if (VT_ORDER({p->verdict, worst->verdict}, {worst->bytes, p->bytes}) < 0)
            worst = p;
    }
    sum.bytes = largest ? sum.most_bytes : sum.bytes;
    sum.verdict = worst->verdict;
    sum.caller = worst->caller;
    return sum;
}

/* Sums the parts by line or owner, and takes them over. */
static struct vt_ranks_sum *sum_parts(struct part *parts, size_t count, bool largest,
                                      uint32_t *sum_count) {
    struct vt_ranks_sum *sums = vt_alloc(count, sizeof *sums);
    *sum_count = 0;
    for (size_t i = 0; i < count; i++)
        parts[i].row = i;
    vt_sort(parts, count, sizeof *parts, compare_parts);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && parts[end].what == parts[i].what; end++)
            ;
        sums[(*sum_count)++] = sum_of(parts + i, end - i, largest);
    }
    vt_sort(sums, *sum_count, sizeof *sums, compare_sums);
    free(parts);
    return sums;
}

struct vt_ranks_sum *vt_ranks_leaks(const struct vt_job *f, uint32_t *count) {
    struct part *parts = vt_alloc(f->leak_count, sizeof *parts);
    for (size_t i = 0; i < f->leak_count; i++) {
        const struct vt_job_leak *l = &f->leaks[i];
        parts[i] =
            (struct part){l->line, l->process, l->verdict, l->bytes, l->caller, l->kept_by, 0};
    }
    return sum_parts(parts, f->leak_count, false, count);
}

struct vt_ranks_sum *vt_ranks_owners(const struct vt_job *f, uint32_t *count) {
    struct part *parts = vt_alloc(f->owned_count, sizeof *parts);
    for (size_t i = 0; i < f->owned_count; i++) {
        const struct vt_job_owned *o = &f->owned[i];
        parts[i] = (struct part){.what = o->owner, .process = o->process, .bytes = o->bytes};
    }
    return sum_parts(parts, f->owned_count, false, count);
}

struct vt_ranks_sum *vt_ranks_ooms(const struct vt_job *f, uint32_t *count) {
    struct part *parts = vt_alloc(f->oom_count, sizeof *parts);
    for (size_t i = 0; i < f->oom_count; i++) {
        const struct vt_job_oom *o = &f->ooms[i];
        uint64_t bytes = o->requested_bytes == VT_UNKNOWN ? 0 : o->requested_bytes;
        parts[i] = (struct part){
            .what = o->line, .process = o->process, .bytes = bytes, .caller = o->caller};
    }
    return sum_parts(parts, f->oom_count, true, count);
}

const char *vt_ranks_caller(const struct vt_job *f, const struct vt_job_outlier *o,
                            const struct vt_job_difference *d) {
    bool more = d->bytes > d->median;
    const struct vt_job_process *p =
        &f->processes[more ? o->processes[0] : f->peers[o->peers].typical];
    const struct vt_job_cell *worst = NULL;
    for (uint32_t i = 0; i < p->cell_count && d->measure == VT_JOB_LINE; i++) {
        const struct vt_job_cell *cell = &f->cells[p->first_cell + i]; /* the largest first */
        if (cell->line == d->what && (!worst || cell->verdict < worst->verdict))
            worst = cell;
    }
    return worst ? worst->caller : NULL;
}
