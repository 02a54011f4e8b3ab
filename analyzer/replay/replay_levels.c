/* SPDX-License-Identifier: MIT */
/*
 * How much driver memory each device held at equal times of the run (see walk.h): what a small picture
 * of it needs. The walk stops for each of these times, so an event costs no more than without. What
 * lies between two of them is not seen, but for the peak, which is put where it was.
 */
#include "walk.h"

/* The end of the time that a level stands for. */
static uint64_t end_of(const struct vt_replay_levels *levels, uint32_t index) {
    return levels->from + (levels->to - levels->from) * (index + 1) / VT_REPLAY_LEVELS;
}

static uint64_t run_end(const struct vt_log *log, uint64_t until) {
    const struct vt_log_header *h = &log->header;
    uint64_t end = log->last_ticks;
    if (h->exit_kind != VT_EXIT_NONE && h->exit_ticks > end && h->exit_ticks < VT_TICKS_MASK)
        end = h->exit_ticks;
    return until < end ? until : end;
}

void vt_walk_start_levels(struct vt_walk *w) {
    struct vt_replay_levels *levels = &w->r->levels;
    levels->from = w->window.since;
    levels->to = run_end(w->log, w->window.until);
    /* an overflow needs years */
    bool some = levels->to > levels->from &&
                levels->to - levels->from <= UINT64_MAX / (2 * VT_REPLAY_LEVELS);
    if (!some)
        levels->to = levels->from;
    w->level_ticks = some ? end_of(levels, 0) : UINT64_MAX;
}

static uint64_t *levels_of(struct vt_replay_levels *levels, unsigned device) {
    if (!levels->bytes[device])
        levels->bytes[device] = vt_alloc(VT_REPLAY_LEVELS, sizeof *levels->bytes[device]);
    return levels->bytes[device];
}

void vt_walk_take_levels(struct vt_walk *w, uint64_t until) {
    struct vt_replay_levels *levels = &w->r->levels;
    for (; w->level_ticks <= until; w->level++) {
        for (unsigned d = 0; d < 256; d++)
            if (w->r->devices[d].driver.live_bytes)
                levels_of(levels, d)[w->level] = w->r->devices[d].driver.live_bytes;
        w->level_ticks =
            w->level + 1 < VT_REPLAY_LEVELS ? end_of(levels, w->level + 1) : UINT64_MAX;
    }
}

void vt_walk_end_levels(struct vt_walk *w) {
    struct vt_replay_levels *levels = &w->r->levels;
    if (levels->to == levels->from)
        return;
    vt_walk_take_levels(w, UINT64_MAX - 1);
    for (unsigned d = 0; d < 256; d++) {
        const struct vt_replay_book *book = &w->r->devices[d].driver;
        if (!book->peak_bytes)
            continue;
        uint64_t at = book->peak_ticks > levels->from ? book->peak_ticks : levels->from + 1;
        uint32_t index = 0;
        while (index + 1 < VT_REPLAY_LEVELS && end_of(levels, index) < at)
            index++;
        levels->peak_index[d] = index;
        levels_of(levels, d)[index] = book->peak_bytes;
    }
}

struct vt_levels vt_replay_levels_give(struct vt_replay *replay, struct vt_clock clock,
                                       unsigned device) {
    struct vt_replay_levels *levels = &replay->levels;
    uint64_t *bytes = levels->bytes[device];
    levels->bytes[device] = NULL;
    return (struct vt_levels){.from = vt_clock_ns(clock, levels->from),
                              .to = vt_clock_ns(clock, levels->to),
                              .bytes = bytes,
                              .count = bytes ? VT_REPLAY_LEVELS : 0,
                              .peak = levels->peak_index[device]};
}
