/* SPDX-License-Identifier: MIT */
/*
 * The call sites of the HTML page: the largest by each figure; sums of the others, and their frames' names.
 */
#include "html.h"

#include "vramtrace/log_format.h"

#include <string.h>

enum { NAME_COLUMNS = 120, MARKED_OF_EACH = 64 };

/* --- places --- */

void vt_html_device(struct vt_json *j, const char *name, unsigned device) {
    if (device == VT_DEVICE_HOST)
        vt_json_string(j, name, "host");
    else
        vt_json_number(j, name, device == VT_DEVICE_UNKNOWN ? VT_UNKNOWN : device);
}

void vt_html_site(const struct vt_html *h, const char *name, uint32_t site) {
    uint32_t place = site == VT_NO_SITE ? VT_NO_SITE : h->page_site[site];
    vt_json_number(h->json, name, place == VT_NO_SITE ? VT_UNKNOWN : place);
}

void vt_html_site_list(const struct vt_html *h, const char *name, const uint32_t *sites,
                       uint32_t count) {
    for (uint32_t i = 0; vt_json_items(h->json, name, i, count); i++)
        if (sites[i] != VT_NO_SITE && h->page_site[sites[i]] != VT_NO_SITE)
            vt_html_site(h, NULL, sites[i]);
}

/* --- the choice --- */

enum figure { LIVE, AT_PEAK, PEAK, ALLOCATED, COUNT, FIGURES };

static uint64_t figure_of_site(const struct vt_site *site, enum figure which) {
    return which == LIVE        ? site->live_bytes
           : which == AT_PEAK   ? site->bytes_at_peak
           : which == PEAK      ? site->peak_bytes
           : which == ALLOCATED ? site->allocated_bytes
                                : site->alloc_count;
}

struct ranked {
    uint64_t value;
    uint32_t site;
};

static int larger_first(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    return VT_ORDER({y->value, x->value}, {x->site, y->site});
}

static void mark_site(struct vt_html *h, uint32_t site) {
    if (site == VT_NO_SITE || h->page_site[site] != VT_NO_SITE || h->site_count >= h->bounds.sites)
        return;
    h->page_site[site] = 0;
    h->site_count++;
}

static void mark_sites(struct vt_html *h, const uint32_t *sites, uint32_t count) {
    for (uint32_t i = 0; i < count && i < MARKED_OF_EACH; i++)
        mark_site(h, sites[i]);
}

/* Sites named in words and pictures. */
static void mark_named(struct vt_html *h) {
    const struct vt_process *p = h->process;
    for (uint32_t i = 0; i < p->site_count && h->options->site; i++)
        if (vt_site_wanted(&p->sites[i], h->options->site))
            mark_site(h, i);
    for (uint32_t i = 0; i < p->leak_count; i++)
        mark_sites(h, p->leaks[i].sites, p->leaks[i].site_count);
    for (uint32_t i = 0; i < p->oom_count; i++)
        mark_sites(h, p->ooms[i].holders, p->ooms[i].holder_count);
    for (uint32_t i = 0; p->timeline && i < p->timeline->course_count; i++)
        for (uint32_t k = 0; k < p->timeline->courses[i].band_count; k++)
            mark_sites(h, p->timeline->courses[i].bands[k].sites,
                       p->timeline->courses[i].bands[k].site_count);
}

/* The largest by each figure in turn. */
static void mark_largest(struct vt_html *h) {
    const struct vt_process *p = h->process;
    VT_SCOPED struct ranked *ranked = vt_alloc((size_t)p->site_count * FIGURES, sizeof *ranked);
    for (unsigned f = 0; f < FIGURES; f++) {
        struct ranked *of = ranked + (size_t)f * p->site_count;
        for (uint32_t i = 0; i < p->site_count; i++)
            of[i] = (struct ranked){figure_of_site(&p->sites[i], (enum figure)f), i};
        vt_sort(of, p->site_count, sizeof *of, larger_first);
    }
    for (uint32_t i = 0; i < p->site_count; i++)
        for (unsigned f = 0; f < FIGURES; f++)
            mark_site(h, ranked[(size_t)f * p->site_count + i].site);
}

uint32_t *vt_html_sites_choose(struct vt_html *h) {
    const struct vt_process *p = h->process;
    uint32_t place = 0;
    h->page_site = vt_alloc(p->site_count, sizeof *h->page_site);
    for (uint32_t i = 0; i < p->site_count; i++)
        h->page_site[i] = VT_NO_SITE;
    mark_named(h);
    mark_largest(h);
    for (uint32_t i = 0; i < p->site_count; i++)
        if (h->page_site[i] != VT_NO_SITE)
            h->page_site[i] = place++;
    return h->page_site;
}

/* --- data of sites beyond the JSON report --- */

static uint64_t leaked_bytes(const struct vt_site *site, const struct vt_leak *leak) {
    return leak ? vt_amount_of_site(site, leak).bytes : 0;
}

/* Sites of one line of code are one row, as in the text report. */
static void write_lines(struct vt_html *h) {
    const struct vt_process *p = h->process;
    VT_SCOPED_MAP numbers = {0};
    uint32_t lines = 0;
    for (uint32_t i = 0; vt_json_items(h->json, "site_lines", i, p->site_count); i++) {
        uint64_t key = vt_rows_line_key(&p->sites[i]);
        if (h->page_site[i] == VT_NO_SITE)
            continue;
        if (vt_map_get(&numbers, key) == VT_MAP_NONE)
            vt_map_put(&numbers, key, lines++);
        vt_json_number(h->json, NULL, vt_map_get(&numbers, key));
    }
}

struct left_out {
    uint8_t layer;
    uint64_t sites, leaked_bytes;
    VT_EMBED_SITE_FIGURES;
};

/* clang-format off */
#define OF struct left_out
static const struct vt_key left_out_keys[] = {
    VT_WORD_KEY("layer", layer, vt_layer_names, VT_LAYERS, NULL, NULL),
    VT_NUMBER_KEY("sites", sites, NULL, NULL),
    VT_NUMBER_KEY("leaked_bytes", leaked_bytes, NULL, NULL),
    VT_SITE_FIGURES(VT_FIGURE_KEY)
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

static void write_left_out(struct vt_html *h, const struct vt_leak **leaks) {
    const struct vt_process *p = h->process;
    struct left_out sums[VT_LAYERS];
    for (unsigned layer = 0; layer < VT_LAYERS; layer++)
        sums[layer] = (struct left_out){.layer = (uint8_t)layer, .figures = vt_site_no_figures};
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *s = &p->sites[i];
        struct left_out *sum = &sums[s->layer < VT_LAYER_UNKNOWN ? s->layer : VT_LAYER_UNKNOWN];
        if (h->page_site[i] != VT_NO_SITE)
            continue;
        sum->sites++;
        sum->leaked_bytes += leaked_bytes(s, leaks[i]);
        vt_site_figures_add(&sum->figures, &s->figures);
    }
    for (unsigned i = 0; vt_json_items(h->json, "sites_left_out", i, VT_LAYERS); i++)
        if (sums[i].sites)
            vt_keys_object(&h->keys, NULL, left_out_keys, &sums[i], 0);
}

void vt_html_sites(struct vt_html *h) {
    const struct vt_process *p = h->process;
    VT_SCOPED const struct vt_leak **leaks = vt_process_leaks_by_site(p, false);
    write_lines(h);
    for (uint32_t i = 0; vt_json_items(h->json, "site_leaks", i, p->site_count); i++)
        if (h->page_site[i] != VT_NO_SITE)
            vt_json_number(h->json, NULL, leaked_bytes(&p->sites[i], leaks[i]));
    write_left_out(h, leaks);
}

/* --- frames --- */

void vt_html_frame_names(struct vt_html *h) {
    const struct vt_stack_table *t = &h->keys.stacks;
    for (uint32_t i = 0; vt_json_items(h->json, "frame_names", i, t->frame_count); i++) {
        const struct vt_frame *f = t->frames[i];
        VT_SCOPED char *name =
            f->function ? vt_frame_text_function(f) : vt_frame_text(h->process, f, NAME_COLUMNS);
        vt_json_string(h->json, NULL, f->function && !strcmp(name, f->function) ? NULL : name);
    }
}
