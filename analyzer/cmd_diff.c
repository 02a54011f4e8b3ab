/* SPDX-License-Identifier: MIT */
/*
 * vramtrace diff: what changed between two runs. Parses its options, builds both models, compares
 * them (diff.c), and writes the table or the JSON.
 */
#include "commands.h"
#include "build.h"
#include "cmd_input.h"
#include "diff/diff.h"
#include "logfile/logfile.h"
#include "report/report.h"
#include "base/base.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct options {
    bool json;
    uint32_t top;
    const char *run; /* --run: "all", or NULL */
    struct vt_texts user_code;
};

/* --- the document --- */

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
static uint32_t add_rows(const struct vt_diff *d, const struct options *o, struct vt_doc *doc) {
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
            for (uint32_t i = 0; i < count && i < o->top; i++)
                add_row(&rows[i], doc);
            if (count > o->top)
                vt_doc_remark(doc, "and %u more (--top %u shows them)", count - o->top, count);
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
static bool add_owners(const struct vt_diff *d, const struct options *o, struct vt_doc *doc) {
    const struct vt_diff_moments *m = &d->moments;
    uint32_t changed = 0, unseen = 0;
    if (!m->shown[0] != !m->shown[1])
        vt_doc_heading(doc, VT_STYLE_HEAD, "OWNERS",
                       "not compared: the %s run has no snapshot of owners",
                       m->shown[0] ? "AFTER" : "BEFORE");
    for (uint32_t i = 0; i < d->owner_count && m->shown[0] && m->shown[1]; i++) {
        const struct vt_diff_owner *r = &d->owners[i];
        unseen += r->unseen;
        if (!owner_changed(d, r) || ++changed > o->top)
            continue;
        if (changed == 1)
            add_owners_heading(m, doc);
        add_owner(r, doc);
    }
    if (changed > o->top)
        vt_doc_remark(doc, "and %u more (--top %u shows them)", changed - o->top, changed);
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

static void write_text(const struct vt_diff *d, const struct options *o,
                       const struct vt_model *before, const struct vt_model *after) {
    struct vt_doc doc = {0};
    add_run("before", before, &doc);
    add_run("after", after, &doc);
    vt_doc_line(&doc, "%s", "");
    add_totals(d, &doc);
    bool changed = add_rows(d, o, &doc);
    /* owners can change while the site's bytes stay the same */
    if (!add_owners(d, o, &doc) && !changed) {
        vt_doc_line(&doc, "%s", "");
        vt_doc_line(&doc, "no site holds more or less than before");
    }
    add_notes("  before", before, &doc);
    add_notes("  after", after, &doc);
    vt_doc_show(&doc, vt_wants_colour(1), stdout);
    vt_doc_free(&doc);
}

/* --- json --- */

/* clang-format off */
#define OF struct vt_diff_side
const struct vt_key vt_diff_side_keys[] = {
    VT_WORD_KEY("verdict", verdict, vt_verdict_names, VT_VERDICTS, NULL, "see vramtrace-report(1)"),
    VT_SITE_FIGURES(VT_FIGURE_KEY)
    VT_NUMBER_KEY("leaked_bytes", leaked_bytes, "bytes", "part of it that fails the gate"),
    VT_KEYS_END,
};
#undef OF

#define OF struct vt_diff_total
const struct vt_key vt_diff_total_keys[] = {
    VT_NUMBER_KEY("processes", processes, "count", "processes of the run"),
    VT_NUMBER_KEY("leaked_bytes", leaked_bytes, "bytes", "held by leaks"),
    VT_NUMBER_KEY("live_bytes", live_bytes, "bytes", "device memory held at the end"),
    VT_NUMBER_KEY("live_count", live_count, "count", "blocks held at the end"),
    VT_NUMBER_KEY("peak_bytes", peak_bytes, "bytes_or_null", "the largest peak of a process on a GPU"),
    VT_NUMBER_KEY("alloc_count", alloc_count, "count", "allocations"),
    VT_NUMBER_KEY("ooms", ooms, "count", "out-of-memory errors"),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

static void json_side(struct vt_key_writer *w, const char *name, const struct vt_diff_side *s) {
    if (!vt_json_object(w->json, name, s->there))
        return;
    vt_json_string(w->json, "site", s->site->name);
    vt_keys_write(w, vt_diff_side_keys, s);
    vt_keys_frame(w, "own_frame", vt_stack_main_frame(s->site->stack));
    vt_json_close(w->json, '}');
}

/* When the compared owners were seen. */
static void json_moments(struct vt_json *j, const struct vt_diff_moments *m) {
    static const char *const sides[] = {"before", "after"};
    vt_json_open(j, "owner_moments", '{');
    vt_json_boolean(j, "alike", m->alike);
    vt_json_boolean(j, "whole", m->tell);
    for (unsigned side = 0; side < 2; side++) {
        const struct vt_snapshot *s = m->shown[side];
        if (!vt_json_object(j, sides[side], s))
            continue;
        vt_json_string(j, "why", vt_snapshot_why_names[s->why]);
        vt_json_string(j, "phase", s->phase);
        vt_json_number(j, "at_ns", s->at);
        vt_json_close(j, '}');
    }
    vt_json_close(j, '}');
}

static void json_owners(struct vt_json *j, const struct vt_diff *d) {
    static const char *const sides[] = {"before", "after"};
    for (uint32_t i = 0; vt_json_objects(j, "owners", i, d->owner_count); i++) {
        const struct vt_diff_owner *r = &d->owners[i];
        const struct vt_memory_owner *owner = r->owner[vt_diff_owner_side(r)];
        vt_json_string(j, "owner", owner->key);
        vt_json_string(j, "name", owner->name);
        vt_json_string(j, "name_before", r->owner[0] ? r->owner[0]->name : NULL);
        vt_json_string(j, "role", vt_purpose_names[owner->purpose]);
        for (unsigned side = 0; side < 2; side++) {
            bool known = d->moments.shown[side] && (r->owner[side] || r->comparable);
            if (!vt_json_object(j, sides[side], known))
                continue;
            vt_json_number(j, "bytes", r->bytes[side]);
            vt_json_number(j, "count", r->count[side]);
            vt_json_close(j, '}');
        }
    }
}

static void write_json(const struct vt_diff *d) {
    struct vt_json j = {.out = stdout, .first = true};
    struct vt_key_writer w = {.json = &j};
    vt_json_open(&j, NULL, '{');
    vt_json_string(&j, "schema", "vramtrace-diff/1");
    vt_keys_object(&w, "before", vt_diff_total_keys, &d->totals[0], 0);
    vt_keys_object(&w, "after", vt_diff_total_keys, &d->totals[1], 0);
    for (uint32_t i = 0; vt_json_objects(&j, "sites", i, d->count); i++) {
        const struct vt_diff_row *r = &d->rows[i];
        const struct vt_site *site = r->sides[r->sides[1].there].site;
        vt_json_string(&j, "change", vt_diff_names[r->state]);
        vt_json_boolean(&j, "leak", r->leak);
        vt_json_string(&j, "api", site->api);
        vt_json_string(&j, "layer", vt_layer_name(site->layer));
        vt_json_number(&j, "likeness_percent", r->likeness ? r->likeness : VT_UNKNOWN);
        json_side(&w, "before", &r->sides[0]);
        json_side(&w, "after", &r->sides[1]);
    }
    json_moments(&j, &d->moments);
    json_owners(&j, d);
    vt_json_close(&j, '}');
    putchar('\n');
}

/* --- the command --- */

/* Builds the model of a log, or of a folder's newest run. Returns 0, or an exit status after printing an error. */
static int build(char *const *argument, const struct options *o, struct vt_model *model) {
    struct vt_model_options options = {.device = -1, .user_code = o->user_code.items};
    struct vt_logs logs;
    struct vt_string message = {0};
    vt_progress_allow();
    int error = vt_logs_find(argument, 1, NULL, &logs, &message);
    if (!error)
        error =
            vt_build_model((const char *const *)logs.paths, logs.count, &options, model, &message);
    vt_progress_end();
    vt_logs_free(&logs);
    return vt_error_status(error, &message);
}

static int compare_runs(char *const *arguments, const struct options *o) {
    struct vt_model before, after;
    struct vt_diff diff;
    int status = build(arguments, o, &before);
    if (status)
        return status;
    status = build(arguments + 1, o, &after);
    if (!status) {
        vt_diff_make(&before, &after, &diff);
        if (o->json)
            write_json(&diff);
        else
            write_text(&diff, o, &before, &after);
        vt_diff_free(&diff);
        vt_build_free(&after);
        status = vt_output_close(NULL, NULL, 0);
    }
    vt_build_free(&before);
    return status;
}

static int diff(void *to, char *const *arguments, int count) {
    const struct options *o = to;
    if (count != 2)
        return vt_usage("diff", "expected two logs or folders, BEFORE and AFTER, found %d", count);
    if (!o->run)
        return compare_runs(arguments, o);
    struct vt_model_options options = {.device = -1, .user_code = o->user_code.items};
    return vt_cmd_diff_runs(arguments, &options, o->json, o->top);
}

static const char *check_all(const char *value) {
    return strcmp(value, "all") ? "all" : NULL;
}

#define AT(field) .at = offsetof(struct options, field)

static const struct vt_option rows[] = {
    {"run", " all", "compare all runs of two folders, and tell changes from noise", vt_parse_text,
     AT(run), .check = check_all},
    {"format", " text|json", "json: schema vramtrace-diff/1; with --run all, vramtrace-runs/1",
     vt_parse_json, AT(json)},
    {"top", " N", "rows of each kind (text: 20)", vt_parse_count, AT(top)},
    {"own", " PATTERN", "your own code: frames whose function, file or module match",
     vt_parse_texts, AT(user_code)},
    VT_OPTION_HELP,
    {.name = NULL},
};

int vt_cmd_diff(int argc, char **argv) {
    static const struct vt_options options = {
        .command = "diff",
        .usage =
            "usage: vramtrace diff [options] BEFORE AFTER\n"
            "\n"
            "Compares the leaks of two runs and their memory at the end, site by site: new,\n"
            "gone, larger or smaller. BEFORE and AFTER are logs, or folders, which stand for\n"
            "their newest runs. Sites are matched by call stack, even if files were edited or\n"
            "rebuilt.\n"
            "\n",
        .all = {{.rows = rows}},
        .run = diff,
    };
    struct options o = {.top = 20};
    int status = vt_options_run(&options, argc, argv, &o);
    free(o.user_code.items);
    return status;
}
