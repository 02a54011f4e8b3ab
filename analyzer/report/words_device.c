/* SPDX-License-Identifier: MIT */
/*
 * What a report says of a device (see words.h): its memory at the peak, in parts; and what is known of
 * the rest.
 */
#include "fmt_text.h"
#include "words.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

#define GROWTH_WORTH_SAYING ((uint64_t)1 << 20)

static void row(struct vt_words *words, const char *label, char *text) {
    vt_words_add(words, VT_WORDS_TEXT, label, text);
}

enum { GROWING, LOST, UNFREED, IN_USE, CACHE, RUNTIME, UNTRACKED, OTHERS, PARTS };

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

/* Sums up what the device held at its peak, by part. In a cache's segments, memory in use belongs
 * to the sites of the blocks; the rest is idle. */
static void sum_parts(const struct vt_text *t, const struct vt_device *d,
                      struct vt_words_part *parts, struct vt_string names[PARTS],
                      uint64_t purposes[PARTS][VT_PURPOSES]) {
    uint64_t blocks = 0;
    const struct vt_leak **leaks = vt_process_leaks_by_site(t->process);
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

/* Adds "the leak above, 2 call sites", for the bar's row of leaks. */
static void say_failed(const struct vt_text *t, const struct vt_device *d, unsigned part,
                       const struct vt_words_part *row, struct vt_string *rest) {
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

/* The parts that are not empty, with their sentences. */
static void say_parts(const struct vt_text *t, const struct vt_device *d,
                      struct vt_words_part all[PARTS], const struct vt_string *names,
                      uint64_t purposes[PARTS][VT_PURPOSES], struct vt_words_device *words) {
    static const char *const said[PARTS] = {
        [CACHE] = "reserved and not in use",
        [RUNTIME] = "kept by CUDA's libraries",
        [UNTRACKED] = "contexts, loaded code (driver's figure)",
        [OTHERS] = "other processes (driver's figure)",
    };
    uint64_t sum = 0;
    bool fits = d->total_bytes != VT_UNKNOWN && d->total_bytes >= d->peak_bytes;
    words->whole = fits ? d->total_bytes : d->peak_bytes;
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
            vt_string_format(&text, "%u call site%s, freed later", all[i].sites,
                             vt_plural(all[i].sites));
        all[i].text = text.text;
        all[i].apart = i == CACHE || i == RUNTIME;
        all[i].purposes = i <= IN_USE ? vt_purposes_text(purposes[i]) : NULL;
        words->parts[words->part_count++] = all[i];
    }
    /* only the driver's figure shows whether others use the rest */
    bool known = all[UNTRACKED].bytes || d->untracked_bytes == 0;
    if (fits && words->whole > sum)
        words->parts[words->part_count++] =
            (struct vt_words_part){.letter = '.',
                                   .name = known ? "free" : "the rest",
                                   .style = "",
                                   .bytes = words->whole - sum,
                                   .text = vt_strdup(known ? "" : "free, or used by others")};
}

static void say_purposes(const struct vt_process *p, const struct vt_device *d,
                         struct vt_words *words) {
    uint64_t sums[VT_PURPOSES];
    const struct vt_snapshot *s = vt_device_purposes(p, d, sums);
    char *text = s ? vt_purposes_text(sums) : NULL;
    if (!text)
        return;
    char *moment = vt_snapshot_moment(s);
    row(words, "used for", vt_formatted("%s; %s", text, moment));
    free(moment);
    free(text);
}

static void say_counts(const struct vt_device *d, struct vt_words *words) {
    struct vt_string s = {0};
    vt_string_format(&s, "%s allocation%s, %s; %s freed", VT_NUMBER(d->alloc_count),
                     vt_plural(d->alloc_count), VT_BYTES(d->allocated_bytes),
                     VT_NUMBER(d->free_count));
    if (d->failed_count)
        vt_string_format(&s, "; %s refused", VT_NUMBER(d->failed_count));
    row(words, "total", s.text);
}

static void say_blocks(const struct vt_device *d, struct vt_words *words) {
    const struct vt_blocks *b = &d->blocks;
    struct vt_string s = {0};
    if (!d->has_blocks)
        return;
    vt_string_format(&s, "at most %s in use, %s at this peak", VT_BYTES(b->peak_bytes),
                     VT_BYTES(b->at_peak_bytes));
    if (b->reserved_bytes != VT_UNKNOWN)
        vt_string_add(&s, ";");
    row(words, b->name, s.text);
    if (b->reserved_bytes != VT_UNKNOWN)
        row(words, "",
            vt_formatted("at the end %s in use of %s reserved", VT_BYTES(b->live_bytes),
                         VT_BYTES(b->reserved_bytes)));
    if (b->said_allocated != VT_UNKNOWN)
        row(words, "",
            vt_formatted("its own counters: %s allocated, %s reserved%s",
                         VT_BYTES(b->said_allocated), VT_BYTES(b->said_reserved),
                         b->said_apart ? " (they differ: see NOTE)" : ""));
}

/* When memory was last asked for, not at the end: a process that drops all leaves a cache full of
 * idle memory, and that is no fragmentation. */
static void say_fragmentation(const struct vt_fragmentation *f, struct vt_words *words) {
    uint64_t reserved = f->last.reserved_bytes, idle = reserved - f->last.in_use_bytes;
    if (f->ratio < 0)
        row(words, "fragmentation",
            vt_strdup("unknown: the log does not show what pools and caches keep"));
    else if (!idle)
        row(words, "fragmentation", vt_strdup("none: no reserved memory was idle"));
    else if (f->last.largest_free_bytes ==
             idle) /* a ratio of 0.00, also where memory ran out by it */
        row(words, "fragmentation",
            vt_formatted("one hole at %s: %s of %s idle; nothing larger fits",
                         VT_DURATION(f->last.at), VT_BYTES(idle), VT_BYTES(reserved)));
    else
        row(words, "fragmentation",
            vt_formatted("%.2f at %s: %s of %s idle; largest %s",
                         vt_fragmentation_ratio(idle, f->last.largest_free_bytes),
                         VT_DURATION(f->last.at), VT_BYTES(idle), VT_BYTES(reserved),
                         VT_BYTES(f->last.largest_free_bytes)));
}

/* A high ratio matters only if the amount is large too. */
static bool is_alarming(double ratio, uint64_t idle, uint64_t reserved) {
    return ratio > VT_FRAGMENTATION_ALARM && idle > reserved / 16;
}

/* The moment when most idle memory could not be released; the ratio can be higher at the end. */
static void say_worst(const struct vt_fragmentation *f, struct vt_words *words) {
    uint64_t idle = f->worst.reserved_bytes - f->worst.in_use_bytes;
    if (f->worst.at == VT_UNKNOWN)
        return;
    double ratio = vt_fragmentation_ratio(idle, f->worst.largest_free_bytes);
    bool alarm = is_alarming(ratio, f->worst.pinned_bytes, f->worst.reserved_bytes);
    vt_words_add(words, alarm ? VT_WORDS_ALARM : VT_WORDS_TEXT, "most pinned",
                 vt_formatted("%s of %s idle, at %s; %.2f, largest %s%s",
                              VT_BYTES(f->worst.pinned_bytes), VT_BYTES(idle),
                              VT_DURATION(f->worst.at), ratio,
                              VT_BYTES(f->worst.largest_free_bytes), alarm ? "; above 0.30" : ""));
}

static void say_granules(const struct vt_fragmentation *f, struct vt_words *words) {
    if (f->granule_waste_bytes != VT_UNKNOWN && f->granule_waste_bytes >= 16u << 20)
        row(words, "rounding",
            vt_formatted("to 2 MiB pages wastes up to %s (estimate)",
                         VT_BYTES(f->granule_waste_bytes)));
}

/* How the driver's figure compares with what was recorded. */
static void say_compared(const struct vt_device *d, char *said, struct vt_words *words) {
    bool differs = d->untracked_bytes != VT_UNKNOWN && d->untracked_bytes;
    row(words, "driver",
        vt_formatted("%s%s", said,
                     differs                   ? ";"
                     : d->untracked_bytes == 0 ? ": matches"
                                               : ""));
    if (differs)
        row(words, "",
            vt_formatted("%s untracked: contexts, loaded code, driver reserve",
                         VT_BYTES(d->untracked_bytes)));
    free(said);
}

/* NVML's figure for this process, and how its untracked memory changed. */
static void say_untracked(const struct vt_device *d, struct vt_words *words) {
    const struct vt_untracked *u = &d->untracked;
    say_compared(d,
                 vt_formatted("reports %s for this process at %s", VT_BYTES(d->driver_used_bytes),
                              VT_DURATION(d->driver_used_at)),
                 words);
    if (d->other_processes_bytes != VT_UNKNOWN)
        row(words, "", vt_formatted("%s for other processes", VT_BYTES(d->other_processes_bytes)));
    if (u->samples > 1 && u->last_bytes > u->first_bytes &&
        u->last_bytes - u->first_bytes >= GROWTH_WORTH_SAYING)
        row(words, "untracked",
            vt_formatted("grew from %s to %s; at most %s, at %s", VT_BYTES(u->first_bytes),
                         VT_BYTES(u->last_bytes), VT_BYTES(u->max_bytes), VT_DURATION(u->max_at)));
}

static void say_driver_figures(const struct vt_device *d, struct vt_words *words) {
    if (d->driver_used_bytes == VT_UNKNOWN)
        return;
    if (d->from_nvml) {
        say_untracked(d, words);
        return;
    }
    char *said = vt_formatted("told the program at %s that %s was in use",
                              VT_DURATION(d->driver_used_at), VT_BYTES(d->driver_used_bytes));
    if (d->other_processes_bytes != VT_UNKNOWN && d->other_processes_bytes) {
        row(words, "driver", vt_formatted("%s;", said));
        row(words, "",
            vt_formatted("%s by other processes, %s untracked", VT_BYTES(d->other_processes_bytes),
                         VT_BYTES(d->untracked_bytes)));
    } else if (d->untracked_bytes == VT_UNKNOWN) {
        row(words, "driver", vt_formatted("%s by all processes", said));
    } else {
        say_compared(d, said, words);
        return;
    }
    free(said);
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
    vt_string_format(&s, "%sat its peak, %s", s.length ? "   " : "", VT_DURATION(d->peak_at));
    if (d->total_bytes == VT_UNKNOWN || d->total_bytes < d->peak_bytes)
        vt_string_format(&s, "   %sthe bar is the peak",
                         d->total_bytes == VT_UNKNOWN ? "size not known; " : "");
    return s.text;
}

void vt_words_device(const struct vt_text *t, const struct vt_device *d,
                     struct vt_words_device *device) {
    struct vt_words_part parts[PARTS] = {
        [GROWING] = {.letter = 'L', .name = "growing", .style = VT_STYLE_BAD},
        [LOST] = {.letter = 'X', .name = "lost", .style = VT_STYLE_BAD},
        [UNFREED] = {.letter = 'U', .name = "unfreed", .style = VT_STYLE_BAD},
        [IN_USE] = {.letter = '#', .name = "in use", .style = ""},
        [CACHE] = {.letter = 'c', .name = "cache", .style = VT_STYLE_DIM},
        [RUNTIME] = {.letter = 'r', .name = "runtime", .style = VT_STYLE_DIM},
        [UNTRACKED] = {.letter = 'u', .name = "untracked", .style = VT_STYLE_DIM},
        [OTHERS] = {.letter = 'o', .name = "others", .style = VT_STYLE_WARN},
    };
    struct vt_string names[PARTS] = {{0}};
    uint64_t purposes[PARTS][VT_PURPOSES] = {{0}};
    struct vt_words *words = &device->words;
    device->title = vt_strdup(VT_GPU(d->ordinal));
    words->headline = headline(d);
    if (!d->alloc_count && !d->peak_bytes) {
        say_driver_figures(d, words);
        return;
    }
    sum_parts(t, d, parts, names, purposes);
    say_parts(t, d, parts, names, purposes, device);
    say_purposes(t->process, d, words);
    vt_words_add(words, VT_WORDS_PEAK, "peak", vt_strdup(VT_BYTES(d->peak_bytes)));
    say_counts(d, words);
    say_blocks(d, words);
    say_fragmentation(&d->fragmentation, words);
    say_worst(&d->fragmentation, words);
    say_granules(&d->fragmentation, words);
    say_driver_figures(d, words);
    for (unsigned i = 0; i < PARTS; i++)
        vt_string_free(&names[i]);
}

bool vt_words_device_used(const struct vt_device *d) {
    bool context = d->from_nvml && d->driver_used_bytes != VT_UNKNOWN && d->driver_used_bytes;
    return d->alloc_count || d->peak_bytes || d->failed_count || context;
}

/* Adds ", 2" for device `i`, or "-7" where it ends a row of three or more; nothing inside one. */
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

bool vt_words_devices_unused(const struct vt_process *p, struct vt_words_device *words) {
    uint32_t *unused = vt_alloc((size_t)p->device_count + 1, sizeof *unused), count = 0;
    struct vt_string title = {0};
    for (uint32_t i = 0; i < p->device_count; i++)
        if (!vt_words_device_used(&p->devices[i]))
            unused[count++] = i;
    bool some = count && count < p->device_count;
    if (some) {
        vt_string_add(&title, count > 1 ? "GPUs " : "GPU ");
        for (uint32_t i = 0; i < count; i++)
            add_ordinal(p, unused, count, i, &title);
        *words = (struct vt_words_device){.title = title.text};
        words->words.headline = vt_strdup("nothing was allocated");
    }
    free(unused);
    return some;
}

void vt_words_device_free(struct vt_words_device *device) {
    for (unsigned i = 0; i < device->part_count; i++) {
        free(device->parts[i].text);
        free(device->parts[i].purposes);
    }
    free(device->title);
    vt_words_free(&device->words);
    *device = (struct vt_words_device){0};
}
