/* SPDX-License-Identifier: MIT */
/*
 * The call sites of the HTML page: which of them, by what they hold, held and allocated; their stacks,
 * frames and texts, each written once.
 */
#include "html.h"

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
    vt_json_open(h->json, name, '[');
    for (uint32_t i = 0; i < count; i++)
        if (sites[i] != VT_NO_SITE && h->page_site[sites[i]] != VT_NO_SITE)
            vt_html_site(h, NULL, sites[i]);
    vt_json_close(h->json, ']');
}

/* --- the choice --- */

enum figure { LIVE, AT_PEAK, PEAK, ALLOCATED, COUNT, FIGURES };

static uint64_t figure(const struct vt_site *site, enum figure which) {
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

static void mark(struct vt_html *h, uint32_t site) {
    if (site == VT_NO_SITE || h->page_site[site] != VT_NO_SITE || h->site_count >= h->bounds.sites)
        return;
    h->page_site[site] = 0;
    h->site_count++;
}

static void mark_list(struct vt_html *h, const uint32_t *sites, uint32_t count) {
    for (uint32_t i = 0; i < count && i < MARKED_OF_EACH; i++)
        mark(h, sites[i]);
}

/* What words and pictures name. */
static void mark_named(struct vt_html *h) {
    const struct vt_process *p = h->process;
    for (uint32_t i = 0; i < p->site_count && h->options->site; i++)
        if (vt_site_wanted(&p->sites[i], h->options->site))
            mark(h, i);
    for (uint32_t i = 0; i < p->leak_count; i++)
        mark_list(h, p->leaks[i].sites, p->leaks[i].site_count);
    for (uint32_t i = 0; i < p->oom_count; i++)
        mark_list(h, p->ooms[i].holders, p->ooms[i].holder_count);
    for (uint32_t i = 0; p->timeline && i < p->timeline->course_count; i++)
        for (uint32_t k = 0; k < p->timeline->courses[i].band_count; k++)
            mark_list(h, p->timeline->courses[i].bands[k].sites,
                      p->timeline->courses[i].bands[k].site_count);
}

/* The largest by each figure in turn. */
static void mark_largest(struct vt_html *h) {
    const struct vt_process *p = h->process;
    struct ranked *ranked = vt_alloc((size_t)p->site_count * FIGURES, sizeof *ranked);
    for (unsigned f = 0; f < FIGURES; f++) {
        struct ranked *of = ranked + (size_t)f * p->site_count;
        for (uint32_t i = 0; i < p->site_count; i++)
            of[i] = (struct ranked){figure(&p->sites[i], (enum figure)f), i};
        vt_sort(of, p->site_count, sizeof *of, larger_first);
    }
    for (uint32_t i = 0; i < p->site_count; i++)
        for (unsigned f = 0; f < FIGURES; f++)
            mark(h, ranked[(size_t)f * p->site_count + i].site);
    free(ranked);
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

/* --- texts, frames, stacks: each once --- */

/* A frame: its texts by number; 1 Python, 2 user code, 4 waits. */
struct frame {
    uint64_t function, file, line, module, flags;
};

struct tables {
    struct frame *frames;
    uint32_t frame_count, frame_room;
    struct vt_map frame_by_hash;
    uint32_t *stacks; /* each its length, then its frames */
    uint32_t stacks_count, stacks_room;
    uint32_t stack_total;
    struct vt_map stack_by_hash; /* to where it begins, then to its number */
    struct vt_map stack_number;
};

static uint32_t frame_number(struct vt_html *h, struct tables *t, const struct vt_frame *f) {
    char *function = f->function ? vt_frame_text_function(f) : NULL;
    if (!function)
        function = vt_frame_text(h->process, f, NAME_COLUMNS);
    struct frame frame = {vt_html_text_number(h, function), vt_html_text_number(h, f->file),
                          f->line ? f->line : VT_UNKNOWN, vt_html_text_number(h, f->module),
                          (f->python ? 1u : 0) | (f->user_code ? 2u : 0) | (f->waiting ? 4u : 0)};
    free(function);
    uint64_t hash = vt_hash_bytes(2, &frame, sizeof frame);
    uint32_t found = vt_map_get(&t->frame_by_hash, hash);
    if (found != VT_MAP_NONE && !memcmp(&t->frames[found], &frame, sizeof frame))
        return found;
    VT_GROW(t->frames, t->frame_count, t->frame_room);
    t->frames[t->frame_count] = frame;
    vt_map_put(&t->frame_by_hash, hash, t->frame_count);
    return t->frame_count++;
}

static uint32_t stack_number(struct vt_html *h, struct tables *t, const struct vt_stack *stack) {
    uint32_t begin = t->stacks_count, count = 0;
    VT_GROW(t->stacks, t->stacks_count, t->stacks_room);
    t->stacks_count++;
    for (uint32_t i = 0; i < stack->count; i++) {
        if (vt_stack_frame(stack, i)->interpreter && !h->options->native)
            continue;
        uint32_t number = frame_number(h, t, vt_stack_frame(stack, i));
        VT_GROW(t->stacks, t->stacks_count, t->stacks_room);
        t->stacks[t->stacks_count++] = number;
        count++;
    }
    t->stacks[begin] = count;
    uint64_t hash = vt_hash_bytes(3, t->stacks + begin, (count + 1) * sizeof *t->stacks);
    uint32_t found = vt_map_get(&t->stack_by_hash, hash);
    if (found != VT_MAP_NONE &&
        !memcmp(t->stacks + found, t->stacks + begin, (count + 1) * sizeof *t->stacks)) {
        t->stacks_count = begin;
        return vt_map_get(&t->stack_number, found);
    }
    vt_map_put(&t->stack_by_hash, hash, begin);
    vt_map_put(&t->stack_number, begin, t->stack_total);
    return t->stack_total++;
}

static void write_tables(struct vt_html *h, const struct tables *t) {
    struct vt_json *j = h->json;
    vt_json_open(j, "stacks", '[');
    for (uint32_t at = 0; at < t->stacks_count; at += 1 + t->stacks[at]) {
        vt_json_open(j, NULL, '[');
        for (uint32_t i = 0; i < t->stacks[at]; i++)
            vt_json_number(j, NULL, t->stacks[at + 1 + i]);
        vt_json_close(j, ']');
    }
    vt_json_close(j, ']');
    vt_json_open(j, "frames", '['); /* [function, file, line, module, flags] */
    for (uint32_t i = 0; i < t->frame_count; i++) {
        const struct frame *f = &t->frames[i];
        vt_json_open(j, NULL, '[');
        vt_json_number(j, NULL, f->function);
        vt_json_number(j, NULL, f->file);
        vt_json_number(j, NULL, f->line);
        vt_json_number(j, NULL, f->module);
        vt_json_number(j, NULL, f->flags);
        vt_json_close(j, ']');
    }
    vt_json_close(j, ']');
    vt_html_texts_write(h);
}

/* --- sites --- */

/* What each site has of a leak; 0: it is in none. */
static uint64_t *leaked(const struct vt_process *p) {
    uint64_t *bytes = vt_alloc(p->site_count, sizeof *bytes);
    for (uint32_t i = 0; i < p->leak_count; i++)
        for (uint32_t k = 0; k < p->leaks[i].site_count; k++) {
            uint32_t site = p->leaks[i].sites[k];
            bytes[site] = vt_amount_of_site(&p->sites[site], &p->leaks[i]).bytes;
        }
    return bytes;
}

static void site_owners(struct vt_html *h, const struct vt_site *site) {
    enum { OWNERS = 8 };
    struct vt_json *j = h->json;
    vt_json_open(j, "owners", '[');
    for (uint32_t i = 0; i < site->owned.count && i < OWNERS; i++) {
        const struct vt_owned_by *by = &site->owned.owners[i];
        vt_json_open(j, NULL, '[');
        vt_json_number(j, NULL, vt_html_text_number(h, by->owner->name));
        vt_json_number(j, NULL, by->bytes);
        vt_json_number(j, NULL, by->count);
        vt_json_close(j, ']');
    }
    vt_json_close(j, ']');
}

static void site(struct vt_html *h, struct tables *t, const struct vt_site *site, uint64_t leaked) {
    struct vt_json *j = h->json;
    char *name = site->before   ? vt_strdup("live when the window began")
                 : site->caller ? vt_site_text(h->process, site, 2 * NAME_COLUMNS)
                                : vt_stack_text(h->process, site->stack, NAME_COLUMNS, true);
    vt_json_open(j, NULL, '{');
    vt_json_string(j, "id", site->name);
    vt_html_text(h, "name", name);
    free(name);
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
    vt_json_number(j, "stack", stack_number(h, t, site->stack));
    vt_json_boolean(j, "cut", site->stack->cut);
    site_owners(h, site);
    vt_json_close(j, '}');
}

/* Sites of one line of code, as the text report has them in one row. */
static void lines(struct vt_html *h) {
    struct vt_json *j = h->json;
    struct vt_map heads = {0};
    uint32_t *next = vt_alloc(h->site_count, sizeof *next),
             *last = vt_alloc(h->site_count, sizeof *last);
    for (uint32_t i = 0; i < h->site_count; i++) {
        uint64_t key = vt_rows_line_key(&h->process->sites[h->model_site[i]]);
        uint32_t head = vt_map_get(&heads, key);
        next[i] = VT_NO_SITE;
        last[i] = head == VT_MAP_NONE ? i : head; /* for now: its line's first */
        if (head == VT_MAP_NONE)
            vt_map_put(&heads, key, i);
    }
    for (uint32_t i = h->site_count; i-- > 0;)
        if (last[i] != i) {
            next[i] = next[last[i]];
            next[last[i]] = i;
        }
    vt_json_open(j, "lines", '[');
    for (uint32_t i = 0; i < h->site_count; i++) {
        if (last[i] != i)
            continue;
        vt_json_open(j, NULL, '[');
        for (uint32_t k = i; k != VT_NO_SITE; k = next[k])
            vt_json_number(j, NULL, k);
        vt_json_close(j, ']');
    }
    vt_json_close(j, ']');
    vt_map_free(&heads);
    free(next);
    free(last);
}

/* What the page does not list, for each layer. */
static void left_out(struct vt_html *h, const uint64_t *leaked) {
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
    struct tables tables = {0};
    uint64_t *of_leaks = leaked(h->process);
    vt_json_open(h->json, "sites", '[');
    for (uint32_t i = 0; i < h->site_count; i++)
        site(h, &tables, &h->process->sites[h->model_site[i]], of_leaks[h->model_site[i]]);
    vt_json_close(h->json, ']');
    left_out(h, of_leaks);
    lines(h);
    write_tables(h, &tables);
    free(of_leaks);
    free(tables.frames);
    free(tables.stacks);
    vt_map_free(&tables.frame_by_hash);
    vt_map_free(&tables.stack_by_hash);
    vt_map_free(&tables.stack_number);
}
