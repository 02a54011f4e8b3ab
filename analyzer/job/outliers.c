/* SPDX-License-Identifier: MIT */
/*
 * Finds the processes of a job that differ from their peers (see outliers.h).
 *
 * We compare each process's peak, the peaks of the call sites of each line of code, and the memory of each owner. A
 * line's peak does not depend on when the device had its peak, or on whether the process was killed or freed
 * everything. We do not compare lines outside the program: a caching allocator's segments, whose sizes depend on the
 * order of earlier requests, and memory that CUDA's libraries keep.
 *
 * Values around the median without a wide gap between them count as alike; these are at least half of the values. The
 * necessary width of a gap depends on the median distance from the median (MAD). It also depends on how much the lines
 * of any two processes vary, because a few values alone do not show how far apart chance puts them.
 *
 * A process that keeps memory which its peers free may have the same lines with the same peaks. Then its owners reveal
 * the difference, but only if all its owners together hold more: names of owners are grouped, and one more variable may
 * rename a group.
 */
#include "outliers.h"
#include "replay/replay.h"

#include <math.h>
#include <stdlib.h>

/* Differences below this part of the peers' median peak are not reported. */
#define LEAST_PART 100

/* A gap separates values only if it is wider than this percentage of the lower value: otherwise one in ten groups of
 * eight ranks, with lines that vary by 2 %, would report an outlier. */
#define GAP_PERCENT 5

/* Fewer ranks than FEW are often close together by chance: two in three groups of three ranks, with one line that
 * varies by 10 %, would report an outlier. But exactly equal values are no coincidence. */
#define FEW         8
#define FEW_PERCENT 15

/* A gap must be wider than this many times the ranks' median distance from the line's median. */
#define SPREADS 5

/* ... and wider than this many times the median variation of all lines: 24 % for a standard deviation of 5 %. */
#define NOISES 7

/* The median distance of a few values underestimates their spread: by half for two values, by a tenth for 30. */
#define TOO_SMALL(count) (1 + 3. / (double)((count) + 1))

/* A caching allocator's peak may differ by two of PyTorch's large segments, one in each of two pools. */
#define SEGMENTS_BYTES (2ull * VT_CACHE_LARGE_SEGMENT)

/* PyTorch allocates another pinned buffer if all existing buffers are in use. That depends on timing: one rank in
 * eight had one buffer less or more. */
#define RECYCLED_BUFFERS 2

/* Only differences above this part of the largest one characterize a rank, so that a small extra difference does not
 * separate it from ranks that differ in the same way. */
#define TELLING_PART 4

/* One value of a process. */
struct entry {
    uint32_t what, process;
    uint64_t value;
    uint64_t buffer; /* for a line: average bytes of an allocation */
};

struct found {
    uint32_t process;
    struct vt_job_difference d;
};

/* The comparison of one group of peers. */
struct compared {
    struct vt_job *f;
    const struct vt_job_peers *peers;
    uint32_t index; /* in vt_job.peers */
    uint64_t least;
    bool segments;     /* the peers have a caching allocator */
    uint64_t recycled; /* the largest buffer in a cache of host memory */
    double noise;      /* gaps up to this part of the lower value are chance */
    struct found *found;
    size_t found_count, found_room;
};

/* --- one measure --- */

/* The values of one measure, sorted; of `count` processes, the others have 0. */
struct values {
    const struct entry *entries;
    uint32_t entry_count, count;
    const uint32_t *processes; /* all `count`, in the job's order */
};

static uint64_t value_at(const struct values *v, uint32_t index) {
    uint32_t none = v->count - v->entry_count;
    return index < none ? 0 : v->entries[index - none].value;
}

/* Whether a gap is wider than `least` bytes and than this part of the lower value. */
static bool is_gap(uint64_t low, uint64_t high, uint64_t least, double part) {
    return high - low > least && (double)(high - low) > (double)low * part;
}

/* A range of similar values, from index `low` to `high`, inclusive. */
struct alike {
    uint32_t low, high;
    /* distance of the value added last from the median; the MAD once half were added */
    uint64_t away;
};

/* The median and this many of its nearest neighbours. */
static struct alike nearest(const struct values *v, uint32_t others) {
    uint32_t middle = (v->count - 1) / 2, none = v->count - v->entry_count;
    uint64_t median = value_at(v, middle);
    struct alike group = {middle, middle, 0};
    if (middle < none)
        return (struct alike){0, none - 1, 0};
    for (uint32_t i = 0; i < others; i++) {
        uint64_t below = group.low ? median - value_at(v, group.low - 1) : VT_UNKNOWN,
                 above =
                     group.high + 1 < v->count ? value_at(v, group.high + 1) - median : VT_UNKNOWN;
        group.away = below < above ? below : above;
        below < above ? group.low-- : group.high++;
    }
    return group;
}

/* Half of the values, and their neighbours up to the first gap. */
static struct alike find_alike(const struct compared *c, const struct values *v, uint64_t least) {
    struct alike group = nearest(v, (v->count - 1) / 2);
    bool few = v->count < FEW && (group.away || c->noise > 0);
    double part = fmax((few ? FEW_PERCENT : GAP_PERCENT) / 100., c->noise);
    if (SPREADS * group.away > least)
        least = SPREADS * group.away;
    while (group.high + 1 < v->count &&
           !is_gap(value_at(v, group.high), value_at(v, group.high + 1), least, part))
        group.high++;
    while (group.low && !is_gap(value_at(v, group.low - 1), value_at(v, group.low), least, part))
        group.low--;
    return group;
}

static int by_number(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The processes without a value, in the job's order. Free it. */
static uint32_t *without(const struct values *v) {
    uint32_t *list = vt_alloc(v->count - v->entry_count, sizeof *list), count = 0, next = 0;
    VT_SCOPED uint32_t *have = vt_alloc(v->entry_count, sizeof *have);
    for (uint32_t i = 0; i < v->entry_count; i++)
        have[i] = v->entries[i].process;
    vt_sort(have, v->entry_count, sizeof *have, by_number);
    for (uint32_t i = 0; i < v->count; i++) {
        if (next < v->entry_count && have[next] == v->processes[i])
            next++;
        else
            list[count++] = v->processes[i];
    }
    return list;
}

static void note_who_differs(struct compared *c, const struct values *v,
                             enum vt_job_measure measure, uint32_t what, uint64_t least) {
    struct alike group = find_alike(c, v, least);
    uint32_t none = v->count - v->entry_count;
    VT_SCOPED uint32_t *have_none = group.low && none ? without(v) : NULL;
    struct vt_job_difference d = {.measure = measure,
                                  .what = what,
                                  .median = value_at(v, group.low + (group.high - group.low) / 2),
                                  .low = value_at(v, group.low),
                                  .high = value_at(v, group.high)};
    for (uint32_t i = 0; i < v->count; i++) {
        if (i == group.low) {
            i = group.high;
            continue;
        }
        uint32_t process = i < none ? have_none[i] : v->entries[i - none].process;
        d.bytes = value_at(v, i);
        VT_GROW(c->found, c->found_count, c->found_room);
        c->found[c->found_count++] = (struct found){process, d};
    }
}

static int by_process(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    return VT_ORDER({x->what, y->what}, {x->process, y->process});
}

static int by_value(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    return VT_ORDER({x->what, y->what}, {x->value, y->value}, {x->process, y->process});
}

/* Merges a process's entries for one item on several devices, and sorts them by item and value. Returns the new
 * count. */
static size_t sort_entries(struct entry *entries, size_t count) {
    size_t kept = 0;
    vt_sort(entries, count, sizeof *entries, by_process);
    for (size_t i = 0; i < count; i++) {
        struct entry *last = kept ? &entries[kept - 1] : NULL;
        if (last && last->what == entries[i].what && last->process == entries[i].process)
            last->value += entries[i].value;
        else
            entries[kept++] = entries[i];
    }
    vt_sort(entries, kept, sizeof *entries, by_value);
    return kept;
}

/* The values of the item of entries[first]. */
static struct values values_of(const struct entry *entries, size_t count, size_t first,
                               const uint32_t *processes, uint32_t process_count) {
    size_t end = first;
    while (end < count && entries[end].what == entries[first].what)
        end++;
    return (struct values){entries + first, (uint32_t)(end - first), process_count, processes};
}

/* The smallest difference of a line or an owner that is reported. */
static uint64_t least_of(const struct compared *c, enum vt_job_measure measure,
                         const struct values *v) {
    uint64_t least = c->least;
    if (measure != VT_JOB_LINE || !c->f->lines[v->entries[0].what].recycled)
        return least;
    for (uint32_t i = 0; i < v->entry_count; i++) {
        uint64_t buffers = RECYCLED_BUFFERS * v->entries[i].buffer + 1;
        least = buffers > least ? buffers : least;
    }
    return least;
}

static void compare_entries(struct compared *c, const struct entry *entries, size_t count,
                            enum vt_job_measure measure, const uint32_t *processes,
                            uint32_t process_count) {
    for (size_t i = 0; i < count;) {
        struct values v = values_of(entries, count, i, processes, process_count);
        note_who_differs(c, &v, measure, entries[i].what, least_of(c, measure, &v));
        i += v.entry_count;
    }
}

/* --- noise --- */

static int by_size(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median_of(double *list, size_t count) {
    vt_sort(list, count, sizeof *list, by_size);
    return count ? list[(count - 1) / 2] : 0;
}

/* A line's variation, as a part of its median. 0: it does not vary, or not all processes have it. Two values differ
 * by the square root of 2 times the spread of each; the result is reduced if the first is larger. For more values
 * the variation is the MAD, interpolated with the next distance unless that belongs to another group of ranks. */
static double differ_by(const struct compared *c, const struct values *v) {
    double median = (double)value_at(v, (v->count - 1) / 2);
    if (v->entry_count < v->count || v->entries[0].value <= c->least)
        return 0;
    if (v->count == 2) {
        /* Not log, whose current version needs glibc 2.29. */
        double more = log1p((double)value_at(v, 1) / median - 1) / M_SQRT2;
        return v->entries[0].process == v->processes[0] ? more : -more;
    }
    double half = (double)nearest(v, (v->count - 1) / 2).away,
           next = (double)nearest(v, v->count / 2).away;
    return fmin((half + next) / 2, 2 * half) / median;
}

/* Sets the noise from the lines whose values are not all equal. If one of two processes has more at half of the
 * lines, that is no noise. */
static void measure_noise(struct compared *c, const struct entry *entries, size_t count) {
    const struct vt_job_peers *peers = c->peers;
    VT_SCOPED double *by = vt_alloc(count, sizeof *by);
    size_t lines = 0;
    for (size_t i = 0; i < count;) {
        struct values v = values_of(entries, count, i, peers->processes, peers->process_count);
        i += v.entry_count;
        by[lines] = differ_by(c, &v);
        lines += by[lines] != 0;
    }
    if (peers->process_count == 2) {
        double usual = median_of(by, lines);
        for (size_t i = 0; i < lines; i++)
            by[i] = fabs(by[i] - usual);
    }
    c->noise = NOISES * median_of(by, lines) *
               TOO_SMALL(peers->process_count == 2 ? lines : peers->process_count);
}

/* --- the three measures --- */

static struct entry *sorted_peaks(const struct compared *c) {
    const struct vt_job_peers *peers = c->peers;
    struct entry *values = vt_alloc(peers->process_count, sizeof *values);
    for (uint32_t i = 0; i < peers->process_count; i++)
        values[i] = (struct entry){0, peers->processes[i],
                                   c->f->processes[peers->processes[i]].peak_bytes, 0};
    vt_sort(values, peers->process_count, sizeof *values, by_value);
    return values;
}

static void compare_peaks(struct compared *c, const struct entry *peaks) {
    uint64_t least = c->segments && c->least < SEGMENTS_BYTES ? SEGMENTS_BYTES : c->least;
    if (c->recycled && least <= RECYCLED_BUFFERS * c->recycled)
        least = RECYCLED_BUFFERS * c->recycled + 1;
    uint32_t count = c->peers->process_count;
    note_who_differs(c, &(struct values){peaks, count, count, c->peers->processes}, VT_JOB_PEAK, 0,
                     least);
}

static void compare_lines(struct compared *c) {
    const struct vt_job *f = c->f;
    size_t room = 0, count = 0;
    for (uint32_t i = 0; i < c->peers->process_count; i++)
        room += f->processes[c->peers->processes[i]].cell_count;
    VT_SCOPED struct entry *entries = vt_alloc(room, sizeof *entries);
    for (uint32_t i = 0; i < c->peers->process_count; i++) {
        const struct vt_job_process *p = &f->processes[c->peers->processes[i]];
        for (uint32_t k = 0; k < p->cell_count; k++) {
            const struct vt_job_cell *cell = &f->cells[p->first_cell + k];
            const struct vt_job_line *line = &f->lines[cell->line];
            uint64_t buffer = cell->alloc_count ? cell->allocated_bytes / cell->alloc_count : 0;
            c->segments |= line->segments;
            c->recycled = line->recycled && buffer > c->recycled ? buffer : c->recycled;
            if (!line->segments && !line->rest && cell->verdict != VT_VERDICT_RUNTIME)
                entries[count++] =
                    (struct entry){cell->line, cell->process, cell->peak_bytes, buffer};
        }
    }
    count = sort_entries(entries, count);
    measure_noise(c, entries, count);
    compare_entries(c, entries, count, VT_JOB_LINE, c->peers->processes, c->peers->process_count);
}

/* Whether the snapshot shown for a process was taken for this reason. */
static bool saw(const struct vt_job *f, const struct vt_job_process *p, enum vt_snapshot_why why) {
    return p->owned_count && f->owned[p->first_owned].why == why;
}

static uint64_t owned_by(const struct vt_job *f, const struct vt_job_process *p,
                         enum vt_snapshot_why why) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->owned_count && saw(f, p, why); i++)
        sum += f->owned[p->first_owned + i].bytes;
    return sum;
}

/* Whether the total of a process's owners differs as much as this owner: names of owners are grouped, so the same
 * owner may have another name in the peers. `median`: of the peers' totals. */
static bool holds_that_much(const struct vt_job *f, const struct found *found,
                            enum vt_snapshot_why why, uint64_t median) {
    int64_t more = (int64_t)(found->d.bytes - found->d.median);
    int64_t all = (int64_t)(owned_by(f, &f->processes[found->process], why) - median);
    return more > 0 ? all >= more / 2 : all <= more / 2;
}

/* Whether a process's owners are known for snapshots of this reason. At its end a process may own nothing: the
 * snapshot found no memory of the program, or none was left. */
static bool knows_owners(const struct vt_job *f, const struct vt_job_process *p,
                         enum vt_snapshot_why why) {
    return saw(f, p, why) ||
           (why == VT_SNAPSHOT_END && (p->none_at_end || (p->quality.complete && !p->live_bytes)));
}

/* The reason of most processes' snapshots; the comparison uses only those, because other objects are alive at an
 * out-of-memory error than at the end. If tied, the first process's reason. 0: no snapshots. */
static enum vt_snapshot_why common_why(const struct compared *c) {
    const struct vt_job *f = c->f;
    const uint32_t *processes = c->peers->processes;
    uint32_t counts[VT_SNAPSHOT_WHYS] = {0};
    enum vt_snapshot_why best = 0;
    for (uint32_t i = 0; i < c->peers->process_count; i++) {
        const struct vt_job_process *p = &f->processes[processes[i]];
        enum vt_snapshot_why why = p->owned_count ? f->owned[p->first_owned].why : 0;
        if (!why || counts[why])
            continue;
        for (uint32_t k = 0; k < c->peers->process_count; k++)
            counts[why] += knows_owners(f, &f->processes[processes[k]], why);
        best = counts[why] > counts[best] ? why : best;
    }
    return best;
}

static void compare_owners(struct compared *c) {
    const struct vt_job *f = c->f;
    enum vt_snapshot_why why = common_why(c);
    size_t room = 0, count = 0;
    VT_SCOPED uint32_t *processes = vt_alloc(c->peers->process_count, sizeof *processes);
    uint32_t have = 0;
    for (uint32_t i = 0; why && i < c->peers->process_count; i++) {
        const struct vt_job_process *p = &f->processes[c->peers->processes[i]];
        if (!knows_owners(f, p, why))
            continue;
        processes[have++] = c->peers->processes[i];
        room += p->owned_count;
    }
    VT_SCOPED struct entry *entries = vt_alloc(room, sizeof *entries);
    VT_SCOPED uint64_t *sums = vt_alloc(have, sizeof *sums);
    for (uint32_t i = 0; i < have; i++) {
        const struct vt_job_process *p = &f->processes[processes[i]];
        for (uint32_t k = 0; k < p->owned_count && saw(f, p, why); k++) {
            const struct vt_job_owned *owned = &f->owned[p->first_owned + k];
            const struct vt_job_owner *owner = &f->owners[owned->owner];
            if (!owner->rest && !owner->unowned)
                entries[count++] = (struct entry){owned->owner, owned->process, owned->bytes, 0};
        }
        sums[i] = owned_by(f, p, why);
    }
    vt_sort_words(sums, have);
    uint64_t median = have ? sums[(have - 1) / 2] : 0;
    count = sort_entries(entries, count);
    size_t kept = c->found_count, first = kept;
    if (have > 1)
        compare_entries(c, entries, count, VT_JOB_OWNER, processes, have);
    for (size_t i = first; i < c->found_count; i++)
        if (holds_that_much(f, &c->found[i], why, median))
            c->found[kept++] = c->found[i];
    c->found_count = kept;
}

/* --- two processes --- */

/* Two processes have no majority: all differences are reported for the one that holds more. */
static void report_larger(struct compared *c) {
    const uint32_t *two = c->peers->processes;
    const struct vt_job_process *p = c->f->processes;
    uint64_t more[2] = {0, 0};
    for (size_t i = 0; i < c->found_count; i++)
        if (c->found[i].d.measure == VT_JOB_LINE)
            more[c->found[i].process == two[1]] += vt_job_difference_size(&c->found[i].d);
    for (size_t i = 0; i < c->found_count; i++)
        if (c->found[i].d.measure == VT_JOB_PEAK)
            more[0] = p[two[0]].peak_bytes, more[1] = p[two[1]].peak_bytes;
    uint32_t one = more[1] > more[0] ? two[1] : two[0];
    for (size_t i = 0; i < c->found_count; i++) {
        struct found *found = &c->found[i];
        if (found->process == one)
            continue;
        found->process = one;
        uint64_t bytes = found->d.bytes;
        found->d.bytes = found->d.median;
        found->d.median = found->d.low = found->d.high = bytes;
    }
}

/* --- from differences to outliers --- */

static int compare_found(const void *a, const void *b) {
    const struct found *x = a, *y = b;
    return VT_ORDER({x->process, y->process},
                    {vt_job_difference_size(&y->d), vt_job_difference_size(&x->d)},
                    {x->d.measure, y->d.measure}, {x->d.what, y->d.what});
}

/* An outlier, with its differences found[first] to found[end]. */
struct named {
    uint64_t way; /* a hash of how it differs */
    uint32_t process;
    size_t first, end;
};

static int compare_named(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    return VT_ORDER({x->way, y->way}, {x->process, y->process});
}

/* Hashes how a process differs: in lines, else in owners, else in its peak. */
static uint64_t way_of(const struct found *found, size_t count) {
    static const enum vt_job_measure order[] = {VT_JOB_LINE, VT_JOB_OWNER, VT_JOB_PEAK};
    uint64_t way = 0;
    for (size_t m = 0; m < 3 && !way; m++) {
        uint64_t largest = 0;
        for (size_t i = 0; i < count; i++)
            if (found[i].d.measure == order[m] && vt_job_difference_size(&found[i].d) > largest)
                largest = vt_job_difference_size(&found[i].d);
        for (size_t i = 0; i < count && largest; i++)
            if (found[i].d.measure == order[m] &&
                vt_job_difference_size(&found[i].d) >= largest / TELLING_PART)
                way += vt_mix(found[i].d.what * 8ull + order[m] * 2ull +
                              (found[i].d.bytes > found[i].d.median) + 1);
    }
    return way;
}

static bool is_more(const struct vt_job_outlier *o) {
    for (uint32_t i = 0; i < o->difference_count; i++)
        if (o->differences[i].measure == VT_JOB_PEAK)
            return o->differences[i].bytes > o->differences[i].median;
    return o->differences[0].bytes > o->differences[0].median;
}

static void add_outlier(struct compared *c, const struct named *named, uint32_t count) {
    struct vt_job *f = c->f;
    f->outliers = vt_realloc(f->outliers, f->outlier_count + 1, sizeof *f->outliers);
    struct vt_job_outlier *o = &f->outliers[f->outlier_count++];
    *o = (struct vt_job_outlier){.peers = c->index,
                                 .processes = vt_alloc(count, sizeof *o->processes),
                                 .process_count = count,
                                 .two = c->peers->process_count == 2};
    for (uint32_t i = 0; i < count; i++)
        o->processes[i] = named[i].process;
    o->differences = vt_alloc(named->end - named->first, sizeof *o->differences);
    for (size_t i = named->first; i < named->end; i++)
        o->differences[o->difference_count++] = c->found[i].d;
    o->more = is_more(o);
}

static void name_outliers(struct compared *c) {
    VT_SCOPED struct named *named = NULL;
    size_t count = 0, room = 0;
    vt_sort(c->found, c->found_count, sizeof *c->found, compare_found);
    for (size_t i = 0, end; i < c->found_count; i = end) {
        for (end = i; end < c->found_count && c->found[end].process == c->found[i].process; end++)
            ;
        VT_GROW(named, count, room);
        named[count++] = (struct named){way_of(c->found + i, end - i), c->found[i].process, i, end};
    }
    vt_sort(named, count, sizeof *named, compare_named);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && named[end].way == named[i].way; end++)
            ;
        add_outlier(c, &named[i], (uint32_t)(end - i));
    }
}

static int compare_outliers(const void *a, const void *b) {
    const struct vt_job_outlier *x = a, *y = b;
    return VT_ORDER(
        {vt_job_difference_size(&y->differences[0]), vt_job_difference_size(&x->differences[0])},
        {x->processes[0], y->processes[0]});
}

/* The process nearest to the median peak among those that do not differ. */
static uint32_t typical_of(const struct compared *c, const struct entry *peaks,
                           uint32_t first_outlier) {
    const struct vt_job *f = c->f;
    VT_SCOPED_MAP out = {0};
    for (uint32_t i = first_outlier; i < f->outlier_count; i++)
        for (uint32_t k = 0; k < f->outliers[i].process_count; k++)
            vt_map_put(&out, f->outliers[i].processes[k], i);
    bool all = out.used == c->peers->process_count;
    uint64_t median = peaks[(c->peers->process_count - 1) / 2].value, nearest = VT_UNKNOWN;
    uint32_t typical = c->peers->processes[0];
    for (uint32_t i = 0; i < c->peers->process_count; i++) {
        uint32_t process = c->peers->processes[i];
        uint64_t peak = f->processes[process].peak_bytes;
        uint64_t far = peak > median ? peak - median : median - peak;
        if (far >= nearest || (!all && vt_map_get(&out, process) != VT_MAP_NONE))
            continue;
        nearest = far;
        typical = process;
    }
    return typical;
}

static void compare_peers(struct vt_job *f, uint32_t index) {
    struct vt_job_peers *peers = &f->peers[index];
    struct compared c = {.f = f, .peers = peers, .index = index};
    VT_SCOPED struct entry *peaks = sorted_peaks(&c);
    uint32_t first_outlier = f->outlier_count;
    if (peers->process_count > 1 && vt_job_peers_compared(peers)) {
        c.least = peaks[(peers->process_count - 1) / 2].value / LEAST_PART;
        compare_lines(&c);
        compare_owners(&c);
        compare_peaks(&c, peaks);
        if (peers->process_count == 2)
            report_larger(&c);
        name_outliers(&c);
    }
    peers->typical = typical_of(&c, peaks, first_outlier);
    free(c.found);
}

void vt_job_find_outliers(struct vt_job *f) {
    vt_job_find_peers(f);
    for (uint32_t i = 0; i < f->peers_count; i++)
        compare_peers(f, i);
    vt_sort(f->outliers, f->outlier_count, sizeof *f->outliers, compare_outliers);
    vt_job_find_shown(f);
}
