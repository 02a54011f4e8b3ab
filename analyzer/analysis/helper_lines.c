/* SPDX-License-Identifier: MIT */
/*
 * Does most of the memory come through one line of an allocation helper? Then reports, pictures and `watch` have a row
 * for each of its callers. Called by analysis.c after growth.c.
 *
 * A helper is a line with more than half of the memory at the devices' peaks, or at the last allocation, unless one
 * caller has nearly all of it. The caller is the nearest frame of user code at which the paths to the line differ.
 * (growth.c separates the callers of every line, but that adds no rows.)
 */
#include "steps.h"

#include <stdlib.h>

enum { FIGURES = 2, LEVELS = 4 }; /* levels: at most so many calls from the callers to the helper */
#define NEARLY_ALL 0.9

static uint64_t figure(const struct vt_site *site, unsigned which) {
    return which ? site->held_bytes : site->bytes_at_peak;
}

/* Whether a report lists the site among the device's lines. */
static bool is_listed(const struct vt_site *site) {
    return !site->before && (site->layer == VT_LAYER_FRAMEWORK ||
                             (site->layer == VT_LAYER_DRIVER && site->class == VT_CLASS_PROGRAM));
}

/* The user's function that is `level` calls above the allocating one; NULL: there are fewer. */
static const struct vt_frame *caller_at(const struct vt_stack *stack, unsigned level) {
    uint32_t at = stack->user_frame;
    while (at < stack->count && level--) {
        const struct vt_frame *callee = vt_stack_frame(stack, at);
        do
            at = vt_stack_caller(stack, at);
        while (at < stack->count && vt_same_function(vt_stack_frame(stack, at), callee));
    }
    return at < stack->count ? vt_stack_frame(stack, at) : NULL;
}

/* Counts the callers of a line's sites at one level; `*share` is the largest one's share of the line. */
static uint32_t count_callers(const struct vt_process *p, const uint64_t *lines, uint64_t line,
                              unsigned which, unsigned level, double *share) {
    VT_SCOPED_MAP callers = {0};
    uint64_t *bytes = NULL, all = 0, most = 0;
    uint32_t count = 0, room = 0;
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_frame *caller =
            lines[i] == line ? caller_at(p->sites[i].stack, level) : NULL;
        all += lines[i] == line ? figure(&p->sites[i], which) : 0;
        if (!caller)
            continue;
        uint32_t at = vt_map_add(&callers, vt_frame_line(caller, VT_LINE_CODE), count);
        if (at == count)
            *VT_ADD(bytes, count, room) = 0;
        bytes[at] += figure(&p->sites[i], which);
        most = bytes[at] > most ? bytes[at] : most;
    }
    *share = all ? (double)most / (double)all : 1;
    free(bytes);
    return count;
}

static void split(struct vt_process *p, const uint64_t *lines, uint64_t line, unsigned which) {
    uint32_t count = 1;
    double share = 1;
    unsigned level = 0;
    while (count == 1 && level < LEVELS)
        count = count_callers(p, lines, line, which, ++level, &share);
    for (uint32_t i = 0; i < p->site_count && count > 1 && share < NEARLY_ALL; i++)
        if (lines[i] == line && !p->sites[i].caller)
            p->sites[i].caller = caller_at(p->sites[i].stack, level);
}

void vt_helpers_find(struct vt_process *p) {
    VT_SCOPED uint64_t *lines = vt_alloc(p->site_count, sizeof *lines);
    for (uint32_t i = 0; i < p->site_count; i++)
        lines[i] = is_listed(&p->sites[i]) ? p->sites[i].stack->line : 0;
    for (unsigned which = 0; which < FIGURES; which++) {
        /* majority vote: if a line has more than half, it remains */
        uint64_t line = 0, left = 0, has = 0, all = 0;
        for (uint32_t i = 0; i < p->site_count; i++) {
            uint64_t bytes = lines[i] ? figure(&p->sites[i], which) : 0;
            if (lines[i] == line || bytes > left) {
                left = lines[i] == line ? left + bytes : bytes - left;
                line = lines[i];
            } else {
                left -= bytes;
            }
            all += bytes;
        }
        for (uint32_t i = 0; i < p->site_count; i++)
            has += lines[i] == line ? figure(&p->sites[i], which) : 0;
        if (line && has > all / 2)
            split(p, lines, line, which);
    }
}
