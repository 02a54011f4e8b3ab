/* SPDX-License-Identifier: MIT */
/*
 * The run over time, for the HTML page: each device's course, and its memory by address at chosen moments. This file
 * reduces the detail: among neighbouring slots it keeps the one with the most live memory, and it merges small
 * neighbours on a map.
 *
 * Series are written as {"unit": u, "steps": [first, change, ...]} in units of u bytes or ns; null: unknown there.
 * data.js reads them.
 */
#include "html.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- series --- */

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* values[chosen[i]]; `chosen` NULL: all. */
static void write_series(struct vt_json *j, const char *name, const uint64_t *values,
                         const uint32_t *chosen, uint32_t count) {
    uint64_t unit = 0, last = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = values[chosen ? chosen[i] : i];
        unit = value == VT_UNKNOWN ? unit : common_divisor(unit, value);
    }
    unit = unit ? unit : 1;
    vt_json_open(j, name, '{');
    vt_json_number(j, "unit", unit);
    vt_json_key(j, "steps");
    fputc('[', j->out);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = values[chosen ? chosen[i] : i];
        if (i)
            fputc(',', j->out);
        if (value == VT_UNKNOWN) {
            fputs("null", j->out);
            continue;
        }
        fprintf(j->out, "%" PRId64, (int64_t)(value / unit - last));
        last = value / unit;
    }
    fputc(']', j->out);
    vt_json_close(j, '}');
}

/* --- courses --- */

/* The remaining slot of a group may have no sample: the group's highest is used. */
static uint64_t *highest_of_groups(const uint64_t *values, uint32_t slots, uint32_t group,
                                   uint32_t count) {
    uint64_t *high = vt_alloc(count, sizeof *high);
    for (uint32_t i = 0; i < count; i++) {
        high[i] = VT_UNKNOWN;
        for (uint32_t k = i * group; k < slots && k < (i + 1) * group; k++)
            if (values[k] != VT_UNKNOWN && (high[i] == VT_UNKNOWN || values[k] > high[i]))
                high[i] = values[k];
    }
    return high;
}

static void write_samples(struct vt_json *j, const char *name, const uint64_t *values,
                          const struct vt_course *c, uint32_t group, uint32_t count) {
    if (!values) {
        vt_json_null(j, name);
        return;
    }
    VT_SCOPED uint64_t *high = highest_of_groups(values, c->slot_count, group, count);
    write_series(j, name, high, NULL, count);
}

static bool same_slots(const struct vt_course *c, uint32_t a, uint32_t b) {
    bool same = c->live_bytes[a] == c->live_bytes[b];
    for (uint32_t i = 0; i < c->band_count && same; i++)
        same = c->bands[i].bytes[a] == c->bands[i].bytes[b];
    return same;
}

/* Drops slots without changes, except the last one. Returns how many remain. */
static uint32_t without_rest(const struct vt_course *c, uint32_t *chosen, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!kept || i + 1 == count || !same_slots(c, chosen[kept - 1], chosen[i]))
            chosen[kept++] = chosen[i];
    return kept;
}

static const char *const band_kinds[] = {"line", "leak", "rest", "runtime", "idle"};

static void write_course(struct vt_html *h, const struct vt_course *c, uint32_t numbers) {
    enum { SITES_OF_BAND = 64 };
    struct vt_json *j = h->json;
    uint32_t rows = c->band_count + 2 + (c->used_bytes ? 2 : 0);
    uint32_t most = numbers / rows > 64 ? numbers / rows : 64;
    uint32_t parts = c->slot_count ? c->slot_count - 1 : 0; /* the last slot, the end, stays */
    uint32_t group = (parts + most - 1) / most;
    uint32_t count = group ? (parts + group - 1) / group : 0;
    VT_SCOPED uint32_t *chosen = vt_alloc(count + 1, sizeof *chosen);
    for (uint32_t i = 0; i < count; i++) {
        chosen[i] = i * group;
        for (uint32_t k = i * group; k < parts && k < (i + 1) * group; k++)
            if (c->live_bytes[k] > c->live_bytes[chosen[i]])
                chosen[i] = k;
    }
    if (c->slot_count)
        chosen[count++] = parts;
    count = c->used_bytes ? count : without_rest(c, chosen, count);
    vt_json_open(j, NULL, '{');
    vt_html_device(j, "device", c->device);
    vt_json_number(j, "begin", c->begin);
    vt_json_number(j, "end", c->end);
    write_series(j, "at", c->at, chosen, count);
    write_series(j, "live", c->live_bytes, chosen, count);
    write_samples(j, "used", c->used_bytes, c, group, count);
    write_samples(j, "own", c->own_bytes, c, group, count);
    for (uint32_t i = 0; vt_json_objects(j, "bands", i, c->band_count); i++) {
        const struct vt_band *b = &c->bands[i];
        vt_json_string(j, "kind", band_kinds[b->kind]);
        vt_json_boolean(j, "leak", b->leak);
        vt_html_site_list(h, "sites", b->sites,
                          b->site_count < SITES_OF_BAND ? b->site_count : SITES_OF_BAND);
        write_series(j, "bytes", b->bytes, chosen, count);
    }
    vt_json_close(j, '}');
}

void vt_html_courses(struct vt_html *h) {
    const struct vt_timeline *t = h->process->timeline;
    uint32_t count = t && h->bounds.numbers ? t->course_count : 0;
    for (uint32_t i = 0; vt_json_items(h->json, "courses", i, count); i++)
        write_course(h, &t->courses[i], h->bounds.numbers / count);
}

/* --- maps --- */

static int larger_first(const void *a, const void *b) {
    const struct vt_map_region *x = *(const struct vt_map_region *const *)a,
                               *y = *(const struct vt_map_region *const *)b;
    return VT_ORDER({y->bytes, x->bytes}, {(uintptr_t)x, (uintptr_t)y});
}

/* Selects the regions of a map to write: the largest, at most `most`. Free it. */
static bool *choose_regions(const struct vt_address_map *m, uint32_t most) {
    bool *shown = vt_alloc(m->region_count, sizeof *shown);
    VT_SCOPED const struct vt_map_region **order = vt_alloc(m->region_count, sizeof *order);
    for (uint32_t i = 0; i < m->region_count; i++)
        order[i] = &m->regions[i];
    vt_sort(order, m->region_count, sizeof *order, larger_first);
    for (uint32_t i = 0; i < m->region_count && i < most; i++)
        shown[order[i] - m->regions] = true;
    return shown;
}

/* Merges a piece into the one before it. */
static void merge_piece(struct vt_map_piece *to, const struct vt_map_piece *piece,
                        uint64_t *largest) {
    if (piece->blocks && piece->bytes > *largest) {
        to->site = piece->site;
        *largest = piece->bytes;
    }
    to->bytes = piece->offset + piece->bytes - to->offset;
    to->idle_bytes += piece->idle_bytes;
    to->blocks += piece->blocks;
}

/* A region's pieces, with neighbours below `small` bytes merged. `out` may be NULL. Returns their number. */
static uint32_t pieces_of(const struct vt_address_map *m, const struct vt_map_region *r,
                          uint64_t small, struct vt_map_piece *out) {
    uint32_t count = 0;
    struct vt_map_piece sum = {0};
    uint64_t largest = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct vt_map_piece *piece = &m->pieces[r->first + i];
        if (count && piece->bytes < small && sum.bytes < small) {
            merge_piece(&sum, piece, &largest);
        } else {
            sum = *piece;
            largest = piece->blocks ? piece->bytes : 0;
            count++;
        }
        if (out)
            out[count - 1] = sum;
    }
    return count;
}

static void write_pieces(struct vt_html *h, const struct vt_map_piece *pieces, uint32_t count) {
    struct vt_json *j = h->json;
    uint64_t end = 0;
    vt_json_open(j, NULL, '['); /* [bytes of a gap before it, bytes, idle, site, blocks] each */
    for (uint32_t i = 0; i < count; i++) {
        vt_json_number(j, NULL, pieces[i].offset - end);
        vt_json_number(j, NULL, pieces[i].bytes);
        vt_json_number(j, NULL, pieces[i].idle_bytes);
        vt_html_site(h, NULL, pieces[i].site);
        vt_json_number(j, NULL, pieces[i].blocks);
        end = pieces[i].offset + pieces[i].bytes;
    }
    vt_json_close(j, ']');
}

/* The size below which neighbours are merged, so that all regions together have `most` pieces. */
static uint64_t merge_below(const struct vt_address_map *m, const bool *shown, uint32_t most) {
    uint64_t small = 0;
    for (;; small = small ? small * 2 : 512) {
        uint64_t count = 0;
        for (uint32_t i = 0; i < m->region_count; i++)
            count += shown[i] ? pieces_of(m, &m->regions[i], small, NULL) : 0;
        if (count <= most || small > UINT64_MAX / 4)
            return small;
    }
}

static void write_regions(struct vt_html *h, const struct vt_address_map *m, uint32_t most) {
    struct vt_json *j = h->json;
    VT_SCOPED bool *shown = choose_regions(m, most / 2 + 1);
    uint64_t small = merge_below(m, shown, most);
    VT_SCOPED struct vt_map_piece *pieces = vt_alloc(m->piece_count, sizeof *pieces);
    uint64_t left_out = m->regions_left_out;
    for (uint32_t i = 0; vt_json_items(j, "regions", i, m->region_count); i++) {
        const struct vt_map_region *r = &m->regions[i];
        char address[32];
        if (!shown[i]) {
            left_out++;
            continue;
        }
        snprintf(address, sizeof address, "0x%" PRIx64, r->address);
        vt_json_open(j, NULL, '['); /* [address, bytes, site, segment, pieces] */
        vt_json_string(j, NULL, address);
        vt_json_number(j, NULL, r->bytes);
        vt_html_site(h, NULL, r->site);
        vt_json_number(j, NULL, r->segment);
        write_pieces(h, pieces, pieces_of(m, r, small, pieces));
        vt_json_close(j, ']');
    }
    vt_json_number(j, "regions_left_out", left_out);
}

/* A map of a notable moment gets more space than one in between. */
static uint32_t weight_of_map(const struct vt_address_map *m) {
    return m->why == VT_MAP_BETWEEN ? 1 : 5;
}

void vt_html_maps(struct vt_html *h) {
    static const char *const whys[] = {"peak", "oom", "worst", "end", "between"};
    const struct vt_timeline *t = h->process->timeline;
    struct vt_json *j = h->json;
    uint32_t count = t && h->bounds.pieces ? t->map_count : 0, weights = 0;
    for (uint32_t i = 0; i < count; i++)
        weights += weight_of_map(&t->maps[i]);
    for (uint32_t i = 0; vt_json_objects(j, "maps", i, count); i++) {
        const struct vt_address_map *m = &t->maps[i];
        vt_html_device(j, "device", m->device);
        vt_json_number(j, "at", m->at);
        vt_json_string(j, "why", whys[m->why]);
        vt_json_number(j, "reserved", m->reserved_bytes);
        vt_json_number(j, "in_use", m->in_use_bytes);
        vt_json_number(j, "largest_free", m->largest_free_bytes);
        write_regions(h, m, h->bounds.pieces / weights * weight_of_map(m));
    }
}
