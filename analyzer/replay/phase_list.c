/* SPDX-License-Identifier: MIT */
/*
 * Phases (see phase_list.h). build.c uses them before the replay, for the window, and after it, for the list.
 */
#include "phase_list.h"
#include "pytest_marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- by name --- */

/* Lists the existing names, for a mistyped one: each once, as many as fit on a line. */
static void list_names(const struct vt_log *log, struct vt_string *message) {
    VT_SCOPED bool *listed = vt_alloc(log->name_count, sizeof *listed);
    unsigned count = 0;
    for (size_t i = 0; i < log->phase_count; i++) {
        uint32_t name = log->phases[i].name;
        if (name == VT_MAP_NONE || listed[name] || vt_pytest_is(log->names[name]))
            continue;
        listed[name] = true;
        if (count < 8)
            vt_string_format(message, "%s%s", count ? ", " : "; it has: ", log->names[name]);
        count++;
    }
    if (count > 8)
        vt_string_format(message, " and %u more", count - 8);
    if (!count)
        vt_string_add(message, "; it has none");
}

int vt_phase_list_find(const struct vt_log *log, const char *option, const char *text,
                       struct vt_window *span, size_t *count, struct vt_string *message) {
    const char *hash = strrchr(text, '#');
    char *end = NULL;
    unsigned long number =
        hash && hash[1] >= '0' && hash[1] <= '9' ? strtoul(hash + 1, &end, 10) : 0;
    if (end && *end)
        number = 0;
    size_t length = number ? (size_t)(hash - text) : strlen(text);
    *count = 0;
    *span = (struct vt_window){VT_TICKS_MASK, 0};
    for (size_t i = 0; i < log->phase_count; i++) {
        const struct vt_log_phase *phase = &log->phases[i];
        const char *name = phase->name == VT_MAP_NONE ? "" : log->names[phase->name];
        if (strlen(name) != length || memcmp(name, text, length))
            continue;
        ++*count;
        if (number && *count != number)
            continue;
        if (phase->began < span->since)
            span->since = phase->began;
        if (phase->ended > span->until)
            span->until = phase->ended;
    }
    if (span->since != VT_TICKS_MASK)
        return 0;
    if (*count)
        vt_string_format(message, "%s %s: this log has %zu phases of that name, counted from 1",
                         option, text, *count);
    else {
        vt_string_format(message,
                         "%s %s: expected %sa phase that the program named; no phase \"%.*s\" in "
                         "this log",
                         option, text, !strcmp(option, "--phase") ? "" : "90s, 250ms, 80% or ",
                         (int)length, text);
        list_names(log, message);
    }
    return -EINVAL;
}

/* --- the list --- */

void vt_phase_list_add(const struct vt_log *log, const struct vt_replay *replay,
                       struct vt_clock clock, struct vt_window window, struct vt_process *p) {
    p->phase_names = vt_alloc(log->name_count, sizeof *p->phase_names);
    p->phase_name_count = (uint32_t)log->name_count;
    for (size_t i = 0; i < log->name_count; i++)
        p->phase_names[i] = vt_printable(vt_strdup(log->names[i]));
    p->phase_sums = vt_alloc(replay->phase_sum_count, sizeof *p->phase_sums);
    for (uint32_t i = 0; i < replay->phase_sum_count; i++) {
        const struct vt_replay_phase_sum *sum = &replay->phase_sums[i];
        const char *name = sum->name == VT_MAP_NONE ? NULL : log->names[sum->name];
        if (!sum->count || (name && vt_pytest_is(name)))
            continue;
        p->phase_sums[p->phase_sum_count++] = (struct vt_phase_sum){
            .name = name ? vt_printable(vt_phase_group_name(name)) : NULL,
            .mark = sum->mark,
            .several = sum->several,
            .count = sum->count,
            .rose = sum->rose,
            .fell = sum->fell,
        };
    }
    p->phases = vt_alloc(log->phase_count, sizeof *p->phases);
    for (size_t i = 0; i < log->phase_count; i++) {
        const struct vt_log_phase *from = &log->phases[i];
        const struct vt_replay_phase *replayed = &replay->phases[i];
        if (from->began > window.until || from->ended < window.since ||
            (from->name != VT_MAP_NONE && vt_pytest_is(log->names[from->name])))
            continue;
        bool mark = !from->range, open = from->ended == VT_TICKS_MASK || from->ended > window.until;
        p->phases[p->phase_count++] = (struct vt_phase){
            .name = from->name == VT_MAP_NONE ? NULL : p->phase_names[from->name],
            .domain = from->domain == VT_MAP_NONE ? NULL : p->phase_names[from->domain],
            .start = vt_clock_ns(clock, from->began),
            .end = open ? VT_UNKNOWN : vt_clock_ns(clock, from->ended),
            .live_at_start = mark ? VT_UNKNOWN : replayed->live_at_start,
            .live_at_end = mark || open ? VT_UNKNOWN : replayed->live_at_end,
            .peak_bytes = mark ? VT_UNKNOWN : replayed->peak_bytes,
            .thread = from->tid,
            .mark = mark,
        };
    }
}
