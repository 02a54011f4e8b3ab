/* SPDX-License-Identifier: MIT */
/*
 * The reader's tables of owners (see log_tables.h).
 *
 * A step's parent has a smaller number, so a chain of steps always ends. If a step's parent is missing in the log, its
 * path has no root, and its allocations have no owner.
 */
#include "log_tables.h"

#include <stdlib.h>
#include <string.h>

void vt_log_add_step(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_step r;
    memcpy(&r, record, sizeof r);
    if (!r.number)
        return;
    const char *text = (const char *)record + sizeof r;
    bool counted = r.kind >= VT_STEP_NAME, is_class = r.kind == VT_STEP_CLASS;
    *VT_ADD(log->unlinked, log->unlinked_count, log->unlinked_room) = (struct vt_log_step){
        .number = r.number,
        .parent = r.parent,
        .kind = r.kind,
        .many = r.flags & VT_STEP_MANY,
        .repeats = r.flags & VT_STEP_REPEATS,
        .in_doubt = r.flags & VT_STEP_IN_DOUBT,
        .line = counted ? 0 : r.line,
        .address = counted ? 0 : r.address,
        .entries = counted && !is_class ? vt_step_entries(r.address) : 0,
        .capacity = counted && !is_class ? vt_step_capacity(r.address) : 0,
        .counts = {counted ? r.line : 0, is_class ? vt_step_row(r.address) : 0,
                   is_class ? vt_step_length(r.address) : 0},
        .name = vt_strndup(text, r.name_bytes),
        .type = vt_strndup(text + r.name_bytes, r.type_bytes),
    };
}

static void add_around(struct vt_log *log, struct vt_log_around_of of, const uint8_t *halves) {
    uint32_t count = of.around.count;
    if (count && of.around.before < 2 * (uint64_t)count) {
        of.around.halves = vt_alloc(count, 1);
        memcpy(of.around.halves, halves, count);
        of.around.count = 2 * count;
    } else if (!of.hop) {
        return;
    }
    *VT_ADD(log->arounds, log->around_count, log->around_room) = of;
}

void vt_log_add_around(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_around r;
    memcpy(&r, record, sizeof r);
    add_around(log,
               (struct vt_log_around_of){
                   .step = r.step, .hop = r.hop, .around = {.before = r.before, .count = r.count}},
               record + sizeof r);
}

void vt_log_add_hop(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_hop r;
    memcpy(&r, record, sizeof r);
    add_around(log,
               (struct vt_log_around_of){
                   .number = r.number,
                   .parent = r.parent,
                   .around = {.before = r.before, .count = r.count, .offset = r.offset}},
               record + sizeof r);
}

void vt_log_add_owned(struct vt_log *log, const uint8_t *record) {
    struct vt_rec_owned r;
    memcpy(&r, record, sizeof r);
    for (uint32_t i = 0, at = sizeof r; i < r.count; i++, at += sizeof(struct vt_owned)) {
        VT_GROW(log->owned_rows, log->owned_row_count, log->owned_row_room);
        struct vt_log_owned *owned = &log->owned_rows[log->owned_row_count];
        owned->snapshot = r.snapshot;
        owned->seen = UINT64_MAX;
        memcpy(&owned->entry, record + at, sizeof owned->entry);
        if (owned->entry.step || !i) {
            owned->order = log->owned_taken++;
            log->owned_row_count++;
        } else {
            owned[-1].seen = ((uint64_t)owned->entry.roles << 16 | owned->entry.holders) * 512;
        }
    }
}

void vt_log_add_snapshot(struct vt_log *log, const uint8_t *record) {
    memcpy(VT_ADD(log->snapshots, log->snapshot_count, log->snapshot_room), record,
           sizeof *log->snapshots);
}

void vt_log_add_missed(struct vt_log *log, const uint8_t *record) {
    memcpy(VT_ADD(log->missed, log->missed_count, log->missed_room), record, sizeof *log->missed);
}

static int compare_steps(const void *a, const void *b) {
    const struct vt_log_step *x = a, *y = b;
    return VT_ORDER({x->number, y->number});
}

static int compare_owned(const void *a, const void *b) {
    const struct vt_log_owned *x = a, *y = b;
    return VT_ORDER({x->snapshot, y->snapshot}, {x->order, y->order});
}

static int compare_snapshots(const void *a, const void *b) {
    const struct vt_rec_snapshot *x = a, *y = b;
    return VT_ORDER({x->ticks, y->ticks}, {x->number, y->number});
}

/* Links steps to the memory around their words. A parent has a smaller number, so a chain always ends; a chain that
 * does not begin in a variable is ignored. */
static void link_arounds(struct vt_log *log) {
    struct vt_map hops = {0};
    for (size_t i = 0; i < log->around_count; i++) {
        struct vt_log_around_of *of = &log->arounds[i];
        uint32_t parent = of->parent < of->number ? vt_map_get(&hops, of->parent) : VT_MAP_NONE;
        if (of->step || (of->parent && parent == VT_MAP_NONE))
            continue;
        of->around.parent = of->parent ? &log->arounds[parent].around : NULL;
        if (of->number)
            vt_map_put(&hops, of->number, (uint32_t)i);
    }
    for (size_t i = 0; i < log->around_count; i++) {
        const struct vt_log_around_of *of = &log->arounds[i];
        uint32_t step = of->step ? vt_map_get(&log->step_numbers, of->step) : VT_MAP_NONE;
        uint32_t hop = of->hop ? vt_map_get(&hops, of->hop) : (uint32_t)i;
        if (step != VT_MAP_NONE && hop != VT_MAP_NONE)
            log->steps[step].around = &log->arounds[hop].around;
    }
    vt_map_free(&hops);
}

/* Adds the steps read since the last call, with indices instead of their parents' numbers. If two steps have one
 * number, the first counts. As long as the process runs, a step waits until its parent was read. */
static void link_steps(struct vt_log *log) {
    size_t kept = 0;
    vt_sort(log->unlinked, log->unlinked_count, sizeof *log->unlinked, compare_steps);
    for (size_t i = 0; i < log->unlinked_count; i++) {
        struct vt_log_step step = log->unlinked[i];
        uint32_t index = (uint32_t)log->step_count;
        bool root = !step.parent;
        uint32_t parent = !root && step.parent < step.number
                              ? vt_map_get(&log->step_numbers, step.parent)
                              : VT_MAP_NONE;
        if (!root && parent == VT_MAP_NONE && log->running) {
            log->unlinked[kept++] = step;
            continue;
        }
        step.parent = parent;
        step.lost = !root && parent == VT_MAP_NONE;
        step.root = parent == VT_MAP_NONE ? index : log->steps[parent].root;
        vt_map_add(&log->step_numbers, step.number, index);
        *VT_ADD(log->steps, log->step_count, log->step_room) = step;
    }
    log->unlinked_count = kept;
}

/* Adds the snapshots' entries whose steps are known, with indices instead of the steps' numbers. */
static void link_owned(struct vt_log *log) {
    size_t linked = 0;
    for (; linked < log->owned_row_count; linked++) {
        struct vt_owned *entry = &log->owned_rows[linked].entry;
        uint32_t step = vt_map_get(&log->step_numbers, entry->step);
        if (step == VT_MAP_NONE && entry->step && log->running)
            break;
        entry->step = step;
    }
    if (!log->owned_count && linked == log->owned_row_count) { /* all at once: there may be many */
        free(log->owned);
        log->owned = log->owned_rows;
        log->owned_count = linked;
        log->owned_room = log->owned_row_room;
        log->owned_rows = NULL;
        log->owned_row_count = log->owned_row_room = 0;
        return;
    }
    for (size_t i = 0; i < linked; i++)
        *VT_ADD(log->owned, log->owned_count, log->owned_room) = log->owned_rows[i];
    log->owned_row_count -= linked;
    if (!log->owned_row_count)
        return;
    memmove(log->owned_rows, log->owned_rows + linked,
            log->owned_row_count * sizeof *log->owned_rows);
}

/* Keeps the last snapshots; if two have one number, the first. */
static void choose_snapshots(struct vt_log *log) {
    VT_SCOPED_MAP numbers = {0};
    size_t kept = 0, from;
    vt_sort(log->snapshots, log->snapshot_count, sizeof *log->snapshots, compare_snapshots);
    for (size_t i = 0; i < log->snapshot_count; i++)
        if (vt_map_add_key(&numbers, log->snapshots[i].number))
            log->snapshots[kept++] = log->snapshots[i];
    from = kept > VT_LOG_SNAPSHOTS ? kept - VT_LOG_SNAPSHOTS : 0;
    log->snapshot_count = kept - from;
    if (from)
        memmove(log->snapshots, log->snapshots + from,
                log->snapshot_count * sizeof *log->snapshots);
}

void vt_log_link_owners(struct vt_log *log) {
    link_steps(log);
    link_owned(log);
    link_arounds(log);
    /* a single snapshot's entries are already in order, and may be many */
    bool sorted = true;
    for (size_t i = 1; i < log->owned_count && sorted; i++)
        sorted = log->owned[i - 1].snapshot <= log->owned[i].snapshot;
    if (!sorted)
        vt_sort(log->owned, log->owned_count, sizeof *log->owned, compare_owned);
    choose_snapshots(log);
}

void vt_log_free_owners(struct vt_log *log) {
    for (size_t i = 0; i < log->step_count; i++) {
        free(log->steps[i].name);
        free(log->steps[i].type);
    }
    for (size_t i = 0; i < log->unlinked_count; i++) {
        free(log->unlinked[i].name);
        free(log->unlinked[i].type);
    }
    for (size_t i = 0; i < log->around_count; i++)
        free(log->arounds[i].around.halves);
    free(log->arounds);
    free(log->steps);
    free(log->unlinked);
    vt_map_free(&log->step_numbers);
    free(log->owned_rows);
    free(log->snapshots);
    free(log->missed);
}

char *vt_log_script(const struct vt_log *log) {
    const struct vt_log_header *h = &log->header;
    for (uint32_t at = 0; at < h->command_bytes;) {
        const char *word = h->command + at;
        size_t length = strnlen(word, h->command_bytes - at);
        if (at && !strncmp(word, "-m", 2))
            return NULL;
        if (at && length > 3 && !memcmp(word + length - 3, ".py", 3)) {
            VT_SCOPED char *file = vt_strndup(word, length);
            char *path = file[0] == '/' ? vt_strdup(file) : vt_formatted("%s/%s", h->cwd, file);
            return path;
        }
        at += (uint32_t)length + 1;
    }
    return NULL;
}
