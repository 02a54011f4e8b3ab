/* SPDX-License-Identifier: MIT */
/*
 * Handles --since, --until and --phase (see phase_list.h).
 */

#include "phase_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "90s", "1.5m", "250ms", "0.5h", "80%", or bare seconds -> ticks. */
static int parse_moment(const struct vt_log *log, struct vt_clock clock, uint64_t duration,
                        const char *option, const char *text, uint64_t *ticks,
                        struct vt_string *message) {
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9},  {"ms", 1e6},  {"us", 1e3},
                 {"ns", 1}, {"m", 60e9}, {"h", 3600e9}};
    char *end = NULL;
    bool since = !strcmp(option, "--since");
    struct vt_window span;
    size_t count;
    double value = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : -1;
    if (end && !strcmp(end, "%") && value <= 100) {
        *ticks = vt_clock_ticks(clock, value / 100 * (double)duration);
        return 0;
    }
    for (size_t i = 0; end && i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].unit)) {
            *ticks = vt_clock_ticks(clock, value * units[i].ns);
            return 0;
        }
    if (strchr(text, '#') || (text[0] && value < 0)) {
        int error = vt_phase_list_find(log, option, text, &span, &count, message);
        *ticks = since ? span.since : span.until;
        return error;
    }
    vt_string_format(message,
                     "%s %s: expected a time since the start (90s, 250ms, 2m, 1h), a part of the "
                     "run (80%%), or a phase (epoch#3)",
                     option, text);
    return -EINVAL;
}

int vt_window_find(const struct vt_log *log, struct vt_clock clock,
                   const struct vt_model_options *options, struct vt_process *p,
                   struct vt_window *window, struct vt_string *message) {
    *window = (struct vt_window){0, VT_TICKS_MASK};
    p->window_since = p->window_until = VT_UNKNOWN;
    if (options->since) {
        int error = parse_moment(log, clock, p->duration, "--since", options->since, &window->since,
                                 message);
        if (error)
            return error;
        p->window_since = vt_clock_ns(clock, window->since);
    }
    if (options->until) {
        int error = parse_moment(log, clock, p->duration, "--until", options->until, &window->until,
                                 message);
        if (error)
            return error;
        p->window_until = vt_clock_ns(clock, window->until);
    }
    if (options->phase) {
        struct vt_window span;
        size_t count;
        int error = vt_phase_list_find(log, "--phase", options->phase, &span, &count, message);
        if (error)
            return error;
        if (count > 1 && !strchr(options->phase, '#'))
            vt_model_note(p,
                          "The run has %zu phases named %s: this report covers the first one's "
                          "start to the last one's end. --phase %s#1 selects the first.",
                          count, options->phase, options->phase);
        if (span.since > window->since)
            window->since = span.since;
        if (span.until < window->until)
            window->until = span.until;
        p->window_since = vt_clock_ns(clock, window->since);
        if (window->until != VT_TICKS_MASK)
            p->window_until = vt_clock_ns(clock, window->until);
        if (window->since > window->until) {
            vt_string_format(message, "--phase %s lies outside --since and --until",
                             options->phase);
            return -EINVAL;
        }
    }
    if (window->since > window->until) {
        vt_string_format(message, "--since %s is later than --until %s", options->since,
                         options->until);
        return -EINVAL;
    }
    return 0;
}
