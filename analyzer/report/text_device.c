/* SPDX-License-Identifier: MIT */
/*
 * The text report's part about a device: its memory at the peak, as a bar with a row for each part;
 * and what is known of the rest.
 */
#include "model/model.h"
#include "fmt_text.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

#define GROWTH_WORTH_SAYING ((uint64_t)1 << 20)

static void print_part(const struct vt_text *t, char letter, const char *name, uint64_t bytes,
                       uint64_t whole, const char *rest) {
    fprintf(t->out, "  %c  %-12s %9s", letter, name, VT_BYTES(bytes));
    if (whole) {
        double share = 100.0 * (double)bytes / (double)whole;
        fprintf(t->out, "  %s%.0f %%", share < 9.5 ? "  " : share < 99.5 ? " " : "", share);
    }
    fprintf(t->out, "%s%s\n", rest[0] ? "   " : "", rest);
}

enum { GROWING, LOST, UNFREED, IN_USE, CACHE, RUNTIME, UNTRACKED, OTHERS, PARTS };

static unsigned part_of(const struct vt_site *site) {
    if (site->class == VT_CLASS_CACHE)
        return CACHE;
    if (site->class == VT_CLASS_RUNTIME)
        return RUNTIME;
    switch (site->verdict) {
    case VT_VERDICT_GROWING:
        return GROWING;
    case VT_VERDICT_LOST:
        return LOST;
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

/* For each site the leak that it is part of, or NULL. Free it. */
static const struct vt_leak **leaks_of_sites(const struct vt_process *p) {
    const struct vt_leak **leaks = vt_alloc(p->site_count, sizeof *leaks);
    for (uint32_t i = 0; i < p->leak_count; i++)
        for (uint32_t j = 0; j < p->leaks[i].site_count; j++)
            leaks[p->leaks[i].sites[j]] = &p->leaks[i];
    return leaks;
}

static bool was_there(const struct vt_site *site, const struct vt_device *d) {
    return (site->layer == VT_LAYER_DRIVER || site->layer == VT_LAYER_FRAMEWORK) &&
           site->device == d->ordinal && site->count_at_peak;
}

/* Sums up what the device held at its peak, by part. In a cache's segments, memory in use belongs
 * to the sites of the blocks; the rest is idle. */
static void sum_parts(const struct vt_text *t, const struct vt_device *d,
                      struct vt_text_part *parts, struct vt_string names[PARTS],
                      uint64_t purposes[PARTS][VT_PURPOSES]) {
    uint64_t blocks = 0;
    const struct vt_leak **leaks = leaks_of_sites(t->process);
    struct vt_site_purposes *known = vt_text_site_purposes(t->process);
    for (uint32_t i = 0; i < t->process->site_count; i++) {
        const struct vt_site *site = &t->process->sites[i];
        if (!was_there(site, d))
            continue;
        unsigned part = part_of(site);
        uint64_t bytes = site->bytes_at_peak;
        if (site->layer == VT_LAYER_FRAMEWORK)
            blocks += site->bytes_at_peak;
        if (part <= UNFREED) {
            /* not more leaked than the headline says; the site's other blocks were in use */
            uint64_t leaked = vt_amount_of_site(site, leaks[i]).bytes;
            bytes = bytes < leaked ? bytes : leaked;
            parts[IN_USE].bytes += site->bytes_at_peak - bytes;
            parts[IN_USE].sites += site->bytes_at_peak > bytes;
            vt_text_add_purposes(&known[i], site->bytes_at_peak, site->bytes_at_peak - bytes,
                                 purposes[IN_USE]);
        }
        vt_text_add_purposes(&known[i], site->bytes_at_peak, bytes, purposes[part]);
        parts[part].bytes += bytes;
        parts[part].sites += bytes > 0;
        add_name(&names[part], site->class_name);
    }
    free(leaks);
    free(known);
    if (d->fragmentation.ratio >= 0)
        parts[CACHE].bytes -= blocks < parts[CACHE].bytes ? blocks : parts[CACHE].bytes;
    if (d->total_bytes != VT_UNKNOWN && d->untracked_bytes != VT_UNKNOWN)
        parts[UNTRACKED].bytes = d->untracked_bytes;
    if (d->total_bytes != VT_UNKNOWN && d->other_processes_bytes != VT_UNKNOWN)
        parts[OTHERS].bytes = d->other_processes_bytes;
}

/* The end of a sentence about the driver's figure: how it compares with what was recorded. */
static void print_compared(const struct vt_text *t, const struct vt_device *d) {
    if (d->untracked_bytes == 0)
        fputs(": matches\n", t->out);
    else if (d->untracked_bytes != VT_UNKNOWN)
        fprintf(t->out, ";\n%17s%s untracked: contexts, loaded code, driver reserve\n", "",
                VT_BYTES(d->untracked_bytes));
    else
        fputc('\n', t->out);
}

/* NVML's figure for this process, and how its untracked memory changed. */
static void print_untracked(const struct vt_text *t, const struct vt_device *d) {
    const struct vt_untracked *u = &d->untracked;
    fprintf(t->out, "  driver         reports %s for this process at %s",
            VT_BYTES(d->driver_used_bytes), VT_DURATION(d->driver_used_at));
    print_compared(t, d);
    if (d->other_processes_bytes != VT_UNKNOWN)
        fprintf(t->out, "%17s%s for other processes\n", "", VT_BYTES(d->other_processes_bytes));
    if (u->samples > 1 && u->last_bytes > u->first_bytes &&
        u->last_bytes - u->first_bytes >= GROWTH_WORTH_SAYING)
        fprintf(t->out, "  untracked      grew from %s to %s; at most %s, at %s\n",
                VT_BYTES(u->first_bytes), VT_BYTES(u->last_bytes), VT_BYTES(u->max_bytes),
                VT_DURATION(u->max_at));
}

static void print_driver_figures(const struct vt_text *t, const struct vt_device *d) {
    if (d->driver_used_bytes == VT_UNKNOWN)
        return;
    if (d->from_nvml) {
        print_untracked(t, d);
        return;
    }
    fprintf(t->out, "  driver         told the program at %s that %s was in use",
            VT_DURATION(d->driver_used_at), VT_BYTES(d->driver_used_bytes));
    if (d->other_processes_bytes != VT_UNKNOWN && d->other_processes_bytes)
        fprintf(t->out, ";\n%17s%s by other processes, %s untracked\n", "",
                VT_BYTES(d->other_processes_bytes), VT_BYTES(d->untracked_bytes));
    else if (d->untracked_bytes == VT_UNKNOWN)
        fputs(" by all processes\n", t->out);
    else
        print_compared(t, d);
}

/* A high ratio matters only if the amount is large too. */
static bool is_alarming(double ratio, uint64_t idle, uint64_t reserved) {
    return ratio > VT_FRAGMENTATION_ALARM && idle > reserved / 16;
}

/* The moment when most idle memory could not be released. */
static void print_worst(const struct vt_text *t, const struct vt_fragmentation *f) {
    uint64_t idle = f->worst.reserved_bytes - f->worst.in_use_bytes;
    if (f->worst.at == VT_UNKNOWN)
        return;
    double ratio = vt_fragmentation_ratio(idle, f->worst.largest_free_bytes);
    bool alarm = is_alarming(ratio, f->worst.pinned_bytes, f->worst.reserved_bytes);
    fprintf(t->out, "  at its worst   %s%.2f at %s%s: %s idle; largest %s%s\n",
            vt_text_style(t, alarm ? VT_STYLE_WARN : ""), ratio, VT_DURATION(f->worst.at),
            vt_text_style(t, alarm ? VT_STYLE_NONE : ""), VT_BYTES(idle),
            VT_BYTES(f->worst.largest_free_bytes), alarm ? "; above 0.30" : "");
}

static void print_blocks(const struct vt_text *t, const struct vt_device *d) {
    const struct vt_blocks *b = &d->blocks;
    if (!d->has_blocks)
        return;
    fprintf(t->out, "  %-13s  at most %s in use, %s at this peak", b->name, VT_BYTES(b->peak_bytes),
            VT_BYTES(b->at_peak_bytes));
    if (b->reserved_bytes != VT_UNKNOWN)
        fprintf(t->out, ";\n%17sat the end %s in use of %s reserved", "", VT_BYTES(b->live_bytes),
                VT_BYTES(b->reserved_bytes));
    fputc('\n', t->out);
    if (b->said_allocated != VT_UNKNOWN)
        fprintf(t->out, "%17sits own counters: %s allocated, %s reserved%s\n", "",
                VT_BYTES(b->said_allocated), VT_BYTES(b->said_reserved),
                b->said_apart ? " (they differ: see NOTE)" : "");
}

static void print_granules(const struct vt_text *t, const struct vt_fragmentation *f) {
    if (f->granule_waste_bytes == VT_UNKNOWN || f->granule_waste_bytes < 16u << 20)
        return;
    fprintf(t->out, "  rounding       to 2 MiB pages wastes up to %s (estimate)\n",
            VT_BYTES(f->granule_waste_bytes));
}

/* When memory was last asked for, not at the end: a process that drops all leaves a cache full of
 * idle memory, and that is no fragmentation. */
static void print_fragmentation(const struct vt_text *t, const struct vt_fragmentation *f) {
    uint64_t reserved = f->last.reserved_bytes, idle = reserved - f->last.in_use_bytes;
    if (f->ratio < 0)
        fputs("  fragmentation  unknown: the log does not show what pools and caches keep\n",
              t->out);
    else if (!idle)
        fputs("  fragmentation  none: no reserved memory was idle at the end\n", t->out);
    else
        fprintf(t->out, "  fragmentation  %.2f: %s of %s reserved is idle; largest %s\n",
                vt_fragmentation_ratio(idle, f->last.largest_free_bytes), VT_BYTES(idle),
                VT_BYTES(reserved), VT_BYTES(f->last.largest_free_bytes));
}

/* Whether the list of held memory shows the peak already. */
static bool is_held_list(const struct vt_rows *peak, const struct vt_text *t) {
    struct vt_rows held;
    vt_rows_make(&held, t, VT_ROWS_HELD, 0);
    bool same = held.count == peak->count;
    for (uint32_t i = 0; same && i < held.count; i++)
        same = held.rows[i].key == peak->rows[i].key && held.rows[i].bytes == peak->rows[i].bytes;
    vt_rows_free(&held);
    return same;
}

/* The peak by call site. */
static void print_peak(const struct vt_text *t, const struct vt_device *d) {
    struct vt_rows rows;
    vt_rows_make(&rows, t, VT_ROWS_PEAK, d->ordinal);
    const char *bytes = VT_BYTES(d->peak_bytes);
    bool listed = !t->process->leak_count && !vt_text_is_usual(t); /* else there is no such list */
    if (listed && is_held_list(&rows, t)) {
        fprintf(t->out, "  peak           %s, all of it listed above\n", bytes);
    } else {
        fprintf(t->out, "  peak           %s, made of\n", bytes);
        vt_rows_print(&rows, t);
    }
    vt_rows_free(&rows);
}

static void print_counts(const struct vt_text *t, const struct vt_device *d) {
    fprintf(t->out, "  total          %s allocation%s, %s; %s freed", VT_NUMBER(d->alloc_count),
            vt_plural(d->alloc_count), VT_BYTES(d->allocated_bytes), VT_NUMBER(d->free_count));
    if (d->failed_count)
        fprintf(t->out, "; %s refused", VT_NUMBER(d->failed_count));
    fputc('\n', t->out);
}

/* Adds "the leak above, 2 call sites", for the bar's row of leaks. */
static void say_failed(const struct vt_text *t, const struct vt_device *d, unsigned part,
                       const struct vt_text_part *row, struct vt_string *rest) {
    const struct vt_process *p = t->process;
    uint32_t count = 0;
    uint64_t whole = 0;
    for (uint32_t i = 0; i < p->leak_count; i++) {
        bool here = false;
        for (uint32_t j = 0; j < p->leaks[i].site_count && !here; j++)
            here = was_there(&p->sites[p->leaks[i].sites[j]], d) &&
                   part_of(&p->sites[p->leaks[i].sites[j]]) == part;
        count += here;
        whole += here ? vt_amount_of_leak(p, &p->leaks[i]).bytes : 0;
    }
    if (count == 1) /* an early peak may include only a part of it */
        vt_string_format(rest, "%s%s, ", row->bytes < whole ? "part of " : "",
                         p->leak_count == 1 ? "the leak above" : "1 of the leaks above");
    else if (count)
        vt_string_format(rest, "%u leaks, ", count);
    vt_string_format(rest, "%u call site%s", row->sites, vt_plural(row->sites));
    if (!count)
        vt_string_format(rest, " that hold%s memory at the end", row->sites == 1 ? "s" : "");
}

static void print_parts(const struct vt_text *t, const struct vt_device *d,
                        const struct vt_text_part *parts, const struct vt_string *names,
                        uint64_t purposes[PARTS][VT_PURPOSES]) {
    static const char *const said[PARTS] = {
        [CACHE] = "reserved and not in use",
        [RUNTIME] = "kept by CUDA's libraries",
        [UNTRACKED] = "contexts, loaded code (driver's figure)",
        [OTHERS] = "other processes (driver's figure)",
    };
    uint64_t sum = 0;
    for (unsigned i = 0; i < PARTS; i++)
        sum += parts[i].bytes;
    bool fits = d->total_bytes != VT_UNKNOWN && d->total_bytes >= d->peak_bytes;
    uint64_t whole = fits ? d->total_bytes : d->peak_bytes;
    vt_text_bar(t, parts, PARTS, whole);
    for (unsigned i = 0; i < PARTS; i++) {
        struct vt_string rest = {0};
        if (!parts[i].bytes)
            continue;
        if (said[i])
            vt_string_format(&rest, "%s%s%s", names[i].length ? names[i].text : "",
                             names[i].length ? ", " : "", said[i]);
        else if (i <= UNFREED)
            say_failed(t, d, i, &parts[i], &rest);
        else
            vt_string_format(&rest, "%u call site%s, freed later", parts[i].sites,
                             vt_plural(parts[i].sites));
        print_part(t, parts[i].letter, parts[i].name, parts[i].bytes, whole, rest.text);
        vt_string_free(&rest);
        char *text = i <= IN_USE ? vt_purposes_text(purposes[i]) : NULL;
        if (text)
            vt_text_wrap(t, "", 17, text);
        free(text);
    }
    /* only the driver's figure shows whether others use the rest */
    bool known = parts[UNTRACKED].bytes || d->untracked_bytes == 0;
    if (fits && whole > sum)
        print_part(t, '.', known ? "free" : "the rest", whole - sum, whole,
                   known ? "" : "free, or used by others");
}

void vt_text_device(const struct vt_text *t, const struct vt_device *d) {
    struct vt_text_part parts[PARTS] = {
        [GROWING] = {'L', "growing", 0, 0, VT_STYLE_BAD},
        [LOST] = {'X', "lost", 0, 0, VT_STYLE_BAD},
        [UNFREED] = {'U', "unfreed", 0, 0, VT_STYLE_BAD},
        [IN_USE] = {'#', "in use", 0, 0, ""},
        [CACHE] = {'c', "cache", 0, 0, VT_STYLE_DIM},
        [RUNTIME] = {'r', "runtime", 0, 0, VT_STYLE_DIM},
        [UNTRACKED] = {'u', "untracked", 0, 0, VT_STYLE_DIM},
        [OTHERS] = {'o', "others", 0, 0, VT_STYLE_WARN},
    };
    struct vt_string names[PARTS] = {{0}};
    uint64_t purposes[PARTS][VT_PURPOSES] = {{0}};
    struct vt_string title = {0}, rest = {0};
    if (d->ordinal == VT_DEVICE_UNKNOWN)
        vt_string_add(&title, "GPU ?");
    else
        vt_string_format(&title, "GPU %u", d->ordinal);
    vt_string_add(&rest, d->name                           ? d->name
                         : d->ordinal == VT_DEVICE_UNKNOWN ? "(its context was not seen)"
                                                           : "");
    vt_printable(rest.text);
    rest.length = strlen(rest.text);
    if (d->total_bytes != VT_UNKNOWN)
        vt_string_format(&rest, "%s%s", rest.length ? "   " : "", VT_BYTES(d->total_bytes));
    if (!d->alloc_count && !d->peak_bytes) {
        vt_string_format(&rest, "%snothing was allocated", rest.length ? "   " : "");
        vt_text_heading(t, VT_STYLE_HEAD, title.text, rest.text);
        print_driver_figures(t, d);
        vt_string_free(&title);
        vt_string_free(&rest);
        return;
    }
    bool whole = d->total_bytes != VT_UNKNOWN && d->total_bytes >= d->peak_bytes;
    vt_string_format(&rest, "%sat its peak, %s", rest.length ? "   " : "", VT_DURATION(d->peak_at));
    if (!whole)
        vt_string_format(&rest, "   %sthe bar is the peak",
                         d->total_bytes == VT_UNKNOWN ? "size not known; " : "");
    vt_text_heading(t, VT_STYLE_HEAD, title.text, rest.text);
    sum_parts(t, d, parts, names, purposes);
    print_parts(t, d, parts, names, purposes);
    vt_text_purposes(t, d);
    print_peak(t, d);
    print_counts(t, d);
    print_blocks(t, d);
    print_fragmentation(t, &d->fragmentation);
    print_worst(t, &d->fragmentation);
    print_granules(t, &d->fragmentation);
    print_driver_figures(t, d);
    if (t->options->map)
        vt_text_map(t, d);
    for (unsigned i = 0; i < PARTS; i++)
        vt_string_free(&names[i]);
    vt_string_free(&title);
    vt_string_free(&rest);
}
