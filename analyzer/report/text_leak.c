/* SPDX-License-Identifier: MIT */
/*
 * The text report's first part: each leak, with its size, where it was allocated, since when, how
 * long until the device is full, and the evidence.
 */
#include "model/model.h"
#include "fmt_text.h"
#include "words.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>

enum { LEAKS_SHOWN = 3, PATHS_SHOWN = 5, LABEL = 16, CALLED_BY = 10 /* "called by " */ };

/* A line for a site: what it holds, where its path differs from the others', its id. */
static void print_path(const struct vt_text *t, const struct vt_leak *leak, uint32_t i) {
    const struct vt_process *p = t->process;
    const struct vt_site *site = &p->sites[leak->sites[i]], *other = &p->sites[leak->sites[!i]];
    const struct vt_frame *caller = vt_rows_parting(site, other);
    const struct vt_frame *user_callers[VT_CALLERS];
    if (!caller && vt_rows_same_line(site, other) && vt_rows_callers(site->stack, user_callers))
        caller = user_callers[0]; /* instances of the same template */
    unsigned width = t->width - LABEL - 11 - t->digits - 2 - (caller ? CALLED_BY : 0);
    char *frame_text =
        caller ? vt_frame_text(p, caller, width) : vt_stack_text(p, site->stack, width, false);
    int pad = (int)(width - (t->width - VT_TEXT_WIDTH)) - (int)vt_frame_text_columns(frame_text);
    fprintf(t->out, "  %-*s%9s  %s%s%*s  %.*s\n", LABEL - 2, i ? "" : "sites",
            VT_BYTES(vt_amount_of_site(site, leak).bytes), caller ? "called by " : "", frame_text,
            pad > 0 ? pad : 0, "", (int)t->digits, site->name);
    free(frame_text);
    /* name a caller outside the helper's file, unless the frame above is it or further out */
    const struct vt_frame *outer = vt_rows_caller_elsewhere(site->stack);
    if (outer && (!caller || caller < outer)) {
        frame_text = vt_frame_text(p, outer, t->width - LABEL - 11 - CALLED_BY);
        fprintf(t->out, "%*scalled by %s\n", LABEL + 11, "", frame_text);
        free(frame_text);
    }
}

/* Chooses the sites to show: the largest, and the largest of each further line. Free it. */
static bool *choose_sites(const struct vt_process *p, const struct vt_leak *leak) {
    bool *shown = vt_alloc(leak->site_count, sizeof *shown);
    struct vt_map lines = {0};
    for (uint32_t i = 0; i < leak->site_count; i++) {
        uint64_t line = vt_site_line_key(&p->sites[leak->sites[i]]);
        shown[i] = i < PATHS_SHOWN || vt_map_get(&lines, line) == VT_MAP_NONE;
        vt_map_put(&lines, line, i);
    }
    vt_map_free(&lines);
    return shown;
}

/* The ids of a leak's sites, with what each holds if there are several. */
static void print_sites(const struct vt_text *t, const struct vt_leak *leak) {
    uint64_t left_bytes = 0;
    uint32_t left = 0;
    if (leak->site_count < 2) {
        fprintf(t->out, "  %-*s%.*s\n", LABEL - 2, "site", (int)t->digits,
                t->process->sites[leak->sites[0]].name);
        return;
    }
    bool *shown = choose_sites(t->process, leak);
    for (uint32_t i = 0; i < leak->site_count; i++) {
        if (shown[i]) {
            print_path(t, leak, i);
            continue;
        }
        left_bytes += vt_amount_of_site(&t->process->sites[leak->sites[i]], leak).bytes;
        left++;
    }
    if (left)
        fprintf(t->out, "%*s%9s  in %u more call site%s of these lines\n", LABEL, "",
                VT_BYTES(left_bytes), left, vt_plural(left));
    free(shown);
}

/* Where it was allocated, with the source line beside it if there is room. */
static void print_place(const struct vt_text *t, const struct vt_words_row *row) {
    unsigned columns = LABEL + vt_frame_text_columns(row->text);
    fprintf(t->out, "  %-*s%s%s%s", LABEL - 2, row->label, vt_text_style(t, VT_STYLE_HEAD),
            row->text, vt_text_style(t, VT_STYLE_NONE));
    if (row->source && columns + 3 + vt_frame_text_columns(row->source) <= t->width)
        fprintf(t->out, "   %s\n", row->source);
    else if (row->source)
        fprintf(t->out, "\n%*s%s\n", LABEL, "", row->source);
    else
        fputc('\n', t->out);
}

static void print_leak(const struct vt_text *t, const struct vt_leak *leak) {
    struct vt_words words = {0};
    vt_words_leak(t, leak, &words);
    vt_text_heading(t, VT_STYLE_BAD, "LEAK", words.headline);
    for (uint32_t i = 0; i < words.count; i++)
        if (words.rows[i].kind == VT_WORDS_PLACE)
            print_place(t, &words.rows[i]);
        else
            vt_text_row(t, &words.rows[i], LABEL);
    print_sites(t, leak);
    if (words.remark)
        fprintf(t->out, "  %s\n", words.remark);
    vt_words_free(&words);
}

/* A leak that is not shown in full: a row for each line, with the sum of its sites. */
static void print_lines(const struct vt_text *t, const struct vt_leak *leak) {
    const struct vt_process *p = t->process;
    struct vt_map lines = {0};
    uint64_t *bytes = vt_alloc(leak->site_count, sizeof *bytes);
    unsigned width = t->width - 2 - 9 - 2 - 2 - t->digits;
    for (uint32_t i = 0; i < leak->site_count; i++) {
        const struct vt_site *site = &p->sites[leak->sites[i]];
        uint64_t key = vt_site_line_key(site);
        if (vt_map_get(&lines, key) == VT_MAP_NONE)
            vt_map_put(&lines, key, i);
        bytes[vt_map_get(&lines, key)] += vt_amount_of_site(site, leak).bytes;
    }
    for (uint32_t i = 0; i < leak->site_count; i++) {
        const struct vt_site *site = &p->sites[leak->sites[i]];
        if (vt_map_get(&lines, vt_site_line_key(site)) != i)
            continue;
        char *frame_text = vt_stack_text(p, site->stack, width, false);
        int pad =
            (int)(width - (t->width - VT_TEXT_WIDTH)) - (int)vt_frame_text_columns(frame_text);
        fprintf(t->out, "  %9s  %s%*s  %.*s\n", VT_BYTES(bytes[i]), frame_text, pad > 0 ? pad : 0,
                "", (int)t->digits, site->name);
        free(frame_text);
    }
    vt_map_free(&lines);
    free(bytes);
}

void vt_text_leaks(const struct vt_text *t) {
    const struct vt_process *p = t->process;
    uint32_t most = t->options->top ? t->options->top : LEAKS_SHOWN, shown = 0;
    for (; shown < p->leak_count && shown < most; shown++)
        print_leak(t, &p->leaks[shown]);
    if (shown < p->leak_count)
        fprintf(t->out, "\n%u more leak%s, %s (--top %u shows %s in full)\n", p->leak_count - shown,
                vt_plural(p->leak_count - shown), VT_BYTES(vt_amount_leaked(p, shown)),
                p->leak_count, p->leak_count - shown == 1 ? "it" : "them");
    for (uint32_t i = shown; i < p->leak_count; i++)
        print_lines(t, &p->leaks[i]);
}
