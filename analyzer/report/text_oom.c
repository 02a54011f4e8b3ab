/* SPDX-License-Identifier: MIT */
/*
 * The text report's OUT OF MEMORY block: the last failure without a recovery, which most likely
 * mattered; of the others only their number.
 */
#include "fmt_text.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL = 11, HOLDERS_SHOWN = 3 };

static bool recovered(const struct vt_oom *oom) {
    return !strcmp(oom->outcome, "recovered");
}

/* The request, and what was free. */
static void print_asked(const struct vt_text *t, const struct vt_oom *oom) {
    struct vt_string text = {0};
    vt_string_add(&text, VT_BYTES(oom->requested_bytes));
    if (oom->layer == VT_LAYER_HOST)
        vt_string_add(&text, " of pinned host memory");
    if (oom->api)
        vt_string_format(&text, " by %s", oom->api);
    if (oom->expandable && oom->driver_requested_bytes != VT_UNKNOWN)
        vt_string_format(&text, " (in pieces of %s)", VT_BYTES(oom->driver_requested_bytes));
    else if (oom->driver_requested_bytes != VT_UNKNOWN &&
             oom->driver_requested_bytes != oom->requested_bytes)
        vt_string_format(&text, " (a segment of %s)", VT_BYTES(oom->driver_requested_bytes));
    if (oom->layer != VT_LAYER_HOST)
        vt_string_format(&text, "; this process held %s", VT_BYTES(oom->tracked_bytes));
    if (oom->free_bytes != VT_UNKNOWN && oom->free_said_at == VT_UNKNOWN)
        vt_string_format(&text, "; at most %s free on the device", VT_BYTES(oom->free_bytes));
    else if (oom->free_bytes != VT_UNKNOWN)
        vt_string_format(&text, "; %s free on the device", VT_BYTES(oom->free_bytes));
    uint64_t apart =
        oom->free_said_at > oom->at ? oom->free_said_at - oom->at : oom->at - oom->free_said_at;
    if (oom->free_said_at != VT_UNKNOWN && apart >= 1000000000)
        vt_string_format(&text, " (driver's figure, %s %s)", VT_DURATION(apart),
                         oom->free_said_at > oom->at ? "later" : "earlier");
    if (oom->cached_bytes != VT_UNKNOWN && oom->cached_bytes)
        vt_string_format(&text, ", %s idle in %s's cache", VT_BYTES(oom->cached_bytes),
                         oom->allocator ? oom->allocator : "a framework");
    vt_text_wrap(t, "  asked", LABEL, text.text);
    vt_string_free(&text);
}

/* "5.11 GiB  train.py:22 in main   3f2a" */
static void print_site(const struct vt_text *t, const char *label, const char *first,
                       const struct vt_site *site) {
    unsigned width = VT_TEXT_WIDTH - LABEL - 11 - t->digits - 2;
    char *frame_text = vt_stack_text(t->process, site->stack, width, true);
    int pad = (int)width - (int)vt_frame_text_columns(frame_text);
    fprintf(t->out, "%-*s%9s  %s%*s  %.*s\n", LABEL, label, first, frame_text, pad > 0 ? pad : 0,
            "", (int)t->digits, site->name);
    free(frame_text);
}

/* The callers of a site, below its row. */
static void print_callers(const struct vt_text *t, const struct vt_site *site) {
    const struct vt_frame *callers[VT_CALLERS];
    uint32_t count = vt_rows_callers(site->stack, callers);
    for (uint32_t i = 0; i < count; i++) {
        char *frame_text = vt_frame_text(t->process, callers[i], VT_TEXT_WIDTH - LABEL - 16);
        fprintf(t->out, "%*s%sfrom %s%s\n", LABEL + 11, "", vt_text_style(t, VT_STYLE_DIM),
                frame_text, vt_text_style(t, VT_STYLE_NONE));
        free(frame_text);
    }
}

static void print_sawtooth(const struct vt_text *t, const struct vt_site *site) {
    if (site->sawtooth)
        vt_text_wrap(t, "", LABEL + 11, site->sawtooth->says);
}

static void print_holders(const struct vt_text *t, const struct vt_oom *oom) {
    for (uint32_t i = 0, shown = 0; i < oom->holder_count && shown < HOLDERS_SHOWN; i++) {
        if (oom->holders[i] == VT_NO_SITE)
            continue;
        print_site(t, shown ? "" : "  held by", VT_BYTES(oom->holder_bytes[i]),
                   &t->process->sites[oom->holders[i]]);
        print_callers(t, &t->process->sites[oom->holders[i]]);
        print_sawtooth(t, &t->process->sites[oom->holders[i]]);
        shown++;
    }
}

/* The blocks that keep mostly idle segments from being released. */
static void print_pins(const struct vt_text *t, const struct vt_oom *oom) {
    if (!oom->cause || strcmp(oom->cause, "fragmentation"))
        return;
    for (uint32_t i = 0, shown = 0; i < oom->pin_count && shown < HOLDERS_SHOWN; i++) {
        const struct vt_pin *pin = &oom->pins[i];
        if (pin->site == VT_NO_SITE)
            continue;
        print_site(t, shown ? "" : "  pinned by", VT_BYTES(pin->pinned_bytes),
                   &t->process->sites[pin->site]);
        fprintf(t->out, "%*sits %s block%s hold%s %s segment%s, %s of them idle\n", LABEL + 11, "",
                VT_NUMBER(pin->blocks), vt_plural(pin->blocks), pin->blocks == 1 ? "s" : "",
                VT_NUMBER(pin->segments), vt_plural(pin->segments), VT_BYTES(pin->pinned_bytes));
        shown++;
    }
}

static bool ended_well(const struct vt_process *p) {
    return !strcmp(p->exit_kind, "exited") && !p->exit_status;
}

/* For how long the program allocated memory after it; 0: it did not. The process's end is not what
 * counts: a program that dies of it takes its time for that, and so does our search for owners. */
static uint64_t allocated_for(const struct vt_process *p, const struct vt_oom *oom) {
    uint64_t last = oom->at;
    for (uint32_t i = 0; i < p->site_count; i++)
        if (p->sites[i].last_at != VT_UNKNOWN && p->sites[i].last_at > last)
            last = p->sites[i].last_at;
    return last - oom->at;
}

/* Whether the program coped: it ended well, or went on allocating for long. */
static bool went_on(const struct vt_process *p, const struct vt_oom *oom) {
    uint64_t after = allocated_for(p, oom);
    return ended_well(p) || (after >= 2000000000 && after >= p->duration / 8);
}

bool vt_text_oom_matters_most(const struct vt_process *p) {
    const struct vt_oom *oom = vt_process_oom(p);
    return oom && oom->layer != VT_LAYER_HOST && !went_on(p, oom) && oom->holder_count &&
           oom->holder_bytes[0] > oom->leaked_bytes;
}

static void print_after(const struct vt_text *t, const struct vt_oom *oom) {
    const struct vt_process *p = t->process;
    struct vt_string text = {0};
    uint64_t ns = allocated_for(p, oom);
    vt_string_add(&text, "the program");
    if (ns)
        vt_string_format(&text, " continued for %s", VT_DURATION(ns));
    if (!strcmp(p->exit_kind, "exited"))
        vt_string_format(&text, "%s ended with exit status %d", ns ? " and" : "", p->exit_status);
    vt_text_wrap(t, "  then", LABEL, text.text);
    vt_string_free(&text);
}

static void print_oom(const struct vt_text *t, const struct vt_oom *oom) {
    const struct vt_process *p = t->process;
    const struct vt_frame *frame = vt_stack_main_frame(oom->stack);
    char *frame_text = vt_stack_text(p, oom->stack, 50, false);
    char *source = vt_frame_text_source(p, frame, 69);
    char *rest = vt_formatted("%s, %s", VT_DURATION(oom->at), frame_text);
    bool alive = went_on(p, oom);
    vt_text_heading(t, alive ? VT_STYLE_WARN : VT_STYLE_BAD, "OUT OF MEMORY", rest);
    if (source)
        fprintf(t->out, "%*s%s\n", LABEL, "", source);
    if (alive)
        print_after(t, oom);
    print_asked(t, oom);
    char *cause = vt_formatted("%s: %s.", oom->cause ? oom->cause : "unknown", oom->why);
    vt_text_wrap(t, "  cause", LABEL, cause);
    print_pins(t, oom);
    print_holders(t, oom);
    vt_text_oom_owners(t, oom, LABEL);
    if (oom->advice)
        vt_text_wrap(t, "  try", LABEL, oom->advice);
    free(frame_text);
    free(source);
    free(rest);
    free(cause);
}

void vt_text_ooms(const struct vt_text *t) {
    const struct vt_process *p = t->process;
    const struct vt_oom *last = vt_process_oom(p);
    const char *by = NULL;
    uint64_t recoveries = 0, others = p->ooms_left_out;
    for (uint32_t i = 0; i < p->oom_count; i++) {
        if (recovered(&p->ooms[i])) {
            recoveries++;
            by = p->ooms[i].allocator ? p->ooms[i].allocator : by;
        } else {
            others += &p->ooms[i] != last;
        }
    }
    if (last)
        print_oom(t, last);
    if (others)
        fprintf(t->out, "  %s other allocation%s failed as well%s.\n", VT_NUMBER(others),
                vt_plural(others),
                last && went_on(p, last) ? "; the program continued each time" : "");
    if (recoveries)
        fprintf(t->out, "%s%s allocation%s failed, then succeeded when %s tried again.\n",
                last ? "  " : "\n", VT_NUMBER(recoveries), vt_plural(recoveries),
                by ? by : "the program");
}
