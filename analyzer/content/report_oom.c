/* SPDX-License-Identifier: MIT */
/*
 * The report on a failure for lack of memory (see report_doc.h): the request, the cause, the largest sites and
 * owners, and advice.
 */
#include "report_doc.h"

#include "vramtrace/log_format.h"

#include <limits.h>
#include <stdlib.h>

enum { LABEL = 11, HOLDERS_SHOWN = 3 };

static bool recovered(const struct vt_oom *oom) {
    return oom->outcome == VT_OOM_RECOVERED;
}

/* The request, and the free memory. */
static void say_asked(const struct vt_oom *oom, struct vt_doc *doc) {
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
    if (oom->free_bytes != VT_UNKNOWN && oom->free_reported_at == VT_UNKNOWN)
        vt_string_format(&text, "; at most %s free on the device", VT_BYTES(oom->free_bytes));
    else if (oom->free_bytes != VT_UNKNOWN)
        vt_string_format(&text, "; %s free on the device", VT_BYTES(oom->free_bytes));
    uint64_t apart = oom->free_reported_at > oom->at ? oom->free_reported_at - oom->at
                                                     : oom->at - oom->free_reported_at;
    if (oom->free_reported_at != VT_UNKNOWN && apart >= 1000000000)
        vt_string_format(&text, " (driver's figure, %s %s)", VT_DURATION(apart),
                         oom->free_reported_at > oom->at ? "later" : "earlier");
    if (oom->cached_bytes != VT_UNKNOWN && oom->cached_bytes)
        vt_string_format(&text, ", %s idle in %s's cache", VT_BYTES(oom->cached_bytes),
                         oom->allocator ? oom->allocator : "a framework");
    vt_doc_row(doc, "asked", "%s", vt_doc_keep(doc, text.text));
}

/* "5.11 GiB  train.py:22 in main   3f2a" */
static void say_site(const struct vt_subject *t, const char *label, uint64_t bytes,
                     const struct vt_site *site, struct vt_doc *doc) {
    vt_doc_holder(doc, label, bytes, site,
                  vt_doc_keep(doc, vt_stack_text(t->process, site->stack, UINT_MAX, true)));
}

/* A sentence about the site above. */
static void say_more(const char *text, struct vt_doc *doc) {
    vt_doc_add(doc, VT_DOC_MORE, text)->column = LABEL + VT_DOC_BYTES;
}

static void say_callers(const struct vt_subject *t, const struct vt_site *site,
                        struct vt_doc *doc) {
    const struct vt_frame *callers[VT_CALLERS];
    uint32_t count = vt_rows_callers(site->stack, callers);
    for (uint32_t i = 0; i < count; i++) {
        char *text = vt_frame_text(t->process, callers[i], UINT_MAX);
        vt_doc_add(doc, VT_DOC_CALLER, vt_doc_keep(doc, text))->column = LABEL + VT_DOC_BYTES;
    }
}

/* By line, as for the device's peak. False: unknown for this failure. */
static bool say_lines(const struct vt_subject *t, const struct vt_oom *oom, struct vt_doc *doc) {
    struct vt_format_options by_line = {.by = VT_BY_LINE};
    struct vt_subject lines = *t;
    struct vt_rows rows;
    if (oom->layer == VT_LAYER_HOST || oom != vt_process_oom(t->process) || !oom->holder_count)
        return false;
    lines.options = &by_line;
    vt_rows_make(&rows, &lines, VT_ROWS_OOM, oom->device);
    bool known = rows.count && rows.rows[0].bytes >= oom->holder_bytes[0];
    for (uint32_t i = 0; known && i < rows.count && i < HOLDERS_SHOWN; i++) {
        const struct vt_row *row = &rows.rows[i];
        say_site(t, i ? "" : "held by", row->bytes, row->site, doc);
        if (row->sites == 1)
            say_callers(t, row->site, doc);
        else
            say_more(
                vt_doc_text(doc, "+%u more call site%s", row->sites - 1, vt_plural(row->sites - 1)),
                doc);
    }
    vt_rows_free(&rows);
    return known;
}

static void say_holders(const struct vt_subject *t, const struct vt_oom *oom, struct vt_doc *doc) {
    if (say_lines(t, oom, doc))
        return;
    for (uint32_t i = 0, shown = 0; i < oom->holder_count && shown < HOLDERS_SHOWN; i++) {
        if (oom->holders[i] == VT_NO_SITE)
            continue;
        const struct vt_site *site = &t->process->sites[oom->holders[i]];
        say_site(t, shown++ ? "" : "held by", oom->holder_bytes[i], site, doc);
        say_callers(t, site, doc);
    }
}

/* The blocks that keep mostly idle segments from being released. */
static void say_pins(const struct vt_subject *t, const struct vt_oom *oom, struct vt_doc *doc) {
    if (oom->cause != VT_CAUSE_FRAGMENTATION)
        return;
    for (uint32_t i = 0, shown = 0; i < oom->pin_count && shown < HOLDERS_SHOWN; i++) {
        const struct vt_pin *pin = &oom->pins[i];
        if (pin->site == VT_NO_SITE)
            continue;
        say_site(t, shown++ ? "" : "pinned by", pin->pinned_bytes, &t->process->sites[pin->site],
                 doc);
        say_more(vt_doc_text(doc, "its %s block%s hold%s %s segment%s with %s idle",
                             VT_NUMBER(pin->blocks), vt_plural(pin->blocks),
                             pin->blocks == 1 ? "s" : "", VT_NUMBER(pin->segments),
                             vt_plural(pin->segments), VT_BYTES(pin->pinned_bytes)),
                 doc);
    }
}

/* How long the program continued to allocate after it; 0: it did not. The process's end does not count: a dying
 * program needs time, and so does our search for owners. */
static uint64_t allocated_for(const struct vt_process *p, const struct vt_oom *oom) {
    uint64_t last = oom->at;
    for (uint32_t i = 0; i < p->site_count; i++)
        if (p->sites[i].last_at != VT_UNKNOWN && p->sites[i].last_at > last)
            last = p->sites[i].last_at;
    return last - oom->at;
}

/* It ended well, or continued to allocate for long. */
bool vt_words_oom_survived(const struct vt_process *p, const struct vt_oom *oom) {
    uint64_t after = allocated_for(p, oom);
    return vt_ended_well(p->ending) || (after >= 2000000000 && after >= p->duration / 8);
}

bool vt_report_oom_first(const struct vt_process *p) {
    const struct vt_oom *oom = vt_process_oom(p);
    return oom && oom->layer != VT_LAYER_HOST && !vt_words_oom_survived(p, oom) &&
           oom->holder_count && oom->holder_bytes[0] > oom->leaked_bytes;
}

static void say_after(const struct vt_process *p, const struct vt_oom *oom, struct vt_doc *doc) {
    VT_SCOPED_STRING text = {0};
    uint64_t ns = allocated_for(p, oom);
    vt_string_add(&text, "the program");
    if (ns)
        vt_string_format(&text, " continued for %s", VT_DURATION(ns));
    if (p->ending.how == VT_END_EXITED)
        vt_string_format(&text, "%s ended with exit status %d", ns ? " and" : "", p->ending.status);
    vt_doc_row(doc, "then", "%s", text.text);
}

/* The last failure without a recovery, probably the one that mattered. */
static void say_oom(const struct vt_subject *t, const struct vt_oom *oom, struct vt_doc *doc) {
    const struct vt_process *p = t->process;
    bool survived = vt_words_oom_survived(p, oom);
    VT_SCOPED char *at = vt_stack_text(p, oom->stack, UINT_MAX, false);
    VT_SCOPED char *source = vt_frame_text_source(p, vt_stack_main_frame(oom->stack), UINT_MAX);
    struct vt_doc_item *heading =
        vt_doc_heading(doc, survived ? VT_STYLE_WARN : VT_STYLE_BAD, "OUT OF MEMORY", "%s, %s",
                       VT_DURATION(oom->at), at);
    heading->about = "oom";
    heading->oom = oom;
    if (source)
        vt_doc_add(doc, VT_DOC_SOURCE, vt_doc_text(doc, "%s", source));
    if (survived)
        say_after(p, oom, doc);
    say_asked(oom, doc);
    vt_doc_row(doc, "cause", "%s: %s.", oom->cause ? vt_oom_cause_names[oom->cause] : "unknown",
               oom->why);
    say_pins(t, oom, doc);
    say_holders(t, oom, doc);
    vt_report_add_oom_owners(t, oom, doc);
    if (oom->advice)
        vt_doc_row(doc, "try", "%s", oom->advice);
}

/* If other allocations succeeded, the failed ones may have been optional attempts. */
static void add_failed(const struct vt_subject *t, struct vt_doc *doc) {
    const struct vt_process *p = t->process;
    if (!p->failed_count)
        return;
    char *causes = vt_doc_keep(doc, vt_failed_causes(p, p->failed));
    vt_doc_heading(doc, p->nothing_allocated ? VT_STYLE_BAD : VT_STYLE_HEAD,
                   p->nothing_allocated ? "NOTHING ALLOCATED" : "ALLOCATION FAILED", "%s",
                   vt_doc_keep(doc, vt_failed_text(p, p->failed, UINT_MAX)))
        ->about = "failed";
    if (causes)
        vt_doc_row(doc, "usually", "%s", causes);
    if (p->failed_count > 1)
        vt_doc_row(doc, "others", "%s with other errors or at other places (--format json)",
                   VT_NUMBER(p->failed_in_all - p->failed->count));
    vt_doc_add(doc, VT_DOC_END, NULL);
}

void vt_report_add_ooms(const struct vt_subject *t, struct vt_doc *doc) {
    const struct vt_process *p = t->process;
    const struct vt_oom *last = vt_process_oom(p);
    const char *by = NULL;
    uint64_t recoveries = 0, others = p->ooms_left_out;
    doc->column = LABEL;
    if (last)
        say_oom(t, last, doc);
    for (uint32_t i = 0; i < p->oom_count; i++) {
        if (recovered(&p->ooms[i])) {
            recoveries++;
            by = p->ooms[i].allocator ? p->ooms[i].allocator : by;
        } else {
            others += &p->ooms[i] != last;
        }
    }
    if (others + recoveries && !last) {
        struct vt_doc_item *section = vt_doc_add(doc, VT_DOC_SECTION, NULL);
        section->label = "OUT OF MEMORY";
        section->about = "note";
    }
    if (others)
        vt_doc_remark(
            doc, "%s other allocation%s failed as well%s.", VT_NUMBER(others), vt_plural(others),
            last && vt_words_oom_survived(p, last) ? "; the program continued each time" : "");
    if (recoveries)
        vt_doc_remark(doc, "%s allocation%s failed, then succeeded when %s tried again.",
                      VT_NUMBER(recoveries), vt_plural(recoveries), by ? by : "the program");
    vt_doc_add(doc, VT_DOC_END, NULL);
    add_failed(t, doc);
}
