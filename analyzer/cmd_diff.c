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

#include <stdlib.h>
#include <string.h>
#include <time.h>

static FILE *page; /* where the text goes */

struct options {
    bool json;
    uint32_t top;
    const char *run; /* --run: "all", or NULL */
    struct vt_texts user_code;
};

/* --- text --- */

static const char *style(bool colour, const char *escape) {
    return colour ? escape : "";
}

/* "+1.50 MiB", "-1". */
static const char *change_text(uint64_t before, uint64_t after, bool bytes, char out[48]) {
    uint64_t by = before > after ? before - after : after - before;
    snprintf(out, 48, "%c%s", before > after ? '-' : '+', bytes ? VT_BYTES(by) : VT_NUMBER(by));
    return out;
}

static void total(const char *what, uint64_t before, uint64_t after, bool bytes) {
    char c[48];
    fprintf(page, "  %-22s %12s %12s", what, bytes ? VT_BYTES(before) : VT_NUMBER(before),
            bytes ? VT_BYTES(after) : VT_NUMBER(after));
    if (before != after)
        fprintf(page, " %14s", change_text(before, after, bytes, c));
    fputc('\n', page);
}

/* Sites often share their innermost frame, so this prints the next frame of user code too. */
static void caller(const struct vt_diff_side *side) {
    const struct vt_stack *stack = side->site->stack;
    for (uint32_t i = stack->user_frame + 1; i < stack->count; i++) {
        if (!vt_stack_frame(stack, i)->user_code)
            continue;
        VT_SCOPED char *frame_text =
            vt_frame_text(side->process, vt_stack_frame(stack, i), VT_TEXT_WIDTH - 38);
        fprintf(page, "  %26scalled by %s\n", "", frame_text);
        return;
    }
}

static const char *verdict(const struct vt_diff_row *r, unsigned side) {
    const struct vt_diff_side *s = &r->sides[side];
    if (!s->there)
        return "absent";
    if (s->verdict == VT_VERDICT_FREED && r->bytes[side])
        return "freed at exit";
    return vt_verdict_names[s->verdict];
}

static void row(const struct vt_diff_row *r) {
    struct vt_text text = {.out = page, .width = VT_TEXT_WIDTH};
    const struct vt_diff_side *side = &r->sides[r->sides[1].there];
    VT_SCOPED char *frame_text =
        vt_stack_text(side->process, side->site->stack, VT_TEXT_WIDTH - 28, false);
    VT_SCOPED char *call = vt_stack_key_call_text(side->site);
    fprintf(page, "  %10s -> %10s  %s\n", VT_BYTES(r->bytes[0]), VT_BYTES(r->bytes[1]), frame_text);
    caller(side);
    VT_SCOPED char *verdicts = vt_formatted("%s -> %s, %s", verdict(r, 0), verdict(r, 1), call);
    vt_text_wrap(&text, "", 28, verdicts);
    if (r->likeness && r->likeness < 100)
        fprintf(page, "  %26sstacks %u %% alike\n", "", r->likeness);
}

/* Prints the notes of the logs: for instance that a binary changed, so names are missing. */
static void print_notes(const char *what, const struct vt_model *model) {
    struct vt_text text = {.out = page, .width = VT_TEXT_WIDTH};
    for (uint32_t i = 0; i < model->process_count; i++)
        for (uint32_t j = 0; j < model->processes[i].note_count; j++)
            vt_text_wrap(&text, what, 10, model->processes[i].notes[j]);
}

/* Prints which run was chosen: in a folder the newest. */
static void name_run(const char *label, const struct vt_model *model) {
    const struct vt_process *p = &model->processes[0];
    char date[32] = "";
    time_t started = (time_t)(p->started_at / 1000000000);
    struct tm tm;
    if (p->started_at && localtime_r(&started, &tm))
        strftime(date, sizeof date, ", %Y-%m-%d %H:%M:%S", &tm);
    VT_SCOPED char *log = vt_printable(vt_strdup(p->log));
    fprintf(page, "%-7s %s", label, log);
    if (model->process_count > 1)
        fprintf(page, " and %u more", model->process_count - 1);
    fprintf(page, "%s\n", date);
}

/* Returns how many sites changed. */
static uint32_t write_rows(const struct vt_diff *d, const struct options *o) {
    static const char *const headings[VT_DIFF_STATES] = {[VT_DIFF_APPEARED] = "APPEARED",
                                                         [VT_DIFF_GREW] = "GREW",
                                                         [VT_DIFF_SHRANK] = "SHRANK",
                                                         [VT_DIFF_WENT] = "GONE"};
    bool colour = vt_wants_colour(1);
    uint32_t at = 0, changed = 0;
    for (int kind = 0; kind < 2; kind++)
        for (int state = 0; state < VT_DIFF_STATES; state++) {
            uint32_t count = d->counts[kind][state];
            const struct vt_diff_row *rows = &d->rows[at];
            at += count;
            if (!count || state == VT_DIFF_SAME)
                continue;
            changed += count;
            fprintf(page, "\n%s%s%s%s   %u site%s\n",
                    style(colour, state < VT_DIFF_SHRANK ? VT_STYLE_BAD : VT_STYLE_GOOD),
                    kind ? "" : "LEAK ",
                    kind || state != VT_DIFF_WENT ? headings[state]
                    : d->totals[1].gaps           ? "NOT SEEN"
                                                  : "FIXED",
                    style(colour, VT_STYLE_NONE), count, vt_plural(count));
            for (uint32_t i = 0; i < count && i < o->top; i++)
                row(&rows[i]);
            if (count > o->top)
                fprintf(page, "  and %u more (--top %u shows them)\n", count - o->top, count);
        }
    return changed;
}

static bool owner_changed(const struct vt_diff *d, const struct vt_diff_owner *r) {
    return d->moments.shown[0] && d->moments.shown[1] && !r->unseen && r->bytes[0] != r->bytes[1];
}

/* A site can hold as much as before, and another owner keep it, or have kept it when they were seen. */
static bool no_owner_changed(const struct vt_diff *d) {
    for (uint32_t i = 0; i < d->owner_count; i++)
        if (owner_changed(d, &d->owners[i]))
            return false;
    return true;
}

static void write_text(const struct vt_diff *d, const struct options *o) {
    const struct vt_diff_total *a = &d->totals[0], *b = &d->totals[1];
    fprintf(page, "  %-22s %12s %12s %14s\n", "", "before", "after", "change");
    total("leaked", a->leaked_bytes, b->leaked_bytes, true);
    total("held at the end", a->live_bytes, b->live_bytes, true);
    total("  blocks", a->live_count, b->live_count, false);
    total("largest GPU peak", a->peak_bytes, b->peak_bytes, true);
    total("allocations", a->alloc_count, b->alloc_count, false);
    total("out-of-memory errors", a->ooms, b->ooms, false);
    if (a->processes > 1 || b->processes > 1)
        total("processes", a->processes, b->processes, false);
    if (!write_rows(d, o) && no_owner_changed(d))
        fputs("\nno site holds more or less than before\n", page);
}

/* When both snapshots were taken, which are of one kind: "at the end of both". Free it. */
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

static void owners_heading(const struct vt_diff_moments *m) {
    bool colour = vt_wants_colour(1);
    fprintf(page, "\n%sOWNERS%s   what keeps the memory, ", style(colour, VT_STYLE_HEAD),
            style(colour, VT_STYLE_NONE));
    if (m->alike) {
        VT_SCOPED char *moment = moment_of_both(m->shown[0], m->shown[1]);
        fprintf(page, "%s\n", vt_printable(moment));
    } else {
        VT_SCOPED char *before = vt_snapshot_moment(m->shown[0]);
        VT_SCOPED char *after = vt_snapshot_moment(m->shown[1]);
        fprintf(page, "before %s, after %s\n", before, after);
    }
    if (!m->tell)
        fputs(m->alike
                  ? "  Both are partial: what one run does not show may be there all the same.\n"
                  : "  The moments differ: what only one of them shows need not be new or gone.\n",
              page);
}

static char *owner_text(const struct vt_diff_owner *r, unsigned side) {
    const struct vt_memory_owner *owner = r->owner[side];
    VT_SCOPED char *text = vt_owner_text(r->process[side], owner, 0);
    bool plain = owner->purpose == VT_PURPOSE_OTHER;
    return vt_formatted("%s%s%s", text, plain ? "" : ": ",
                        plain ? "" : vt_purpose_names[owner->purpose]);
}

static void owner_row(const struct vt_diff_owner *r) {
    struct vt_text text = {.out = page, .width = VT_TEXT_WIDTH};
    unsigned side = vt_diff_owner_side(r);
    char amounts[2][32], label[80];
    for (unsigned i = 0; i < 2; i++)
        snprintf(amounts[i], sizeof amounts[i], "%s",
                 r->owner[i] || r->comparable ? VT_BYTES(r->bytes[i]) : "not seen");
    snprintf(label, sizeof label, "  %10s -> %10s", amounts[0], amounts[1]);
    VT_SCOPED char *now = owner_text(r, side);
    vt_text_wrap(&text, label, 28, now);
    if (r->owner[0] && r->owner[1] && r->owner[0]->id != r->owner[1]->id) {
        VT_SCOPED char *before = owner_text(r, 0);
        VT_SCOPED char *was = vt_formatted("before: %s", before);
        vt_text_wrap(&text, "", 28, was);
    }
}

/* What each owner holds, where that changed, and somebody looked for owners in both runs. */
static void write_owners(const struct vt_diff *d, const struct options *o) {
    const struct vt_diff_moments *m = &d->moments;
    uint32_t changed = 0, unseen = 0;
    if (!m->shown[0] != !m->shown[1])
        fprintf(page, "\n%sOWNERS%s   not compared: the %s run has no snapshot of owners\n",
                style(vt_wants_colour(1), VT_STYLE_HEAD), style(vt_wants_colour(1), VT_STYLE_NONE),
                m->shown[0] ? "AFTER" : "BEFORE");
    for (uint32_t i = 0; i < d->owner_count && m->shown[0] && m->shown[1]; i++) {
        const struct vt_diff_owner *r = &d->owners[i];
        unseen += r->unseen;
        if (!owner_changed(d, r) || ++changed > o->top)
            continue;
        if (changed == 1)
            owners_heading(m);
        owner_row(r);
    }
    if (changed > o->top)
        fprintf(page, "  and %u more (--top %u shows them)\n", changed - o->top, changed);
    if (changed && unseen)
        fprintf(page, "  and %u seen in one run only, whose call site%s as much in both\n", unseen,
                unseen == 1 ? " holds" : "s hold");
}

/* --- json --- */

static void json_side(struct vt_json *j, const char *name, const struct vt_diff_side *s) {
    if (!vt_json_object(j, name, s->there))
        return;
    const struct vt_frame *f = vt_stack_main_frame(s->site->stack);
    vt_json_string(j, "site", s->site->name);
    vt_json_string(j, "verdict", vt_verdict_names[s->verdict]);
    vt_json_number(j, "live_bytes", s->live_bytes);
    vt_json_number(j, "live_count", s->live_count);
    vt_json_number(j, "held_bytes", s->held_bytes);
    vt_json_number(j, "leaked_bytes", s->leaked_bytes);
    vt_json_number(j, "bytes_at_peak", s->bytes_at_peak);
    vt_json_number(j, "allocated_bytes", s->allocated_bytes);
    vt_json_number(j, "alloc_count", s->alloc_count);
    vt_json_string(j, "function", f ? f->function : NULL);
    vt_json_string(j, "file", f ? f->file : NULL);
    vt_json_number(j, "line", f && f->line ? f->line : VT_UNKNOWN);
    vt_json_close(j, '}');
}

static void json_total(struct vt_json *j, const char *name, const struct vt_diff_total *t) {
    vt_json_open(j, name, '{');
    vt_json_number(j, "processes", t->processes);
    vt_json_number(j, "leaked_bytes", t->leaked_bytes);
    vt_json_number(j, "live_bytes", t->live_bytes);
    vt_json_number(j, "live_count", t->live_count);
    vt_json_number(j, "peak_bytes", t->peak_bytes);
    vt_json_number(j, "alloc_count", t->alloc_count);
    vt_json_number(j, "ooms", t->ooms);
    vt_json_close(j, '}');
}

/* When the owners were seen that are compared. */
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
    vt_json_open(&j, NULL, '{');
    vt_json_string(&j, "schema", "vramtrace-diff/1");
    json_total(&j, "before", &d->totals[0]);
    json_total(&j, "after", &d->totals[1]);
    for (uint32_t i = 0; vt_json_objects(&j, "sites", i, d->count); i++) {
        const struct vt_diff_row *r = &d->rows[i];
        const struct vt_site *site = r->sides[r->sides[1].there].site;
        vt_json_string(&j, "change", vt_diff_names[r->state]);
        vt_json_boolean(&j, "leak", r->leak);
        vt_json_string(&j, "api", site->api);
        vt_json_string(&j, "layer", vt_layer_name(site->layer));
        vt_json_number(&j, "likeness_percent", r->likeness ? r->likeness : VT_UNKNOWN);
        json_side(&j, "before", &r->sides[0]);
        json_side(&j, "after", &r->sides[1]);
    }
    json_moments(&j, &d->moments);
    json_owners(&j, d);
    vt_json_close(&j, '}');
    putchar('\n');
}

/* --- the command --- */

/* Builds the model of a log, or of a folder's newest run. Returns 0, or an exit status after it
 * printed an error. */
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
        if (o->json) {
            write_json(&diff);
        } else {
            struct vt_page text;
            page = vt_page_open(&text);
            name_run("before", &before);
            name_run("after", &after);
            fputc('\n', page);
            write_text(&diff, o);
            write_owners(&diff, o);
            print_notes("  before", &before);
            print_notes("  after", &after);
            vt_page_close(&text, vt_wants_colour(1), stdout);
        }
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
            "Compares what two runs leak and hold at the end, site by site: what is new,\n"
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
