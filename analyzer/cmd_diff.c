/* SPDX-License-Identifier: MIT */
/*
 * vramtrace diff: the changes between two runs. Parses its options, builds both models, compares them (diff.c), and
 * writes the table or the JSON.
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

struct options {
    bool json;
    uint32_t top;
    const char *run; /* --run: "all", or NULL */
    struct vt_texts user_code;
};

/* --- json --- */

/* clang-format off */
#define OF struct vt_site
static const struct vt_key site_keys[] = {
    VT_CHARS_KEY("site", name, "text", "the id of its largest call site"),
    VT_TEXT_KEY("api", api, "text_or_null", "the function that allocated, as in source code"),
    VT_WORD_KEY("layer", layer, vt_layer_names, VT_LAYERS, NULL, "driver: device memory; framework: blocks inside it; host: pinned; managed"),
    VT_OWN_FRAME_KEY(stack),
    VT_KEYS_END,
};
#undef OF

#define OF struct vt_diff_side
static const struct vt_key side_keys[] = {
    VT_THROUGH_KEY(site, site_keys),
    VT_WORD_KEY("verdict", verdict, vt_verdict_names, VT_VERDICTS, NULL, "see vramtrace-report(1)"),
    VT_SITE_FIGURES(VT_FIGURE_KEY)
    VT_NUMBER_KEY("leaked_bytes", leaked_bytes, "bytes", "part of it that fails the gate"),
    VT_KEYS_END,
};
#undef OF

#define OF struct vt_diff_row
const struct vt_key vt_diff_row_keys[] = {
    VT_WORD_KEY("change", state, vt_diff_names, VT_DIFF_STATES, NULL, "of the bytes at the end"),
    VT_FLAG_KEY("leak", leak, "it is part of a leak in either run"),
    VT_POSITIVE_KEY("likeness_percent", likeness, "how alike its two stacks are; null: it is only in one run"),
    VT_MAYBE_KEY("before", sides[0], sides[0].there, side_keys, "the first run"),
    VT_MAYBE_KEY("after", sides[1], sides[1].there, side_keys, "the second run"),
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
    vt_keys_list(&w, "sites", vt_diff_row_keys, d->rows, d->count, sizeof *d->rows);
    json_moments(&j, &d->moments);
    json_owners(&j, d);
    vt_json_close(&j, '}');
    putchar('\n');
}

/* --- the command --- */

static void write_text(const struct vt_diff *d, const struct options *o,
                       const struct vt_model *before, const struct vt_model *after) {
    struct vt_doc doc = {0};
    vt_diff_document(d, before, after, o->top, &doc);
    vt_doc_show(&doc, vt_wants_colour(1), stdout);
    vt_doc_free(&doc);
}

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
