/* SPDX-License-Identifier: MIT */
/*
 * The call sites of the HTML page: chosen by what they hold, held and allocated; their stacks,
 * frames and texts, each written once.
 */
#include "html.h"

#include "../stack_table.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
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

/* What words and pictures name. */
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

void vt_html_sites_choose(struct vt_html *h) {
    const struct vt_process *p = h->process;
    h->page_site = vt_alloc(p->site_count, sizeof *h->page_site);
    for (uint32_t i = 0; i < p->site_count; i++)
        h->page_site[i] = VT_NO_SITE;
    mark_named(h);
    mark_largest(h);
    h->model_site = vt_alloc(h->site_count, sizeof *h->model_site);
    h->site_count = 0;
    for (uint32_t i = 0; i < p->site_count; i++)
        if (h->page_site[i] != VT_NO_SITE) {
            h->page_site[i] = h->site_count;
            h->model_site[h->site_count++] = i;
        }
}

void vt_html_sites_free(struct vt_html *h) {
    vt_html_texts_free(h);
    free(h->page_site);
    free(h->model_site);
}

/* --- frames --- */

/* Function, file, line, module, and flags: 1 Python, 2 user code, 4 waits. */
static void write_frame(struct vt_html *h, const struct vt_frame *f) {
    struct vt_json *j = h->json;
    VT_SCOPED char *function = f->function ? vt_frame_text_function(f) : NULL;
    if (!function)
        function = vt_frame_text(h->process, f, NAME_COLUMNS);
    vt_json_open(j, NULL, '[');
    vt_json_number(j, NULL, vt_html_text_number(h, function));
    vt_json_number(j, NULL, vt_html_text_number(h, f->file));
    vt_json_number(j, NULL, f->line ? f->line : VT_UNKNOWN);
    vt_json_number(j, NULL, vt_html_text_number(h, f->module));
    vt_json_number(j, NULL, (f->python ? 1u : 0) | (f->user_code ? 2u : 0) | (f->waiting ? 4u : 0));
    vt_json_close(j, ']');
}

/* --- sites --- */

/* What each site has of a leak; 0: it is in none. */
static uint64_t *leaked_of_sites(const struct vt_process *p) {
    uint64_t *bytes = vt_alloc(p->site_count, sizeof *bytes);
    for (uint32_t i = 0; i < p->leak_count; i++)
        for (uint32_t k = 0; k < p->leaks[i].site_count; k++) {
            uint32_t site = p->leaks[i].sites[k];
            bytes[site] = vt_amount_of_site(&p->sites[site], &p->leaks[i]).bytes;
        }
    return bytes;
}

static void write_owners(struct vt_html *h, const struct vt_site *site) {
    enum { OWNERS = 8 };
    struct vt_json *j = h->json;
    vt_json_open(j, "owners", '[');
    for (uint32_t i = 0; i < site->owned.count && i < OWNERS; i++) {
        const struct vt_owned_by *by = &site->owned.owners[i];
        vt_json_open(j, NULL, '[');
        VT_SCOPED char *name = vt_formatted("%s%s", by->owner->name,
                                            by->owner->may_be_unused ? ", " VT_MAY_BE_UNUSED : "");
        vt_json_number(j, NULL, vt_html_text_number(h, name));
        vt_json_number(j, NULL, by->bytes);
        vt_json_number(j, NULL, by->count);
        vt_json_close(j, ']');
    }
    vt_json_close(j, ']');
}

static void write_site(struct vt_html *h, struct vt_stack_table *t, const struct vt_site *site,
                       uint64_t leaked) {
    struct vt_json *j = h->json;
    VT_SCOPED char *name = site->before ? vt_strdup("live when the window began")
                           : site->caller
                               ? vt_site_text(h->process, site, 2 * NAME_COLUMNS)
                               : vt_stack_text(h->process, site->stack, NAME_COLUMNS, true);
    vt_json_open(j, NULL, '{');
    vt_json_string(j, "id", site->name);
    vt_html_text(h, "name", name);
    vt_json_string(j, "verdict", vt_verdict_names[site->verdict]);
    vt_json_number(j, "why", vt_html_text_number(h, site->why));
    vt_json_number(j, "api", vt_html_text_number(h, site->api));
    vt_json_string(j, "layer", vt_layer_name(site->layer));
    vt_html_device(j, "device", site->device);
    vt_json_string(j, "class", vt_class_names[site->class]);
    vt_json_number(j, "class_name", vt_html_text_number(h, site->class_name));
    if (site->segments)
        vt_json_boolean(j, "segments", true);
    vt_json_number(j, "live", site->live_bytes);
    vt_json_number(j, "live_n", site->live_count);
    vt_json_number(j, "peak", site->peak_bytes);
    vt_json_number(j, "at_peak", site->bytes_at_peak);
    vt_json_number(j, "allocated", site->allocated_bytes);
    vt_json_number(j, "allocs", site->alloc_count);
    vt_json_number(j, "frees", site->free_count);
    vt_json_number(j, "leaked", leaked);
    vt_json_number(j, "first", site->first_at);
    vt_json_number(j, "last", site->last_at);
    vt_json_number(j, "stack", vt_stack_table_add(t, site->stack));
    vt_json_boolean(j, "cut", site->stack->cut);
    write_owners(h, site);
    vt_json_close(j, '}');
}

/* Sites of one line of code, as the text report has them in one row. */
static void write_lines(struct vt_html *h) {
    struct vt_json *j = h->json;
    VT_SCOPED_MAP written = {0};
    VT_SCOPED uint64_t *keys = vt_alloc(h->site_count, sizeof *keys);
    for (uint32_t i = 0; i < h->site_count; i++)
        keys[i] = vt_rows_line_key(&h->process->sites[h->model_site[i]]);
    for (uint32_t i = 0; vt_json_items(j, "lines", i, h->site_count); i++) {
        if (vt_map_get(&written, keys[i]) != VT_MAP_NONE)
            continue;
        vt_map_put(&written, keys[i], i);
        vt_json_open(j, NULL, '[');
        for (uint32_t k = i; k < h->site_count; k++)
            if (keys[k] == keys[i])
                vt_json_number(j, NULL, k);
        vt_json_close(j, ']');
    }
}

/* What the page does not list, for each layer. */
static void write_left_out(struct vt_html *h, const uint64_t *leaked) {
    const struct vt_process *p = h->process;
    uint64_t sums[4][7] = {{0}};
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *s = &p->sites[i];
        if (h->page_site[i] != VT_NO_SITE)
            continue;
        const uint64_t values[] = {1,         s->live_bytes,  s->bytes_at_peak, s->allocated_bytes,
                                   leaked[i], s->alloc_count, s->free_count};
        for (unsigned k = 0; k < 7; k++)
            sums[s->layer][k] += values[k];
    }
    vt_json_open(h->json, "sites_left_out", '[');
    for (unsigned layer = 0; layer < 4; layer++) {
        static const char *const names[] = {"sites",  "live",   "at_peak", "allocated",
                                            "leaked", "allocs", "frees"};
        if (!sums[layer][0])
            continue;
        vt_json_open(h->json, NULL, '{');
        vt_json_string(h->json, "layer", vt_layer_name(layer));
        for (unsigned k = 0; k < 7; k++)
            vt_json_number(h->json, names[k], sums[layer][k]);
        vt_json_close(h->json, '}');
    }
    vt_json_close(h->json, ']');
}

void vt_html_sites(struct vt_html *h) {
    struct vt_stack_table t = {.native = h->options->native};
    VT_SCOPED uint64_t *of_leaks = leaked_of_sites(h->process);
    for (uint32_t i = 0; vt_json_items(h->json, "sites", i, h->site_count); i++)
        write_site(h, &t, &h->process->sites[h->model_site[i]], of_leaks[h->model_site[i]]);
    write_left_out(h, of_leaks);
    write_lines(h);
    for (uint32_t i = 0; vt_json_items(h->json, "stacks", i, t.stack_count); i++)
        vt_stack_table_write(&t, h->json, i);
    for (uint32_t i = 0; vt_json_items(h->json, "frames", i, t.frame_count); i++)
        write_frame(h, t.frames[i]);
    vt_html_texts_write(h);
    vt_stack_table_free(&t);
}
