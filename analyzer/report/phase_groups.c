/* SPDX-License-Identifier: MIT */
/*
 * Phases as reports list them (see text_parts.h): all of one name are one, and names that differ only
 * in a number, or in what PyTorch's profiler adds to them, are one name. A run under emit_nvtx() has
 * as many names as operators were called.
 */
#include "text_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What emit_nvtx() writes behind an operator's name. */
static size_t operator_length(const char *name) {
    static const char *const added[] = {
        ", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids = "};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        const char *at = strstr(name, added[i]);
        if (at && (size_t)(at - name) < length)
            length = (size_t)(at - name);
    }
    return length;
}

/* The name with '*' for each number: "epoch *", "layer*", but "conv2d". Free it. */
static char *without_numbers(const char *name) {
    struct vt_string s = {0};
    size_t length = operator_length(name);
    for (size_t i = 0; i < length;) {
        size_t end = i;
        while (end < length && isdigit((unsigned char)name[end]))
            end++;
        bool number =
            end > i && (end == length || (!isalpha((unsigned char)name[end]) && name[end] != '_'));
        if (number)
            vt_string_add(&s, "*");
        else
            end = end > i ? end : i + 1;
        if (!number)
            vt_string_add_bytes(&s, name + i, end - i);
        i = end;
    }
    return s.text ? s.text : vt_strdup("");
}

static void add(struct vt_phase_group *g, const struct vt_phase *f) {
    uint64_t rise = f->peak_bytes > f->live_at_start ? f->peak_bytes - f->live_at_start : 0;
    g->first = g->count ? g->first : f;
    g->last = f;
    g->count++;
    if (f->live_at_end != VT_UNKNOWN)
        g->left += (int64_t)(f->live_at_end - f->live_at_start);
    g->peak_bytes = f->peak_bytes > g->peak_bytes ? f->peak_bytes : g->peak_bytes;
    g->rise = rise > g->rise ? rise : g->rise;
}

/* The most that memory changed in one of them. */
static uint64_t weight(const struct vt_phase_group *g) {
    uint64_t left = (uint64_t)(g->left < 0 ? -g->left : g->left);
    return g->rise > left ? g->rise : left;
}

static int heavier_first(const void *a, const void *b) {
    const struct vt_phase_group *x = a, *y = b;
    return VT_ORDER({weight(y), weight(x)}, {x->first->start, y->first->start},
                    {(uint64_t)(uintptr_t)x->first, (uint64_t)(uintptr_t)y->first});
}

static int earlier_first(const void *a, const void *b) {
    const struct vt_phase_group *x = a, *y = b;
    return VT_ORDER({(uint64_t)(uintptr_t)x->first, (uint64_t)(uintptr_t)y->first});
}

/* Names the groups: by their only name, or by what its names have in common. */
static void name_all(struct vt_phase_group *groups, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        struct vt_phase_group *g = &groups[i];
        size_t length = operator_length(g->first->name);
        if (!g->several) {
            free(g->name);
            g->name = vt_strndup(g->first->name, length);
        }
        vt_printable(g->name);
    }
}

struct vt_phase_group *vt_phase_groups_make(const struct vt_process *p, uint32_t most,
                                            uint32_t *shown, uint32_t *moved, uint32_t *still) {
    struct vt_phase_group *groups = NULL;
    VT_SCOPED_MAP by_pointer = {0}, by_name = {0};
    uint32_t count = 0, room = 0;
    for (uint32_t i = 0; i < p->phase_count; i++) {
        const struct vt_phase *f = &p->phases[i];
        if (f->mark || !f->name)
            continue;
        uint64_t pointer = (uint64_t)(uintptr_t)f->name;
        uint32_t index = vt_map_get(&by_pointer, pointer);
        if (index == VT_MAP_NONE) {
            VT_SCOPED char *name = without_numbers(f->name);
            uint64_t key = vt_hash_bytes(1, name, strlen(name));
            index = vt_map_get(&by_name, key);
            if (index == VT_MAP_NONE) {
                VT_GROW(groups, count, room);
                index = count++;
                groups[index] = (struct vt_phase_group){.name = name};
                vt_map_put(&by_name, key, index);
                name = NULL;
            }
            vt_map_put(&by_pointer, pointer, index);
        }
        struct vt_phase_group *g = &groups[index];
        if (g->count && operator_length(g->first->name) == operator_length(f->name))
            g->several |= strncmp(g->first->name, f->name, operator_length(f->name)) != 0;
        else
            g->several |= g->count > 0;
        add(g, f);
    }
    name_all(groups, count);
    vt_sort(groups, count, sizeof *groups, heavier_first);
    *shown = count < most ? count : most;
    *moved = *still = 0;
    for (uint32_t i = *shown; i < count; i++) {
        *(weight(&groups[i]) ? moved : still) += 1;
        free(groups[i].name);
    }
    vt_sort(groups, *shown, sizeof *groups, earlier_first);
    return groups;
}

void vt_phase_groups_free(struct vt_phase_group *groups, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        free(groups[i].name);
    free(groups);
}
