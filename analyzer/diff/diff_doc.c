/* SPDX-License-Identifier: MIT */
/*
 * Two runs side by side, as a document (see diff.h).
 */
#include "diff.h"

#include "content/content.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Side by side, like all tables here. */
static const struct vt_doc_column sides[] = {{.title = "", .before = 2, .width = 10, .right = true},
                                             {.title = "", .before = 1},
                                             {.title = "", .before = 1, .width = 10, .right = true},
                                             {.title = "", .before = 2, .code = true}};
enum { SIDES = sizeof sides / sizeof *sides };

static void add_total(struct vt_doc *doc, const char *what, uint64_t before, uint64_t after,
                      bool bytes) {
    uint64_t by = before > after ? before - after : after - before;
    vt_doc_cells(doc, what, bytes ? VT_BYTES(before) : VT_NUMBER(before),
                 bytes ? VT_BYTES(after) : VT_NUMBER(after),
                 !by ? ""
                     : vt_doc_text(doc, "%c%s", before > after ? '-' : '+',
                                   bytes ? VT_BYTES(by) : VT_NUMBER(by)));
}

static void add_totals(const struct vt_diff *d, struct vt_doc *doc) {
    static const struct vt_doc_column columns[] = {{.title = "", .before = 2, .width = 22},
                                                   {"before", 1, 12, .right = true},
                                                   {"after", 1, 12, .right = true},
                                                   {"change", 1, 14, .right = true}};
    const struct vt_diff_total *a = &d->totals[0], *b = &d->totals[1];
    vt_doc_table(doc, columns, sizeof columns / sizeof *columns);
    add_total(doc, "leaked", a->leaked_bytes, b->leaked_bytes, true);
    add_total(doc, "held at the end", a->live_bytes, b->live_bytes, true);
    add_total(doc, "  blocks", a->live_count, b->live_count, false);
    add_total(doc, "largest GPU peak", a->peak_bytes, b->peak_bytes, true);
    add_total(doc, "allocations", a->alloc_count, b->alloc_count, false);
    add_total(doc, "out-of-memory errors", a->ooms, b->ooms, false);
    if (a->processes > 1 || b->processes > 1)
        add_total(doc, "processes", a->processes, b->processes, false);
}

/* Sites often share their innermost frame, so the next frame of user code is shown below. */
static void add_caller(const struct vt_diff_side *side, struct vt_doc *doc) {
    const struct vt_stack *stack = side->site->stack;
    uint32_t at = stack->user_frame + 1;
    while (at < stack->count && !vt_stack_frame(stack, at)->user_code)
        at++;
    if (at >= stack->count)
        return;
    vt_doc_add(doc, VT_DOC_CALLER,
               vt_doc_keep(doc, vt_frame_text(side->process, vt_stack_frame(stack, at), UINT_MAX)));
}

static const char *verdict(const struct vt_diff_row *r, unsigned side) {
    const struct vt_diff_side *s = &r->sides[side];
    if (!s->there)
        return "absent";
    if (s->verdict == VT_VERDICT_FREED && r->bytes[side])
        return "freed at exit";
    return vt_verdict_names[s->verdict];
}

static void add_row(const struct vt_diff_row *r, struct vt_doc *doc) {
    const struct vt_diff_side *side = &r->sides[r->sides[1].there];
    VT_SCOPED char *frame = vt_stack_text(side->process, side->site->stack, UINT_MAX, false),
                   *call = vt_stack_key_call_text(side->site);
    vt_doc_cells(doc, VT_BYTES(r->bytes[0]), "->", VT_BYTES(r->bytes[1]), frame);
    add_caller(side, doc);
    vt_doc_add(doc, VT_DOC_MORE,
               vt_doc_text(doc, "%s -> %s, %s", verdict(r, 0), verdict(r, 1), call));
    if (r->likeness && r->likeness < 100)
        vt_doc_add(doc, VT_DOC_MORE, vt_doc_text(doc, "stacks %u %% alike", r->likeness));
}

/* The chosen run: in a folder the newest. */
static void add_run(const char *label, const struct vt_model *model, struct vt_doc *doc) {
    const struct vt_process *p = &model->processes[0];
    char date[32] = "", more[32] = "";
    time_t started = (time_t)(p->started_at / 1000000000);
    struct tm tm;
    if (p->started_at && localtime_r(&started, &tm))
        strftime(date, sizeof date, ", %Y-%m-%d %H:%M:%S", &tm);
    if (model->process_count > 1)
        snprintf(more, sizeof more, " and %u more", model->process_count - 1);
    vt_doc_line(doc, "%-7s %s%s%s", label, p->log, more, date);
}

/* Returns how many sites changed. */
static uint32_t add_rows(const struct vt_diff *d, uint32_t top, struct vt_doc *doc) {
    static const char *const headings[VT_DIFF_STATES] = {[VT_DIFF_APPEARED] = "APPEARED",
                                                         [VT_DIFF_GREW] = "GREW",
                                                         [VT_DIFF_SHRANK] = "SHRANK",
                                                         [VT_DIFF_WENT] = "GONE"};
    uint32_t at = 0, changed = 0;
    for (int kind = 0; kind < 2; kind++)
        for (int state = 0; state < VT_DIFF_STATES; state++) {
            uint32_t count = d->counts[kind][state];
            const struct vt_diff_row *rows = &d->rows[at];
            at += count;
            if (!count || state == VT_DIFF_SAME)
                continue;
            changed += count;
            vt_doc_heading(doc, state < VT_DIFF_SHRANK ? VT_STYLE_BAD : VT_STYLE_GOOD,
                           vt_doc_text(doc, "%s%s", kind ? "" : "LEAK ",
                                       kind || state != VT_DIFF_WENT ? headings[state]
                                       : d->totals[1].gaps           ? "NOT SEEN"
                                                                     : "FIXED"),
                           "%u site%s", count, vt_plural(count));
            vt_doc_table(doc, sides, SIDES);
            for (uint32_t i = 0; i < count && i < top; i++)
                add_row(&rows[i], doc);
            if (count > top)
                vt_doc_remark(doc, "and %u more (--top %u shows them)", count - top, count);
        }
    return changed;
}

static bool owner_changed(const struct vt_diff *d, const struct vt_diff_owner *r) {
    return d->moments.shown[0] && d->moments.shown[1] && !r->unseen && r->bytes[0] != r->bytes[1];
}

/* The common kind of both snapshots: "at the end of both". Free it. */
static char *moment_of_both(const struct vt_snapshot *before, const struct vt_snapshot *after) {
    if (before->why == VT_SNAPSHOT_END)
        return vt_strdup("at the end of both");
    if (before->why == VT_SNAPSHOT_OOM)
        return vt_strdup("when memory ran out in both");
    if (!before->passing && before->phase && *before->phase)
        return vt_formatted("at the last '%s' of both", before->phase);
    return vt_formatted("%sbefore at %s, after at %s", before->passing ? "as it grew: " : "",
                        VT_DURATION(before->at), VT_DURATION(after->at));
}

static void add_owners_heading(const struct vt_diff_moments *m, struct vt_doc *doc) {
    VT_SCOPED char *before = vt_snapshot_moment(m->shown[0]),
                   *after = vt_snapshot_moment(m->shown[1]),
                   *both = m->alike ? moment_of_both(m->shown[0], m->shown[1]) : NULL;
    if (both)
        vt_doc_heading(doc, VT_STYLE_HEAD, "OWNERS", "what keeps the memory, %s", both);
    else
        vt_doc_heading(doc, VT_STYLE_HEAD, "OWNERS", "what keeps the memory, before %s, after %s",
                       before, after);
    if (!m->tell)
        vt_doc_add(doc, VT_DOC_SENTENCE,
                   m->alike ? "Both are partial: absence from one run proves nothing."
                            : "The moments differ: an owner that only one of them shows may be "
                              "unchanged.");
    struct vt_doc_column columns[SIDES];
    memcpy(columns, sides, sizeof columns);
    columns[SIDES - 1].code = false;
    columns[SIDES - 1].words = true;
    vt_doc_table(doc, columns, SIDES);
}

static void add_owner(const struct vt_diff_owner *r, struct vt_doc *doc) {
    enum { PLACE = 28 };
    const char *amounts[2];
    unsigned side = vt_diff_owner_side(r);
    VT_SCOPED char *now = vt_owner_role_text(r->process[side], r->owner[side]);
    for (unsigned i = 0; i < 2; i++)
        amounts[i] = r->owner[i] || r->comparable ? vt_doc_text(doc, "%s", VT_BYTES(r->bytes[i]))
                                                  : "not seen";
    vt_doc_cells(doc, amounts[0], "->", amounts[1], now);
    if (r->owner[0] && r->owner[1] && r->owner[0]->id != r->owner[1]->id) {
        VT_SCOPED char *before = vt_owner_role_text(r->process[0], r->owner[0]);
        vt_doc_add(doc, VT_DOC_MORE, vt_doc_text(doc, "before: %s", before))->column = PLACE;
    }
}

/* The owners whose memory changed, if both runs have a snapshot. Returns whether there is one. */
static bool add_owners(const struct vt_diff *d, uint32_t top, struct vt_doc *doc) {
    const struct vt_diff_moments *m = &d->moments;
    uint32_t changed = 0, unseen = 0;
    if (!m->shown[0] != !m->shown[1])
        vt_doc_heading(doc, VT_STYLE_HEAD, "OWNERS",
                       "not compared: the %s run has no snapshot of owners",
                       m->shown[0] ? "AFTER" : "BEFORE");
    for (uint32_t i = 0; i < d->owner_count && m->shown[0] && m->shown[1]; i++) {
        const struct vt_diff_owner *r = &d->owners[i];
        unseen += r->unseen;
        if (!owner_changed(d, r) || ++changed > top)
            continue;
        if (changed == 1)
            add_owners_heading(m, doc);
        add_owner(r, doc);
    }
    if (changed > top)
        vt_doc_remark(doc, "and %u more (--top %u shows them)", changed - top, changed);
    if (changed && unseen)
        vt_doc_remark(doc, "and %u seen in one run only, whose call site%s as much in both", unseen,
                      unseen == 1 ? " holds" : "s hold");
    return changed;
}

/* The notes of the logs: for instance that a binary changed, so names are missing. */
static void add_notes(const char *label, const struct vt_model *model, struct vt_doc *doc) {
    for (uint32_t i = 0; i < model->process_count; i++)
        for (uint32_t j = 0; j < model->processes[i].note_count; j++) {
            struct vt_doc_item *note = vt_doc_add(doc, VT_DOC_NOTE, model->processes[i].notes[j]);
            note->label = label;
            note->column = 10;
        }
}

void vt_diff_document(const struct vt_diff *d, const struct vt_model *before,
                      const struct vt_model *after, uint32_t top, struct vt_doc *doc) {
    add_run("before", before, doc);
    add_run("after", after, doc);
    vt_doc_line(doc, "%s", "");
    add_totals(d, doc);
    bool changed = add_rows(d, top, doc);
    /* owners can change while the site's bytes stay the same */
    if (!add_owners(d, top, doc) && !changed) {
        vt_doc_line(doc, "%s", "");
        vt_doc_line(doc, "no site holds more or less than before");
    }
    add_notes("  before", before, doc);
    add_notes("  after", after, doc);
}
