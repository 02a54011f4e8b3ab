/* SPDX-License-Identifier: MIT */
/*
 * Which processes of a fleet differ from their peers (see outliers.h).
 *
 * Compared are the process's peak, for each line of code the peaks of its call sites, and for each owner
 * what it holds. A line's peak says the same whenever the device's peak was, and whether the process
 * was killed or freed everything. Left out are lines that are not the program's: a caching allocator's
 * segments, whose sizes depend on the order of all that came before, and what CUDA's libraries keep.
 *
 * A process that keeps what its peers free may have the same lines at the same peaks. Then owners name
 * it; but only if it holds more of everything together, because names of owners are grouped, and a
 * variable more may name the group anew.
 */
#include "outliers.h"

#include "alike.h"

#include <stdlib.h>

/* What is not this part of the peers' median peak is not worth a name. */
#define LEAST_PART 100

/* A caching allocator's peak may differ by two of PyTorch's 20 MiB segments, one in each of two pools. */
#define SEGMENTS_BYTES (40ull << 20)

/* Two ranks have no third that shows what is usual between them; their other lines do. Of 30 lines that all
 * vary by chance (up to 5 % up and down, or with a standard deviation of 2 or 5 %) the one that differs most
 * differs by 3 to 4.3 times the median: less than this many times says nothing. */
#define PAIR_NOISE 5

/* ... if so many lines are there to tell. */
#define PAIR_LINES 3

/* Of three to seven ranks, too, some line is apart by chance where all lines vary: where 30 lines have a
 * standard deviation of 10 %, one of three is named in 30 jobs of 100, one of four in 15. A line has to be
 * apart by so many times what half of the lines vary by at least: then 8 and 7 in 100 are, and with 5 % a rank
 * that holds half as much again at one line is named as often as before. Of eight and more the limits of
 * alike.c do. */
#define FEW         8
#define THREE_NOISE 3
#define FEW_NOISE   2

/* PyTorch takes another pinned buffer where those that it has are still in use: whether they are is chance,
 * and a rank in eight had one less, or one more. */
#define RECYCLED_BUFFERS 2

/* A rank's way to differ is told by its differences of this part of the largest, so that a small one
 * more does not part it from those that differ like it. */
#define TELLING_PART 4

/* A value of a process of the peers that are compared. */
struct entry {
    uint32_t what;
    struct vt_alike_value of;
    uint64_t buffer; /* of a line: an allocation's bytes, on average */
};

struct found {
    uint32_t process;
    struct vt_fleet_difference d;
};

/* The comparison of one group of peers. */
struct compared {
    struct vt_fleet *f;
    const struct vt_fleet_peers *peers;
    uint32_t index; /* of the peers */
    uint64_t least;
    bool segments;     /* they have a caching allocator */
    uint64_t recycled; /* the largest buffer of a cache of host memory */
    uint64_t noise;    /* of two: by how much a line usually differs, in millionths of itself */
    uint64_t *varies;  /* of few: by how much each line varies among those that are alike */
    size_t lines, varies_room;
    struct found *found;
    size_t found_count, found_room;
};

static void add_found(struct compared *c, uint32_t process, struct vt_fleet_difference d) {
    VT_GROW(c->found, c->found_count, c->found_room);
    c->found[c->found_count++] = (struct found){process, d};
}

/* --- one measure --- */

/* Values of one measure: sorted, with the processes that have none before them. */
struct values {
    const struct vt_alike_value *values;
    uint32_t value_count, count;
    const uint32_t *processes; /* all `count` of them, in their order */
};

static uint64_t value_at(const struct values *v, uint32_t index) {
    return vt_alike_at(v->values, v->value_count, v->count, index);
}

static int compare_numbers(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The processes from `first` up to `end` in the order of their values. Free it. */
static uint32_t *processes_of(const struct values *v, const struct vt_alike *group) {
    uint32_t none = v->count - v->value_count, count = 0, next = 0;
    uint32_t *list = vt_alloc(group->end - group->first, sizeof *list);
    for (uint32_t i = group->first > none ? group->first : none; i < group->end; i++)
        list[count++] = v->values[i - none].process;
    if (group->first >= none)
        return list;
    /* those without a value are all in the first group */
    uint32_t *have = vt_alloc(v->value_count, sizeof *have);
    for (uint32_t i = 0; i < v->value_count; i++)
        have[i] = v->values[i].process;
    vt_sort(have, v->value_count, sizeof *have, compare_numbers);
    for (uint32_t i = 0; i < v->count; i++) {
        if (next < v->value_count && have[next] == v->processes[i])
            next++;
        else
            list[count++] = v->processes[i];
    }
    free(have);
    return list;
}

static uint64_t millionths(uint64_t low, uint64_t high) {
    return (uint64_t)((double)(high - low) / (double)low * 1e6);
}

static bool is_pairs_noise(const struct compared *c, uint64_t low, uint64_t high) {
    return low && millionths(low, high) <= PAIR_NOISE * c->noise;
}

static bool are_few(const struct compared *c) {
    return c->peers->process_count > 2 && c->peers->process_count < FEW;
}

/* Notes by how much a line varies within its `groups`; list NULL: all are alike. */
static void note_noise(struct compared *c, const struct values *v, const struct vt_alike *list,
                       uint32_t groups) {
    struct vt_alike all = {0, v->count};
    uint64_t most = 0;
    if (!are_few(c) || v->value_count < v->count || value_at(v, 0) <= c->least)
        return;
    for (uint32_t i = 0; i < (list ? groups : 1); i++) {
        const struct vt_alike *group = list ? &list[i] : &all;
        uint64_t noise = millionths(value_at(v, group->first), value_at(v, group->end - 1));
        most = noise > most ? noise : most;
    }
    VT_GROW(c->varies, c->lines, c->varies_room);
    c->varies[c->lines++] = most;
}

/* By how much it is apart from those that are alike. */
static uint64_t apart(const struct vt_fleet_difference *d) {
    uint64_t low = d->bytes < d->low ? d->bytes : d->high,
             high = d->bytes < d->low ? d->low : d->bytes;
    return low ? millionths(low, high) : VT_UNKNOWN;
}

/* Takes back what is said of lines that are apart by no more than lines usually vary. */
static void take_back_noise(struct compared *c) {
    size_t kept = 0;
    vt_sort_words(c->varies, c->lines);
    uint64_t noise = c->lines >= PAIR_LINES ? c->varies[(c->lines - 1) / 2] : 0;
    noise *= c->peers->process_count == 3 ? THREE_NOISE : FEW_NOISE;
    for (size_t i = 0; i < c->found_count; i++)
        if (apart(&c->found[i].d) > noise)
            c->found[kept++] = c->found[i];
    c->found_count = kept;
}

/* Notes who differs in a measure. `names`: whether a difference counts; NULL: it does. */
static void compare(struct compared *c, const struct values *v, enum vt_fleet_measure measure,
                    uint32_t what, uint64_t least,
                    bool (*names)(const void *, uint32_t process, int64_t more),
                    const void *context) {
    uint32_t groups, most;
    struct vt_alike *list =
        vt_alike_find(v->values, v->value_count, v->count, least, &groups, &most);
    if (measure == VT_FLEET_LINE)
        note_noise(c, v, list, groups);
    if (!list)
        return;
    if (v->count == 2 && is_pairs_noise(c, value_at(v, 0), value_at(v, 1))) {
        free(list);
        return;
    }
    const struct vt_alike *others = &list[most];
    struct vt_fleet_difference d = {
        .measure = measure,
        .what = what,
        .median = value_at(v, others->first + (others->end - others->first - 1) / 2),
        .low = value_at(v, others->first),
        .high = value_at(v, others->end - 1)};
    for (uint32_t i = 0; i < groups; i++) {
        if (i == most)
            continue;
        uint32_t *processes = processes_of(v, &list[i]);
        uint32_t none = v->count - v->value_count, with = list[i].first;
        if (with < none)
            with = none;
        for (uint32_t k = 0; k < list[i].end - list[i].first; k++) {
            d.bytes = k < list[i].end - with ? value_at(v, with + k) : 0;
            if (!names || names(context, processes[k], (int64_t)(d.bytes - d.median)))
                add_found(c, processes[k], d);
        }
        free(processes);
    }
    free(list);
}

static int compare_values(const void *a, const void *b) {
    const struct vt_alike_value *x = a, *y = b;
    return VT_ORDER({x->value, y->value}, {x->process, y->process});
}

static int by_process(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    return VT_ORDER({x->what, y->what}, {x->of.process, y->of.process});
}

/* The least difference of a line or an owner that says something; entries[0] to [count - 1] are its. */
static uint64_t least_of(const struct compared *c, enum vt_fleet_measure measure,
                         const struct entry *entries, size_t count) {
    uint64_t least = c->least;
    if (measure != VT_FLEET_LINE || !c->f->lines[entries[0].what].recycled)
        return least;
    for (size_t i = 0; i < count; i++) {
        uint64_t buffers = RECYCLED_BUFFERS * entries[i].buffer + 1;
        least = buffers > least ? buffers : least;
    }
    return least;
}

/* Compares entries of all lines, or of all owners. Sorts and changes them. */
static void compare_entries(struct compared *c, struct entry *entries, size_t count,
                            enum vt_fleet_measure measure, const uint32_t *processes,
                            uint32_t process_count, bool (*names)(const void *, uint32_t, int64_t),
                            const void *context) {
    vt_sort(entries, count, sizeof *entries, by_process);
    struct vt_alike_value *values = vt_alloc(process_count, sizeof *values);
    for (size_t i = 0; i < count;) {
        uint32_t what = entries[i].what, have = 0;
        size_t first = i;
        for (; i < count && entries[i].what == what; i++) {
            if (have && values[have - 1].process == entries[i].of.process)
                values[have - 1].value += entries[i].of.value; /* on another device */
            else
                values[have++] = entries[i].of;
        }
        vt_sort(values, have, sizeof *values, compare_values);
        compare(c, &(struct values){values, have, process_count, processes}, measure, what,
                least_of(c, measure, entries + first, i - first), names, context);
    }
    free(values);
}

/* --- the three measures --- */

static struct vt_alike_value *sorted_peaks(const struct compared *c) {
    const struct vt_fleet_peers *peers = c->peers;
    struct vt_alike_value *values = vt_alloc(peers->process_count, sizeof *values);
    for (uint32_t i = 0; i < peers->process_count; i++)
        values[i] = (struct vt_alike_value){c->f->processes[peers->processes[i]].peak_bytes,
                                            peers->processes[i]};
    vt_sort(values, peers->process_count, sizeof *values, compare_values);
    return values;
}

static void compare_peaks(struct compared *c, const struct vt_alike_value *peaks) {
    uint64_t least = c->segments && c->least < SEGMENTS_BYTES ? SEGMENTS_BYTES : c->least;
    if (c->recycled && least <= RECYCLED_BUFFERS * c->recycled)
        least = RECYCLED_BUFFERS * c->recycled + 1;
    uint32_t count = c->peers->process_count;
    compare(c, &(struct values){peaks, count, count, c->peers->processes}, VT_FLEET_PEAK, 0, least,
            NULL, NULL);
}

/* Sets what two processes usually differ by, at the lines that both have and that are not too small to
 * differ. */
static void measure_noise(struct compared *c, struct entry *entries, size_t count) {
    uint64_t *noise = vt_alloc(count, sizeof *noise);
    size_t lines = 0;
    vt_sort(entries, count, sizeof *entries, by_process);
    for (size_t i = 0; i + 1 < count; i++) {
        uint64_t a = entries[i].of.value, b = entries[i + 1].of.value;
        if (entries[i].what == entries[i + 1].what &&
            entries[i].of.process != entries[i + 1].of.process && a > c->least && b > c->least)
            noise[lines++] = a < b ? millionths(a, b) : millionths(b, a);
    }
    vt_sort_words(noise, lines);
    c->noise = lines >= PAIR_LINES ? noise[(lines - 1) / 2] : 0;
    free(noise);
}

static void compare_lines(struct compared *c) {
    const struct vt_fleet *f = c->f;
    size_t room = 0, count = 0;
    for (uint32_t i = 0; i < c->peers->process_count; i++)
        room += f->processes[c->peers->processes[i]].cell_count;
    struct entry *entries = vt_alloc(room, sizeof *entries);
    for (uint32_t i = 0; i < c->peers->process_count; i++) {
        const struct vt_fleet_process *p = &f->processes[c->peers->processes[i]];
        for (uint32_t k = 0; k < p->cell_count; k++) {
            const struct vt_fleet_cell *cell = &f->cells[p->first_cell + k];
            const struct vt_fleet_line *line = &f->lines[cell->line];
            uint64_t buffer = cell->alloc_count ? cell->allocated_bytes / cell->alloc_count : 0;
            c->segments |= line->segments;
            c->recycled = line->recycled && buffer > c->recycled ? buffer : c->recycled;
            if (!line->segments && !line->rest && cell->verdict != VT_VERDICT_RUNTIME)
                entries[count++] =
                    (struct entry){cell->line, {cell->peak_bytes, cell->process}, buffer};
        }
    }
    if (c->peers->process_count == 2)
        measure_noise(c, entries, count);
    compare_entries(c, entries, count, VT_FLEET_LINE, c->peers->processes, c->peers->process_count,
                    NULL, NULL);
    if (are_few(c))
        take_back_noise(c);
    free(entries);
}

/* What a process holds together at the snapshot that it shows, if that was taken for this reason. */
static bool saw(const struct vt_fleet *f, const struct vt_fleet_process *p,
                enum vt_snapshot_why why) {
    return p->owned_count && f->owned[p->first_owned].why == why;
}

static uint64_t owned_by(const struct vt_fleet *f, const struct vt_fleet_process *p,
                         enum vt_snapshot_why why) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->owned_count && saw(f, p, why); i++)
        sum += f->owned[p->first_owned + i].bytes;
    return sum;
}

/* What half of the peers hold together. */
struct held {
    const struct vt_fleet *f;
    enum vt_snapshot_why why;
    uint64_t median;
};

static bool holds_that_much(const void *context, uint32_t process, int64_t more) {
    const struct held *held = context;
    int64_t all =
        (int64_t)(owned_by(held->f, &held->f->processes[process], held->why) - held->median);
    return more > 0 ? all >= more / 2 : all <= more / 2;
}

/* Whether it is known what a process held at the moment of such snapshots: at its end nothing, where a
 * snapshot saw nothing of the program's, or nothing was left to have an owner. */
static bool knows_owners(const struct vt_fleet *f, const struct vt_fleet_process *p,
                         enum vt_snapshot_why why) {
    return saw(f, p, why) ||
           (why == VT_SNAPSHOT_END && (p->none_at_end || (p->complete && !p->live_bytes)));
}

/* The reason of the snapshots that are compared, of most processes: at an out-of-memory error other
 * things are alive than at the end; of equally many that of the first process. 0: there are none. */
static enum vt_snapshot_why common_why(const struct compared *c) {
    const struct vt_fleet *f = c->f;
    const uint32_t *processes = c->peers->processes;
    uint32_t counts[VT_SNAPSHOT_WHYS] = {0};
    enum vt_snapshot_why best = 0;
    for (uint32_t i = 0; i < c->peers->process_count; i++) {
        const struct vt_fleet_process *p = &f->processes[processes[i]];
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
    const struct vt_fleet *f = c->f;
    enum vt_snapshot_why why = common_why(c);
    size_t room = 0, count = 0;
    uint32_t *processes = vt_alloc(c->peers->process_count, sizeof *processes), have = 0;
    for (uint32_t i = 0; why && i < c->peers->process_count; i++) {
        const struct vt_fleet_process *p = &f->processes[c->peers->processes[i]];
        if (!knows_owners(f, p, why))
            continue;
        processes[have++] = c->peers->processes[i];
        room += p->owned_count;
    }
    struct entry *entries = vt_alloc(room, sizeof *entries);
    uint64_t *sums = vt_alloc(have, sizeof *sums);
    for (uint32_t i = 0; i < have; i++) {
        const struct vt_fleet_process *p = &f->processes[processes[i]];
        for (uint32_t k = 0; k < p->owned_count && saw(f, p, why); k++) {
            const struct vt_fleet_owned *owned = &f->owned[p->first_owned + k];
            const struct vt_fleet_owner *owner = &f->owners[owned->owner];
            if (!owner->rest && !owner->nobody)
                entries[count++] = (struct entry){owned->owner, {owned->bytes, owned->process}, 0};
        }
        sums[i] = owned_by(f, p, why);
    }
    vt_sort_words(sums, have);
    struct held held = {f, why, have ? sums[(have - 1) / 2] : 0};
    if (have > 1)
        compare_entries(c, entries, count, VT_FLEET_OWNER, processes, have, holds_that_much, &held);
    free(sums);
    free(entries);
    free(processes);
}

/* --- two processes --- */

/* Of two nobody is the majority: all differences are told of the one that holds more. */
static void tell_of_one(struct compared *c) {
    const uint32_t *two = c->peers->processes;
    const struct vt_fleet_process *p = c->f->processes;
    uint64_t more[2] = {0, 0};
    for (size_t i = 0; i < c->found_count; i++)
        if (c->found[i].d.measure == VT_FLEET_LINE)
            more[c->found[i].process == two[1]] += vt_fleet_difference_size(&c->found[i].d);
    for (size_t i = 0; i < c->found_count; i++)
        if (c->found[i].d.measure == VT_FLEET_PEAK)
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
                    {vt_fleet_difference_size(&y->d), vt_fleet_difference_size(&x->d)},
                    {x->d.measure, y->d.measure}, {x->d.what, y->d.what});
}

/* A process that is named: found[first] to found[end] are its differences. */
struct named {
    uint64_t way; /* a hash of how it differs */
    uint32_t process;
    size_t first, end;
};

static int compare_named(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    return VT_ORDER({x->way, y->way}, {x->process, y->process});
}

/* How it differs: in lines if there are any, else in owners, else in its peak. */
static uint64_t way_of(const struct found *found, size_t count) {
    static const enum vt_fleet_measure order[] = {VT_FLEET_LINE, VT_FLEET_OWNER, VT_FLEET_PEAK};
    uint64_t way = 0;
    for (size_t m = 0; m < 3 && !way; m++) {
        uint64_t largest = 0;
        for (size_t i = 0; i < count; i++)
            if (found[i].d.measure == order[m] && vt_fleet_difference_size(&found[i].d) > largest)
                largest = vt_fleet_difference_size(&found[i].d);
        for (size_t i = 0; i < count && largest; i++)
            if (found[i].d.measure == order[m] &&
                vt_fleet_difference_size(&found[i].d) >= largest / TELLING_PART)
                way += vt_mix(found[i].d.what * 8ull + order[m] * 2ull +
                              (found[i].d.bytes > found[i].d.median) + 1);
    }
    return way;
}

static bool is_more(const struct vt_fleet_outlier *o) {
    for (uint32_t i = 0; i < o->difference_count; i++)
        if (o->differences[i].measure == VT_FLEET_PEAK)
            return o->differences[i].bytes > o->differences[i].median;
    return o->differences[0].bytes > o->differences[0].median;
}

static void add_outlier(struct compared *c, const struct named *named, uint32_t count) {
    struct vt_fleet *f = c->f;
    f->outliers = vt_realloc(f->outliers, f->outlier_count + 1, sizeof *f->outliers);
    struct vt_fleet_outlier *o = &f->outliers[f->outlier_count++];
    *o = (struct vt_fleet_outlier){.peers = c->index,
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
    struct named *named = NULL;
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
    free(named);
}

static int compare_outliers(const void *a, const void *b) {
    const struct vt_fleet_outlier *x = a, *y = b;
    return VT_ORDER({vt_fleet_difference_size(&y->differences[0]),
                     vt_fleet_difference_size(&x->differences[0])},
                    {x->processes[0], y->processes[0]});
}

/* The one whose peak is nearest to the median, of those that do not differ. */
static uint32_t typical_of(const struct compared *c, const struct vt_alike_value *peaks,
                           uint32_t first_outlier) {
    const struct vt_fleet *f = c->f;
    struct vt_map out = {0};
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
    vt_map_free(&out);
    return typical;
}

static void compare_peers(struct vt_fleet *f, uint32_t index) {
    struct vt_fleet_peers *peers = &f->peers[index];
    struct compared c = {.f = f, .peers = peers, .index = index};
    struct vt_alike_value *peaks = sorted_peaks(&c);
    uint32_t first_outlier = f->outlier_count;
    if (peers->process_count > 1 && vt_fleet_peers_compared(peers)) {
        c.least = peaks[(peers->process_count - 1) / 2].value / LEAST_PART;
        compare_lines(&c);
        compare_owners(&c);
        compare_peaks(&c, peaks);
        if (peers->process_count == 2)
            tell_of_one(&c);
        name_outliers(&c);
    }
    peers->typical = typical_of(&c, peaks, first_outlier);
    free(c.found);
    free(c.varies);
    free(peaks);
}

void vt_fleet_find_outliers(struct vt_fleet *f) {
    vt_fleet_find_peers(f);
    for (uint32_t i = 0; i < f->peers_count; i++)
        compare_peers(f, i);
    vt_sort(f->outliers, f->outlier_count, sizeof *f->outliers, compare_outliers);
    vt_fleet_find_shown(f);
}
