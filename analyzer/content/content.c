/* SPDX-License-Identifier: MIT */
/*
 * The order of a process's sentences, and its notes: facts that are not leaks, but that a reader may need. build.c
 * calls it after the analysis.
 */
#include "sentences.h"

#include <limits.h>

/* "train.py:7 in main (and 2 more call sites)": the largest of `count`. Free it. */
static char *sites_text(const struct vt_process *p, const struct vt_site *largest, uint32_t count) {
    VT_SCOPED char *at = vt_frame_text(p, vt_stack_main_frame(largest->stack), UINT_MAX);
    char *text = count > 1 ? vt_formatted("%s (and %u more call site%s)", at, count - 1,
                                          vt_plural(count - 1))
                           : vt_strdup(at);
    return text;
}

/* Memory that grew to the end, and that the program then freed. */
static void note_freed_at_exit(struct vt_process *p) {
    const struct vt_site *largest = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *site = &p->sites[i];
        count += site->freed_at_exit != NULL;
        if (site->freed_at_exit && (!largest || site->held_bytes > largest->held_bytes))
            largest = site;
    }
    if (!largest)
        return;
    VT_SCOPED char *text = sites_text(p, largest, count);
    vt_model_note(p,
                  "%s: rose steadily to %s until the last allocation, then the program freed it.",
                  text, VT_BYTES(largest->held_bytes));
}

/* Memory released with its context, unless it fails the gate, which reports it. */
static void note_went(struct vt_process *p) {
    const char *by = NULL;
    if (!p->context_freed_bytes || vt_verdict_fails(p, VT_VERDICT_UNFREED, NULL))
        return;
    for (uint32_t i = 0; i < p->site_count && !by; i++)
        if (p->sites[i].verdict != VT_VERDICT_CACHE && p->sites[i].verdict != VT_VERDICT_RUNTIME)
            by = p->sites[i].context_freed_by;
    vt_model_note(p, "%s was released only when its context was destroyed (%s).",
                  VT_BYTES(p->context_freed_bytes), by ? by : "an unknown call");
    p->context_freed_note = p->notes[p->note_count - 1];
}

/* Memory kept by bounded containers. */
static void note_bounds(struct vt_process *p) {
    const struct vt_site *largest = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *site = &p->sites[i];
        if (!site->bound || !site->bound->growth || site->bound->too_large ||
            site->verdict != VT_VERDICT_UNFREED || vt_verdict_fails(p, VT_VERDICT_UNFREED, NULL))
            continue;
        count++;
        largest = !largest || site->bound->full_bytes > largest->bound->full_bytes ? site : largest;
    }
    if (!largest)
        return;
    VT_SCOPED char *at = sites_text(p, largest, count);
    VT_SCOPED char *text = vt_bound_text(largest->bound);
    vt_model_note(p, "%s: no leak, since what keeps it has a bound: %s.", at, text);
}

/* Sites that would be leaks if no event were missing that may have freed them. */
static void note_unsure(struct vt_process *p) {
    uint64_t bytes = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *site = &p->sites[i];
        if (site->before || site->library_own || !vt_site_may_fail(p, site, NULL) ||
            vt_site_fails(p, site, NULL))
            continue;
        count++;
        bytes += site->held_bytes;
    }
    if (count)
        vt_model_note(
            p, "%u site%s (%s) not judged: events that the log lacks may have freed this memory.",
            count, vt_plural(count), VT_BYTES(bytes));
}

/* Possible leaks, if nothing is called a leak. */
static void note_inconclusive(struct vt_process *p) {
    struct vt_inconclusive_sum sum = vt_process_inconclusive(p);
    VT_SCOPED char *text = vt_inconclusive_text(&sum, "");
    if (sum.sites && !p->leak_count)
        vt_model_note(p, "No leak found; %s.", text);
}

void vt_content_write(struct vt_process *p) {
    vt_why_write(p);
    note_freed_at_exit(p);
    note_went(p);
    note_bounds(p);
    note_unsure(p);
    note_inconclusive(p);
    vt_advice_add(p);
    vt_oom_write(p);
}
