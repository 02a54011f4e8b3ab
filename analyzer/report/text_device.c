/* SPDX-License-Identifier: MIT */
/*
 * The text report's part about a device: its memory at the peak, as a bar with a row for each part;
 * and what is known of the rest.
 */
#include "fmt_text.h"
#include "words.h"

enum { LABEL = 17 };

void vt_text_bar(const struct vt_words_device *d, unsigned columns, const struct vt_text *t,
                 struct vt_string *bar) {
    const struct vt_words_part *parts = d->parts;
    unsigned used = 0;
    vt_string_add(bar, "[");
    for (unsigned i = 0; i < d->part_count; i++) {
        double share = d->whole ? (double)parts[i].bytes / (double)d->whole : 0;
        unsigned n = share < 1 ? (unsigned)(share * columns + 0.5) : columns;
        if (parts[i].bytes && !n)
            n = 1;
        if (n > columns - used)
            n = columns - used;
        vt_string_add(bar, t ? vt_text_style(t, parts[i].style) : "");
        for (unsigned j = 0; j < n; j++)
            vt_string_add_bytes(bar, &parts[i].letter, 1);
        vt_string_add(bar, t ? vt_text_style(t, VT_STYLE_NONE) : "");
        used += n;
    }
    for (; used < columns; used++)
        vt_string_add(bar, ".");
    vt_string_add(bar, "]");
}

/* The device's memory over time, below the bar. */
static void print_line(const struct vt_text *t, const struct vt_device *d) {
    struct vt_text_line line;
    if (!vt_text_line_make(d, t->width - 4, t->options->blocks, &line))
        return;
    fprintf(t->out, "   %s\n   %s%s%s\n", line.line, vt_text_style(t, VT_STYLE_DIM), line.axis,
            vt_text_style(t, VT_STYLE_NONE));
    vt_text_line_free(&line);
}

static void print_part(const struct vt_text *t, const struct vt_words_part *part, uint64_t whole) {
    fprintf(t->out, "  %s%c  %-12s%s %9s", vt_text_style(t, part->style), part->letter, part->name,
            *part->style ? vt_text_style(t, VT_STYLE_NONE) : "", VT_BYTES(part->bytes));
    if (whole) {
        char share[64];
        vt_text_share(part->bytes, whole, share);
        fprintf(t->out, "  %5s", share);
    }
    fprintf(t->out, "%s%s\n", part->text[0] ? "   " : "", part->text);
    if (part->purposes)
        vt_text_wrap(t, "", LABEL, part->purposes);
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

/* What the peak held besides the memory of call sites: with it, the list adds up. */
static void print_apart(const struct vt_text *t, const struct vt_words_part *part, uint64_t whole) {
    char share[64];
    vt_text_share(part->bytes, whole, share);
    fprintf(t->out, "%10s  %5s  %s\n", VT_BYTES(part->bytes), share, part->text);
}

/* The peak by call site. */
static void print_peak(const struct vt_text *t, const struct vt_device *d,
                       const struct vt_words_device *words, const char *bytes) {
    struct vt_rows rows;
    vt_rows_make(&rows, t, VT_ROWS_PEAK, d->ordinal);
    rows.whole = d->peak_bytes > rows.bytes ? d->peak_bytes : rows.bytes;
    bool listed = !t->process->leak_count && !vt_words_usual(t); /* else there is no such list */
    if (listed && is_held_list(&rows, t)) {
        fprintf(t->out, "  peak           %s, all of it listed above\n", bytes);
    } else {
        fprintf(t->out, "  peak           %s, made of\n", bytes);
        struct vt_doc doc = {0};
        vt_rows_add(&rows, t, &doc);
        vt_doc_print(&doc, t);
        vt_doc_free(&doc);
        for (unsigned i = 0; i < words->part_count; i++)
            if (words->parts[i].apart)
                print_apart(t, &words->parts[i], rows.whole);
    }
    vt_rows_free(&rows);
}

static void print_device(const struct vt_text *t, const struct vt_device *d) {
    struct vt_words_device words = {0};
    struct vt_doc map = {0};
    vt_words_device(t, d, &words);
    vt_text_heading(t, VT_STYLE_HEAD, words.title, words.words.headline);
    if (words.part_count) {
        struct vt_string bar = {0};
        vt_text_bar(&words, t->width - 4, t, &bar);
        fprintf(t->out, "  %s\n", bar.text);
        vt_string_free(&bar);
        print_line(t, d);
    }
    for (unsigned i = 0; i < words.part_count; i++)
        print_part(t, &words.parts[i], words.whole);
    for (uint32_t i = 0; i < words.words.count; i++)
        if (words.words.rows[i].kind == VT_WORDS_PEAK)
            print_peak(t, d, &words, words.words.rows[i].text);
        else
            vt_text_row(t, &words.words.rows[i], LABEL);
    if (t->options->map)
        vt_text_map(t, d, &map);
    vt_doc_print(&map, t);
    vt_doc_free(&map);
    vt_words_device_free(&words);
}

void vt_text_devices(const struct vt_text *t) {
    struct vt_words_device unused = {0};
    bool apart = vt_words_devices_unused(t->process, &unused);
    for (uint32_t i = 0; i < t->process->device_count; i++)
        if (!apart || vt_words_device_used(&t->process->devices[i]))
            print_device(t, &t->process->devices[i]);
    if (apart)
        vt_text_heading(t, VT_STYLE_HEAD, unused.title, unused.words.headline);
    vt_words_device_free(&unused);
}
