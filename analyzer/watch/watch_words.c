/* SPDX-License-Identifier: MIT */
/*
 * Texts of a frame (see watch_words.h).
 */
#include "watch_words.h"

#include "report/report.h"

#include "vramtrace/log_format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* With so few columns, a path, a line and a function do not fit. */
enum { NARROW = 24 };

char *vt_watch_words_state(const struct vt_watch_process *w) {
    const struct vt_process *p = w->process;
    if (!p)
        return vt_strdup(vt_watch_state_names[w->state]);
    VT_SCOPED char *ending = vt_ending_text(p->ending, VT_ENDING_TIMED);
    char *state = vt_formatted("%s %s", ending, VT_DURATION(w->now));
    return state;
}

char *vt_watch_words_command(const struct vt_watch_process *w, unsigned width) {
    if (!w->process)
        return vt_text_cut(w->source, width);
    /* without the program's folder */
    struct vt_process shown = *w->process;
    VT_SCOPED char **words = vt_alloc(shown.command_count, sizeof *words);
    for (uint32_t i = 0; i < shown.command_count; i++)
        words[i] = i ? shown.command[i] : (char *)vt_basename(shown.command[i]);
    shown.command = words;
    VT_SCOPED char *text = vt_command_text(&shown);
    return vt_text_cut(text, width);
}

char *vt_watch_words_place(const struct vt_watch_process *w, const struct vt_watch_line *line,
                           unsigned width) {
    const struct vt_frame *frame = vt_stack_main_frame(line->site->stack);
    if (width < NARROW && frame && frame->file && frame->line)
        return vt_formatted("%s:%u", vt_basename(frame->file), frame->line);
    return vt_site_text(w->process, line->site, width);
}

char *vt_watch_words_who(const struct vt_watch_process *w) {
    struct vt_string s = {0};
    if (w->pid)
        vt_string_format(&s, "pid %u", w->pid);
    if (w->process && w->process->rank >= 0)
        vt_string_format(&s, "%srank %d", s.length ? ", " : "", w->process->rank);
    if (w->process && w->process->simulated)
        vt_string_format(&s, "%ssimulated", s.length ? ", " : "");
    return s.text ? s.text : vt_strdup("");
}

/* Writes the growth of the whole leak, not of the line's part of it. */
static void describe_growth(const struct vt_watch_process *w, const struct vt_leak *leak,
                            struct vt_string *s) {
    const struct vt_growth *g = leak->growth;
    uint32_t lines = 0;
    for (uint32_t i = 0; i < w->line_count; i++)
        lines += w->lines[i].leak == leak;
    vt_string_add(s, lines > 1 ? "part of a leak: " : "grows by ");
    vt_growth_pace(g, s);
    if (g->full_in && vt_growth_fills_soon(g, w->now))
        vt_string_format(s, "; %sfull in %s", lines > 1 ? "" : "device ", VT_DURATION(g->full_in));
}

char *vt_watch_words_hint(const struct vt_watch_process *w, const struct vt_watch_line *line) {
    struct vt_string s = {0};
    if (!line->leak)
        return NULL;
    if (line->leak->growth)
        describe_growth(w, line->leak, &s);
    else
        vt_string_add(&s, vt_verdict_names[line->leak->verdict]);
    return s.text;
}

char *vt_watch_words_share(const struct vt_watch_line *line) {
    return line->bytes && line->share < 0.005 ? vt_strdup("<1 %")
                                              : vt_formatted("%.0f %%", 100 * line->share);
}

char *vt_watch_words_phases(const struct vt_watch_process *w) {
    enum { SHOWN = 6 };
    const struct vt_process *p = w->process;
    struct vt_string s = {0};
    uint64_t since = 0;
    uint32_t open = 0;
    for (uint32_t i = 0; p && w->state == VT_WATCH_RUNNING && i < p->phase_count; i++) {
        const struct vt_phase *phase = &p->phases[i];
        uint32_t number = 0;
        if (phase->mark || phase->end != VT_UNKNOWN)
            continue;
        if (++open > SHOWN)
            continue;
        for (uint32_t j = 0; j <= i; j++)
            number += !p->phases[j].mark && vt_same_text(p->phases[j].name, phase->name);
        for (uint32_t j = 0; j < p->phase_sum_count; j++)
            if (!p->phase_sums[j].mark && vt_same_text(p->phase_sums[j].name, phase->name))
                number += (uint32_t)p->phase_sums[j].count;
        vt_string_format(&s, "%s%s", s.length ? " > " : "",
                         phase->name ? phase->name : "(unknown)");
        if (number > 1)
            vt_string_format(&s, "#%u", number);
        since = phase->start;
    }
    if (open > SHOWN)
        vt_string_format(&s, " and %u more", open - SHOWN);
    if (open)
        vt_string_format(&s, " (%s)", VT_DURATION(w->now > since ? w->now - since : 0));
    return s.text;
}

char *vt_watch_words_oom(const struct vt_oom *o) {
    struct vt_string s = {0};
    vt_string_format(&s, "at %s", VT_DURATION(o->at));
    if (o->device < VT_DEVICE_HOST)
        vt_string_format(&s, " on %s", VT_GPU(o->device));
    vt_string_format(&s, ": %s wanted",
                     o->requested_bytes == VT_UNKNOWN ? "memory" : VT_BYTES(o->requested_bytes));
    if (o->free_bytes != VT_UNKNOWN)
        vt_string_format(&s, ", %s free", VT_BYTES(o->free_bytes));
    if (o->cause)
        vt_string_format(&s, "; %s", vt_oom_cause_names[o->cause]);
    if (o->outcome != VT_OOM_UNKNOWN)
        vt_string_format(&s, "; %s", vt_oom_outcome_names[o->outcome]);
    return s.text;
}

char *vt_watch_words_leak(const struct vt_watch_process *w, const struct vt_leak *leak,
                          unsigned width) {
    VT_SCOPED char *place = vt_stack_text(w->process, leak->stack, width, false);
    VT_SCOPED char *verdict = vt_strdup(vt_verdict_names[leak->verdict]);
    for (char *c = verdict; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    char *text = vt_formatted("%s %s at %s", verdict,
                              VT_BYTES(vt_amount_of_leak(w->process, leak).bytes), place);
    return text;
}

char *vt_watch_words_dropped(const struct vt_watch_process *w) {
    const struct vt_process *p = w->process;
    return p && p->quality.missing_why ? vt_strdup(p->quality.missing_why) : NULL;
}

char *vt_watch_words_rate(double rate) {
    if (isnan(rate))
        return vt_strdup("");
    uint64_t bytes = (uint64_t)fabs(rate);
    return vt_formatted("%s%s", !bytes ? "" : rate < 0 ? "-" : "+", VT_BYTES(bytes));
}
