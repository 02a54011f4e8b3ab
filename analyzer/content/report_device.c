/* SPDX-License-Identifier: MIT */
/*
 * The report on a device (see report_doc.h): its memory at the peak, in parts, and other known memory.
 */
#include "report_doc.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

#define GROWTH_WORTH_SAYING ((uint64_t)1 << 20)

enum { LABEL = 17 };

enum { GROWING, LOST, SUSPECT, UNFREED, IN_USE, CACHE, RUNTIME, UNTRACKED, OTHERS, PARTS };

static unsigned part_of(const struct vt_site *site) {
    if (site->class == VT_CLASS_CACHE)
        return CACHE;
    if (site->class == VT_CLASS_RUNTIME || site->library_own)
        return RUNTIME;
    switch (site->verdict) {
    case VT_VERDICT_GROWING:
        return GROWING;
    case VT_VERDICT_LOST:
        return LOST;
    case VT_VERDICT_SUSPECT:
        return SUSPECT;
    case VT_VERDICT_UNFREED:
        return UNFREED;
    default:
        return IN_USE;
    }
}

/* Adds a name to a list such as "PyTorch, CuPy", once. */
static void add_name(struct vt_string *names, const char *name) {
    if (name && !(names->text && strstr(names->text, name)))
        vt_string_format(names, "%s%s", names->length ? ", " : "", name);
}

static bool was_there(const struct vt_site *site, const struct vt_device *d) {
    return (site->layer == VT_LAYER_DRIVER || site->layer == VT_LAYER_FRAMEWORK) &&
           site->device == d->ordinal && site->count_at_peak;
}

/* --- what memory is for ---
 *
 * The parts show the device at its peak, while purposes are known from snapshots. So a site's memory at the peak is
 * divided only if nearly all of it in a snapshot is for one purpose, or the snapshot shows nearly as much of it as
 * there was at the peak. */

/* The purposes of a site's memory in the snapshot that shows most of it. */
struct site_purposes {
    uint64_t bytes[VT_PURPOSES], all;
};

/* One per site of the process. Free it. */
static struct site_purposes *purposes_of_sites(const struct vt_process *p) {
    struct site_purposes *all = vt_alloc(p->site_count, sizeof *all);
    VT_SCOPED struct site_purposes *now = vt_alloc(p->site_count, sizeof *now);
    for (uint32_t i = 0; i < p->snapshot_count; i++) {
        const struct vt_snapshot *s = &p->snapshots[i];
        memset(now, 0, p->site_count * sizeof *now);
        for (uint32_t k = 0; k < s->owner_count; k++)
            for (uint32_t j = 0; j < s->owners[k].site_count; j++) {
                const struct vt_owned_site *of = &s->owners[k].sites[j];
                now[of->site].bytes[s->owners[k].purpose] += of->bytes;
                now[of->site].all += of->bytes;
            }
        for (uint32_t k = 0; k < p->site_count; k++)
            if (now[k].all > all[k].all)
                all[k] = now[k];
    }
    return all;
}

/* Adds `bytes` of a site's memory at its device's peak, as far as the purposes are known. */
static void add_purposes(const struct site_purposes *site, uint64_t at_peak, uint64_t bytes,
                         uint64_t sums[VT_PURPOSES]) {
    unsigned main = 0;
    for (unsigned i = 1; i < VT_PURPOSES; i++)
        main = site->bytes[i] > site->bytes[main] ? i : main;
    if (!site->all)
        return;
    if (site->bytes[main] >= site->all / 20 * 19)
        sums[main] += bytes;
    else if (site->all >= at_peak / 20 * 19)
        for (unsigned i = 0; i < VT_PURPOSES; i++)
            sums[i] += (uint64_t)((double)bytes * (double)site->bytes[i] / (double)site->all);
}

/* --- its parts --- */

/* Sums up the device's memory at its peak, by part. In a cache's segments, memory in use belongs to the sites of the
 * blocks; the rest is idle. */
static void sum_parts(const struct vt_subject *t, const struct vt_device *d,
                      struct vt_doc_part *parts, struct vt_string names[PARTS],
                      uint64_t purposes[PARTS][VT_PURPOSES]) {
    uint64_t blocks = 0;
    const struct vt_leak **leaks = vt_process_leaks_by_site(t->process, true);
    VT_SCOPED struct site_purposes *known = purposes_of_sites(t->process);
    for (uint32_t i = 0; i < t->process->site_count; i++) {
        const struct vt_site *site = &t->process->sites[i];
        if (!was_there(site, d))
            continue;
        unsigned part = part_of(site);
        uint64_t bytes = site->bytes_at_peak;
        if (site->layer == VT_LAYER_FRAMEWORK)
            blocks += site->bytes_at_peak;
        if (part <= UNFREED) {
            /* no more than the headline's leaked bytes; the site's other blocks were in use */
            uint64_t leaked = vt_amount_of_site(site, leaks[i]).bytes;
            bytes = bytes < leaked ? bytes : leaked;
            parts[IN_USE].bytes += site->bytes_at_peak - bytes;
            parts[IN_USE].sites += site->bytes_at_peak > bytes;
            add_purposes(&known[i], site->bytes_at_peak, site->bytes_at_peak - bytes,
                         purposes[IN_USE]);
        }
        add_purposes(&known[i], site->bytes_at_peak, bytes, purposes[part]);
        parts[part].bytes += bytes;
        parts[part].sites += bytes > 0;
        add_name(&names[part], site->class_name);
    }
    free(leaks);
    if (d->fragmentation.ratio >= 0)
        parts[CACHE].bytes -= blocks < parts[CACHE].bytes ? blocks : parts[CACHE].bytes;
    if (d->total_bytes != VT_UNKNOWN && d->untracked_bytes != VT_UNKNOWN)
        parts[UNTRACKED].bytes = d->untracked_bytes;
    if (d->total_bytes != VT_UNKNOWN && d->other_processes_bytes != VT_UNKNOWN)
        parts[OTHERS].bytes = d->other_processes_bytes;
}

/* Adds "the leak above, 2 call sites", for the bar's row of leaks, or of suspects. */
static void say_failed(const struct vt_subject *t, const struct vt_device *d, unsigned part,
                       const struct vt_doc_part *row, struct vt_string *rest) {
    const struct vt_process *p = t->process;
    uint32_t count = 0;
    uint64_t whole = 0;
    const char *noun = part == SUSPECT ? "suspect" : "leak";
    for (uint32_t i = 0; i < p->found_count; i++) {
        bool here = false;
        for (uint32_t j = 0; j < p->leaks[i].site_count && !here; j++)
            here = was_there(&p->sites[p->leaks[i].sites[j]], d) &&
                   part_of(&p->sites[p->leaks[i].sites[j]]) == part;
        count += here;
        whole += here ? vt_amount_of_leak(p, &p->leaks[i]).bytes : 0;
    }
    bool only = (part == SUSPECT ? p->suspect_count : p->leak_count) == 1;
    if (count == 1) /* an early peak may include only a part of it */
        vt_string_format(rest, "%s%s%s%s above, ", row->bytes < whole ? "part of " : "",
                         only ? "the " : "1 of the ", noun, only ? "" : "s");
    else if (count)
        vt_string_format(rest, "%u %ss, ", count, noun);
    vt_string_format(rest, "%u call site%s", row->sites, vt_plural(row->sites));
    if (!count)
        vt_string_format(rest, " that hold%s memory at the end", row->sites == 1 ? "s" : "");
}

/* The parts that are not empty, with their sentences. */
static void say_parts(const struct vt_subject *t, const struct vt_device *d,
                      struct vt_doc_part all[PARTS], const struct vt_string *names,
                      uint64_t purposes[PARTS][VT_PURPOSES], struct vt_doc *doc,
                      struct vt_doc_parts *list) {
    static const char *const said[PARTS] = {
        [CACHE] = "reserved and not in use",
        [RUNTIME] = "kept by CUDA's libraries",
        [UNTRACKED] = "contexts, loaded code (driver's figure)",
        [OTHERS] = "other processes (driver's figure)",
    };
    uint64_t sum = 0;
    bool fits = d->total_bytes != VT_UNKNOWN && d->total_bytes >= d->peak_bytes;
    list->whole = fits ? d->total_bytes : d->peak_bytes;
    for (unsigned i = 0; i < PARTS; i++) {
        struct vt_string text = {0};
        sum += all[i].bytes;
        if (!all[i].bytes)
            continue;
        if (said[i])
            vt_string_format(&text, "%s%s%s", names[i].length ? names[i].text : "",
                             names[i].length ? ", " : "", said[i]);
        else if (i <= UNFREED)
            say_failed(t, d, i, &all[i], &text);
        else
            vt_string_format(&text, "%u call site%s%s", all[i].sites, vt_plural(all[i].sites),
                             vt_process_ended_itself(t->process) ? ", freed later" : "");
        all[i].text = vt_doc_keep(doc, text.text);
        all[i].apart = i == CACHE || i == RUNTIME;
        all[i].purposes = i <= IN_USE ? vt_doc_keep(doc, vt_purposes_text(purposes[i])) : NULL;
        list->parts[list->count++] = all[i];
    }
    /* only the driver's figure shows whether others use the rest */
    bool known = all[UNTRACKED].bytes || d->untracked_bytes == 0;
    if (fits && list->whole > sum)
        list->parts[list->count++] =
            (struct vt_doc_part){.letter = '.',
                                 .name = known ? "free" : "the rest",
                                 .style = "",
                                 .bytes = list->whole - sum,
                                 .text = known ? "" : "free, or used by others"};
}

static void say_purposes(const struct vt_process *p, const struct vt_device *d,
                         struct vt_doc *doc) {
    uint64_t sums[VT_PURPOSES];
    const struct vt_snapshot *s = vt_device_purposes(p, d, sums);
    VT_SCOPED char *text = s ? vt_purposes_text(sums) : NULL;
    VT_SCOPED char *moment = text ? vt_snapshot_moment(s) : NULL;
    if (text)
        vt_doc_row(doc, "used for", "%s; %s", text, moment);
}

static void say_counts(const struct vt_device *d, struct vt_doc *doc) {
    const char *refused =
        d->failed_count ? vt_doc_text(doc, "; %s refused", VT_NUMBER(d->failed_count)) : "";
    vt_doc_row(doc, "total", "%s allocation%s, %s; %s freed%s", VT_NUMBER(d->alloc_count),
               vt_plural(d->alloc_count), VT_BYTES(d->allocated_bytes), VT_NUMBER(d->free_count),
               refused);
}

static void say_blocks(const struct vt_device *d, struct vt_doc *doc) {
    const struct vt_blocks *b = &d->blocks;
    if (!d->has_blocks)
        return;
    vt_doc_row(doc, b->name, "at most %s in use, %s at this peak%s", VT_BYTES(b->peak_bytes),
               VT_BYTES(b->at_peak_bytes), b->reserved_bytes != VT_UNKNOWN ? ";" : "");
    if (b->reserved_bytes != VT_UNKNOWN)
        vt_doc_row(doc, "", "at the end %s in use of %s reserved", VT_BYTES(b->live_bytes),
                   VT_BYTES(b->reserved_bytes));
    if (b->reported_allocated != VT_UNKNOWN)
        vt_doc_row(doc, "", "its own counters: %s allocated, %s reserved%s",
                   VT_BYTES(b->reported_allocated), VT_BYTES(b->reported_reserved),
                   b->mismatch_count ? " (they differ: see NOTE)" : "");
}

/* At the last request, not at the end: a process that drops everything leaves a cache full of idle memory, which is
 * not fragmentation. */
static void say_fragmentation(const struct vt_fragmentation *f, struct vt_doc *doc) {
    static const char label[] = "fragmentation";
    uint64_t reserved = f->last.reserved_bytes, idle = reserved - f->last.in_use_bytes;
    if (f->ratio < 0)
        vt_doc_row(doc, label, "unknown: the log does not show what pools and caches keep");
    else if (!idle)
        vt_doc_row(doc, label, "none: no reserved memory was idle");
    else if (f->last.largest_free_bytes ==
             idle) /* even if memory ran out because of it, the ratio is 0.00 */
        vt_doc_row(doc, label, "one hole at %s: %s of %s idle; nothing larger fits",
                   VT_DURATION(f->last.at), VT_BYTES(idle), VT_BYTES(reserved));
    else
        vt_doc_row(doc, label, "%.2f at %s: %s of %s idle; largest %s",
                   vt_fragmentation_ratio(idle, f->last.largest_free_bytes),
                   VT_DURATION(f->last.at), VT_BYTES(idle), VT_BYTES(reserved),
                   VT_BYTES(f->last.largest_free_bytes));
}

/* A high ratio matters only if the amount is also large. */
static bool is_alarming(double ratio, uint64_t idle, uint64_t reserved) {
    return ratio > VT_FRAGMENTATION_ALARM && idle > reserved / 16;
}

/* The moment when most idle memory could not be released; the ratio can be higher at the end. */
static void say_worst(const struct vt_fragmentation *f, struct vt_doc *doc) {
    uint64_t idle = f->worst.reserved_bytes - f->worst.in_use_bytes;
    if (f->worst.at == VT_UNKNOWN)
        return;
    double ratio = vt_fragmentation_ratio(idle, f->worst.largest_free_bytes);
    bool alarm = is_alarming(ratio, f->worst.pinned_bytes, f->worst.reserved_bytes);
    vt_doc_row(doc, "most pinned", "%s of %s idle, at %s; %.2f, largest %s%s",
               VT_BYTES(f->worst.pinned_bytes), VT_BYTES(idle), VT_DURATION(f->worst.at), ratio,
               VT_BYTES(f->worst.largest_free_bytes), alarm ? "; above 0.30" : "")
        ->kind = alarm ? VT_DOC_ALARM : VT_DOC_ROW;
}

static void say_granules(const struct vt_fragmentation *f, struct vt_doc *doc) {
    if (f->granule_waste_bytes != VT_UNKNOWN && f->granule_waste_bytes >= 16u << 20)
        vt_doc_row(doc, "rounding", "to 2 MiB pages wastes up to %s (estimate)",
                   VT_BYTES(f->granule_waste_bytes));
}

/* The driver's figure compared with the recorded one. */
static void say_compared(const struct vt_device *d, const char *said, struct vt_doc *doc) {
    bool differs = d->untracked_bytes != VT_UNKNOWN && d->untracked_bytes;
    vt_doc_row(doc, "driver", "%s%s", said,
               differs                   ? ";"
               : d->untracked_bytes == 0 ? ": matches"
                                         : "");
    if (differs)
        vt_doc_row(doc, "", "%s untracked: contexts, loaded code, driver reserve",
                   VT_BYTES(d->untracked_bytes));
}

/* NVML's figure for this process, and how its untracked memory changed. */
static void say_untracked(const struct vt_device *d, struct vt_doc *doc) {
    const struct vt_untracked *u = &d->untracked;
    say_compared(d,
                 vt_doc_text(doc, "reports %s for this process at %s",
                             VT_BYTES(d->driver_used_bytes), VT_DURATION(d->driver_used_at_ns)),
                 doc);
    if (d->other_processes_bytes != VT_UNKNOWN)
        vt_doc_row(doc, "", "%s for other processes", VT_BYTES(d->other_processes_bytes));
    if (u->samples > 1 && u->last_bytes > u->first_bytes &&
        u->last_bytes - u->first_bytes >= GROWTH_WORTH_SAYING)
        vt_doc_row(doc, "untracked", "grew from %s to %s; at most %s, at %s",
                   VT_BYTES(u->first_bytes), VT_BYTES(u->last_bytes), VT_BYTES(u->max_bytes),
                   VT_DURATION(u->max_at));
}

static void say_driver_figures(const struct vt_device *d, struct vt_doc *doc) {
    if (d->driver_used_bytes == VT_UNKNOWN)
        return;
    if (d->from_nvml) {
        say_untracked(d, doc);
        return;
    }
    const char *said =
        vt_doc_text(doc, "told the program at %s that %s was in use",
                    VT_DURATION(d->driver_used_at_ns), VT_BYTES(d->driver_used_bytes));
    if (d->other_processes_bytes != VT_UNKNOWN && d->other_processes_bytes) {
        vt_doc_row(doc, "driver", "%s;", said);
        vt_doc_row(doc, "", "%s by other processes, %s untracked",
                   VT_BYTES(d->other_processes_bytes), VT_BYTES(d->untracked_bytes));
    } else if (d->untracked_bytes == VT_UNKNOWN) {
        vt_doc_row(doc, "driver", "%s by all processes", said);
    } else {
        say_compared(d, said, doc);
    }
}

/* "NVIDIA A100   39.4 GiB   at its peak, 1:57:02". */
static char *headline(const struct vt_device *d) {
    struct vt_string s = {0};
    bool used = d->alloc_count || d->peak_bytes;
    vt_string_add(&s, d->name                           ? d->name
                      : d->ordinal == VT_DEVICE_UNKNOWN ? "(its context was not seen)"
                                                        : "");
    vt_printable(s.text);
    s.length = strlen(s.text);
    if (d->total_bytes != VT_UNKNOWN)
        vt_string_format(&s, "%s%s", s.length ? "   " : "", VT_BYTES(d->total_bytes));
    if (!used) {
        vt_string_format(&s, "%snothing was allocated", s.length ? "   " : "");
        return s.text;
    }
    vt_string_format(&s, "%sat its peak, %s", s.length ? "   " : "", VT_DURATION(d->peak_at_ns));
    if (d->total_bytes == VT_UNKNOWN || d->total_bytes < d->peak_bytes)
        vt_string_format(&s, "   %sthe bar is the peak",
                         d->total_bytes == VT_UNKNOWN ? "size not known; " : "");
    return s.text;
}

/* --- the peak --- */

/* The parts, as rows below the bar. */
static void list_parts(const struct vt_doc_parts *list, struct vt_doc *doc) {
    static const struct vt_doc_column columns[] = {
        {.title = "", .before = 2, .width = 15},
        {.title = "", .before = 1, .width = 9, .right = true},
        {.title = "", .before = 2, .width = 5, .right = true},
        {.title = "", .before = 3, .words = true}};
    vt_doc_table(doc, columns, 4);
    for (unsigned i = 0; i < list->count; i++) {
        const struct vt_doc_part *part = &list->parts[i];
        char share[64];
        vt_text_share(part->bytes, list->whole, share);
        vt_doc_cells(doc, vt_doc_text(doc, "%c  %s", part->letter, part->name),
                     VT_BYTES(part->bytes), share, part->text)
            ->style = part->style;
        if (part->purposes)
            vt_doc_add(doc, VT_DOC_MORE, part->purposes);
    }
}

/* Whether the list of held memory already shows the peak. */
static bool is_held_list(const struct vt_rows *peak, const struct vt_subject *t) {
    struct vt_rows held;
    vt_rows_make(&held, t, VT_ROWS_HELD, 0);
    bool same = held.count == peak->count;
    for (uint32_t i = 0; same && i < held.count; i++)
        same = held.rows[i].key == peak->rows[i].key && held.rows[i].bytes == peak->rows[i].bytes;
    vt_rows_free(&held);
    return same;
}

/* The peak by call site, with the rest, so that the list adds up. */
static void list_peak(const struct vt_rows *rows, const struct vt_subject *t,
                      const struct vt_doc_parts *parts, struct vt_doc *doc) {
    vt_rows_add(rows, t, doc);
    for (unsigned i = 0; i < parts->count; i++) {
        char share[64];
        if (!parts->parts[i].apart)
            continue;
        vt_text_share(parts->parts[i].bytes, rows->whole, share);
        vt_doc_cells(doc, VT_BYTES(parts->parts[i].bytes), share, parts->parts[i].text, "")
            ->sentence = true;
    }
}

static void say_peak(const struct vt_subject *t, const struct vt_device *d,
                     const struct vt_doc_parts *parts, struct vt_doc *doc) {
    struct vt_rows rows;
    vt_rows_make(&rows, t, VT_ROWS_PEAK, d->ordinal);
    rows.whole = d->peak_bytes > rows.bytes ? d->peak_bytes : rows.bytes;
    bool same = vt_report_lists_held(t) && is_held_list(&rows, t);
    vt_doc_row(doc, "peak", "%s%s", VT_BYTES(d->peak_bytes),
               same ? ", all of it held at the end" : "");
    if (!same)
        list_peak(&rows, t, parts, doc);
    vt_rows_free(&rows);
}

/* --- devices --- */

static void say_used(const struct vt_subject *t, const struct vt_device *d,
                     struct vt_doc_item *heading, struct vt_doc *doc) {
    struct vt_doc_part parts[PARTS] = {
        [GROWING] = {.letter = 'L', .name = "growing", .style = VT_STYLE_BAD},
        [LOST] = {.letter = 'X', .name = "lost", .style = VT_STYLE_BAD},
        [SUSPECT] = {.letter = 'S', .name = "suspect", .style = VT_STYLE_WARN},
        [UNFREED] = {.letter = 'U', .name = "unfreed", .style = VT_STYLE_BAD},
        [IN_USE] = {.letter = '#', .name = "in use", .style = ""},
        [CACHE] = {.letter = 'c', .name = "cache", .style = VT_STYLE_DIM},
        [RUNTIME] = {.letter = 'r', .name = "runtime", .style = VT_STYLE_DIM},
        [UNTRACKED] = {.letter = 'u', .name = "untracked", .style = VT_STYLE_DIM},
        [OTHERS] = {.letter = 'o', .name = "others", .style = VT_STYLE_WARN},
    };
    struct vt_string names[PARTS] = {{0}};
    uint64_t purposes[PARTS][VT_PURPOSES] = {{0}};
    struct vt_doc_parts *list = vt_doc_own(doc, vt_alloc(1, sizeof *list));
    heading->parts = list;
    sum_parts(t, d, parts, names, purposes);
    say_parts(t, d, parts, names, purposes, doc, list);
    if (list->count) {
        struct vt_doc_item *bar = vt_doc_add(doc, VT_DOC_BAR, NULL);
        bar->device = d;
        bar->parts = list;
        list_parts(list, doc);
    }
    say_purposes(t->process, d, doc);
    say_peak(t, d, list, doc);
    say_counts(d, doc);
    say_blocks(d, doc);
    say_fragmentation(&d->fragmentation, doc);
    say_worst(&d->fragmentation, doc);
    say_granules(&d->fragmentation, doc);
    say_driver_figures(d, doc);
    for (unsigned i = 0; i < PARTS; i++)
        vt_string_free(&names[i]);
}

static void say_device(const struct vt_subject *t, const struct vt_device *d, struct vt_doc *doc) {
    struct vt_doc_item *heading =
        vt_doc_heading(doc, VT_STYLE_HEAD, vt_doc_text(doc, "%s", VT_GPU(d->ordinal)), "%s",
                       vt_doc_keep(doc, headline(d)));
    heading->about = "device";
    heading->device = d;
    doc->column = LABEL;
    if (d->alloc_count || d->peak_bytes)
        say_used(t, d, heading, doc);
    else
        say_driver_figures(d, doc);
    if (t->options->map)
        vt_report_add_map(t, d, doc);
    vt_doc_add(doc, VT_DOC_END, NULL);
}

bool vt_report_device_used(const struct vt_device *d) {
    bool context = d->from_nvml && d->driver_used_bytes != VT_UNKNOWN && d->driver_used_bytes;
    return d->alloc_count || d->peak_bytes || d->failed_count || context;
}

/* Adds ", 2" for device `i`, or "-7" at the end of a range of three or more; nothing inside one. */
static void add_ordinal(const struct vt_process *p, const uint32_t *unused, uint32_t count,
                        uint32_t i, struct vt_string *s) {
    unsigned ordinal = p->devices[unused[i]].ordinal;
    bool after = i > 1 && p->devices[unused[i - 1]].ordinal + 1 == ordinal &&
                 p->devices[unused[i - 2]].ordinal + 2 == ordinal;
    bool inside = i && i + 1 < count && p->devices[unused[i - 1]].ordinal + 1 == ordinal &&
                  p->devices[unused[i + 1]].ordinal == ordinal + 1;
    if (inside)
        return;
    vt_string_add(s, !i ? "" : after ? "-" : ", ");
    if (ordinal == VT_DEVICE_UNKNOWN)
        vt_string_add(s, "?");
    else
        vt_string_format(s, "%u", ordinal);
}

void vt_report_add_devices(const struct vt_subject *t, struct vt_doc *doc) {
    const struct vt_process *p = t->process;
    VT_SCOPED uint32_t *unused = vt_alloc((size_t)p->device_count + 1, sizeof *unused);
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->device_count; i++)
        if (!vt_report_device_used(&p->devices[i]))
            unused[count++] = i;
    bool apart = count && count < p->device_count; /* else each has its section */
    for (uint32_t i = 0; i < p->device_count; i++)
        if (!apart || vt_report_device_used(&p->devices[i]))
            say_device(t, &p->devices[i], doc);
    if (!apart)
        return;
    struct vt_string title = {0};
    vt_string_add(&title, count > 1 ? "GPUs " : "GPU ");
    for (uint32_t i = 0; i < count; i++)
        add_ordinal(p, unused, count, i, &title);
    vt_doc_heading(doc, VT_STYLE_HEAD, vt_doc_keep(doc, title.text), "nothing was allocated")
        ->about = "device";
    vt_doc_add(doc, VT_DOC_END, NULL);
}
