/* SPDX-License-Identifier: MIT */
/*
 * The text report's picture of a device: at its peak, as a bar, with what it was made of; and what
 * is known of the rest.
 */
#include "fmt_text.h"

#include "vramtrace/log_format.h"

#include <string.h>

enum { BAR_COLUMNS = 76 };

/* A part of the bar. */
struct part {
    char letter;
    const char *name;
    uint64_t bytes;
    uint32_t sites;
    const char *style;
};

/* Each part its share of the columns; one that is there at all gets one, so that nothing is hidden.
 */
static void print_bar(const struct vt_text *t, const struct part *parts, unsigned count,
                      uint64_t whole) {
    unsigned columns = 0;
    fputs("  [", t->out);
    for (unsigned i = 0; i < count; i++) {
        unsigned n =
            whole ? (unsigned)((double)parts[i].bytes / (double)whole * BAR_COLUMNS + 0.5) : 0;
        if (parts[i].bytes && !n)
            n = 1;
        if (n > BAR_COLUMNS - columns)
            n = BAR_COLUMNS - columns;
        fputs(vt_text_style(t, parts[i].style), t->out);
        for (unsigned j = 0; j < n; j++)
            fputc(parts[i].letter, t->out);
        fputs(vt_text_style(t, VT_STYLE_NONE), t->out);
        columns += n;
    }
    for (; columns < BAR_COLUMNS; columns++)
        fputc('.', t->out);
    fputs("]\n", t->out);
}

static void print_part(const struct vt_text *t, char letter, const char *name, uint64_t bytes,
                       uint64_t whole, const char *rest) {
    char text[VT_FORMAT_BYTES];
    fprintf(t->out, "  %c  %-12s %9s", letter, name, vt_format_bytes(bytes, text));
    if (whole) {
        double share = 100.0 * (double)bytes / (double)whole;
        fprintf(t->out, "  %s%.0f %%", share < 9.5 ? "  " : share < 99.5 ? " " : "", share);
    }
    fprintf(t->out, "%s%s\n", rest[0] ? "   " : "", rest);
}

static void sum_parts(const struct vt_text *t, const struct vt_device *d, struct part parts[2]) {
    for (uint32_t i = 0; i < t->process->site_count; i++) {
        const struct vt_site *site = &t->process->sites[i];
        if (site->layer != VT_LAYER_DRIVER || site->device != d->ordinal || !site->count_at_peak)
            continue;
        struct part *part = &parts[site->verdict == VT_VERDICT_FREED];
        part->bytes += site->bytes_at_peak;
        part->sites++;
    }
}

static void print_driver_figures(const struct vt_text *t, const struct vt_device *d) {
    char a[VT_FORMAT_BYTES], b[VT_FORMAT_BYTES], c[VT_FORMAT_BYTES];
    if (d->driver_used_bytes == VT_UNKNOWN)
        return;
    fprintf(t->out, "  driver's word  %s used, when the program asked at %s",
            vt_format_bytes(d->driver_used_bytes, a), vt_format_duration(d->driver_used_at, b));
    if (d->untracked_bytes == 0)
        fputs(": as in these books\n", t->out);
    else if (d->untracked_bytes != VT_UNKNOWN)
        fprintf(t->out, ";\n%17s%s of it not in these books\n", "",
                vt_format_bytes(d->untracked_bytes, c));
    else
        fprintf(t->out, ",\n%17sby all processes together\n", "");
}

static void print_fragmentation(const struct vt_text *t, const struct vt_fragmentation *f) {
    char a[VT_FORMAT_BYTES], b[VT_FORMAT_BYTES], c[VT_FORMAT_BYTES];
    if (f->ratio < 0)
        fputs("  fragmentation  unknown: what its pools or caches keep is not in the log\n",
              t->out);
    else if (!f->free_bytes)
        fputs("  fragmentation  none: nothing was reserved and idle at the end\n", t->out);
    else
        fprintf(t->out, "  fragmentation  %.2f: %s of %s reserved are idle, %s in one piece\n",
                f->ratio, vt_format_bytes(f->free_bytes, a), vt_format_bytes(f->reserved_bytes, b),
                vt_format_bytes(f->largest_free_bytes, c));
}

/* Whether the list of what is held says already what the peak was made of. */
static bool is_held_list(const struct vt_rows *peak, const struct vt_text *t) {
    struct vt_rows held;
    vt_rows_make(&held, t, VT_ROWS_HELD, 0);
    bool same = held.count == peak->count;
    for (uint32_t i = 0; same && i < held.count; i++)
        same = held.rows[i].key == peak->rows[i].key && held.rows[i].bytes == peak->rows[i].bytes;
    vt_rows_free(&held);
    return same;
}

/* What the peak was made of, by place. */
static void print_peak(const struct vt_text *t, const struct vt_device *d) {
    struct vt_rows rows;
    char bytes[VT_FORMAT_BYTES];
    vt_rows_make(&rows, t, VT_ROWS_PEAK, d->ordinal);
    vt_format_bytes(d->peak_bytes, bytes);
    if (is_held_list(&rows, t)) {
        fprintf(t->out, "  peak           %s, made of just what is listed above\n", bytes);
    } else {
        fprintf(t->out, "  peak           %s, made of\n", bytes);
        vt_rows_print(&rows, t);
    }
    vt_rows_free(&rows);
}

static void print_counts(const struct vt_text *t, const struct vt_device *d) {
    char a[VT_FORMAT_BYTES], f[VT_FORMAT_BYTES], b[VT_FORMAT_BYTES], m[VT_FORMAT_BYTES];
    fprintf(t->out, "  in all         %s allocation%s of %s, %s freed",
            vt_format_count(d->alloc_count, a), d->alloc_count == 1 ? "" : "s",
            vt_format_bytes(d->allocated_bytes, b), vt_format_count(d->free_count, f));
    if (d->failed_count)
        fprintf(t->out, "; %s refused", vt_format_count(d->failed_count, m));
    fputc('\n', t->out);
}

void vt_text_device(const struct vt_text *t, const struct vt_device *d) {
    struct part parts[2] = {{'U', "unfreed", 0, 0, VT_STYLE_BAD}, {'#', "freed", 0, 0, ""}};
    struct vt_string title = {0}, rest = {0};
    char bytes[VT_FORMAT_BYTES], at[VT_FORMAT_BYTES];
    if (d->ordinal == VT_DEVICE_UNKNOWN)
        vt_string_add(&title, "GPU ?");
    else
        vt_string_format(&title, "GPU %u", d->ordinal);
    vt_string_add(&rest, d->name                           ? d->name
                         : d->ordinal == VT_DEVICE_UNKNOWN ? "(its context was not seen)"
                                                           : "");
    if (d->total_bytes != VT_UNKNOWN)
        vt_string_format(&rest, "%s%s", rest.length ? "   " : "",
                         vt_format_bytes(d->total_bytes, bytes));
    if (!d->alloc_count && !d->peak_bytes) {
        vt_string_format(&rest, "%snothing was allocated", rest.length ? "   " : "");
        vt_text_heading(t, VT_STYLE_HEAD, title.text, rest.text);
        print_driver_figures(t, d);
        vt_string_free(&title);
        vt_string_free(&rest);
        return;
    }
    vt_string_format(&rest, "%sat its peak, %s", rest.length ? "   " : "",
                     vt_format_duration(d->peak_at, at));
    vt_text_heading(t, VT_STYLE_HEAD, title.text, rest.text);
    sum_parts(t, d, parts);
    uint64_t whole =
        d->total_bytes == VT_UNKNOWN || d->total_bytes < d->peak_bytes ? 0 : d->total_bytes;
    print_bar(t, parts, 2, whole ? whole : d->peak_bytes);
    for (unsigned i = 0; i < 2; i++) {
        char sites[64];
        bool one = parts[i].sites == 1;
        snprintf(sites, sizeof sites, "%u call site%s that %s", parts[i].sites, one ? "" : "s",
                 i     ? "freed everything"
                 : one ? "holds memory at the end"
                       : "hold memory at the end");
        if (parts[i].bytes)
            print_part(t, parts[i].letter, parts[i].name, parts[i].bytes,
                       whole ? whole : d->peak_bytes, sites);
    }
    if (whole)
        print_part(t, '.', "the rest", whole - d->peak_bytes, whole,
                   "free, or not this program's allocations");
    print_peak(t, d);
    print_counts(t, d);
    print_fragmentation(t, &d->fragmentation);
    print_driver_figures(t, d);
    vt_string_free(&title);
    vt_string_free(&rest);
}
