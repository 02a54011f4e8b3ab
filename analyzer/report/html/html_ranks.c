/* SPDX-License-Identifier: MIT */
/*
 * All processes side by side as the HTML page's data (model/job_data.h): the sentences, and a row for each
 * with its memory on the common clock.
 */
#include "html.h"
#include "content/content.h"

#include <stdlib.h>

/* A course is so many parts of the job's time, as thousandths of the highest of all. */
enum { ROWS = 1000, PARTS = 80, SCALE = 1000, OUTLIERS = 20, DIFFERENCES = 5, LEAKS = 20 };

static void texts(struct vt_json *j, const char *name, const struct vt_doc *doc) {
    vt_json_open(j, name, '[');
    for (uint32_t i = 0; i < doc->count; i++) {
        const struct vt_doc_item *item = &doc->items[i];
        if (item->kind != VT_DOC_ROW && item->kind != VT_DOC_NOTE)
            continue;
        vt_json_open(j, NULL, '[');
        vt_json_string(j, NULL, item->kind == VT_DOC_ROW ? item->label : "");
        vt_json_string(j, NULL, item->text);
        vt_json_close(j, ']');
    }
    vt_json_close(j, ']');
}

static void write_page_outliers(struct vt_json *j, const struct vt_job *f) {
    vt_json_open(j, "outliers", '[');
    for (uint32_t i = 0; i < f->outlier_count && i < OUTLIERS; i++) {
        struct vt_doc doc = {0};
        vt_ranks_outlier(f, &f->outliers[i], DIFFERENCES, &doc);
        vt_json_open(j, NULL, '{');
        vt_json_string(j, "why", doc.items[0].text);
        texts(j, "rows", &doc);
        vt_json_number(j, "process", f->outliers[i].processes[0]);
        vt_json_close(j, '}');
        vt_doc_free(&doc);
    }
    vt_json_close(j, ']');
    vt_json_number(j, "outliers_left_out",
                   f->outlier_count > OUTLIERS ? f->outlier_count - OUTLIERS : 0);
}

/* The rows of sums; `what`: the key of the ranks that have it. */
static void sums(struct vt_json *j, const char *name, const char *left, const char *what,
                 struct vt_ranks_sums *sums) {
    vt_json_open(j, name, '[');
    for (uint32_t i = 0; i < sums->doc.count; i++) {
        const struct vt_doc_item *row = &sums->doc.items[i];
        vt_json_open(j, NULL, '{');
        vt_json_string(j, "at", row->text);
        if (row->label[0])
            vt_json_string(j, "verdict", row->label);
        vt_json_string(j, what, row->source);
        vt_json_number(j, "bytes", row->bytes);
        vt_json_close(j, '}');
    }
    vt_json_close(j, ']');
    vt_json_number(j, left, sums->left);
    vt_doc_free(&sums->doc);
}

static void course(struct vt_json *j, const char *name, const uint64_t *levels, uint64_t scale) {
    vt_json_open(j, name, '[');
    for (unsigned c = 0; c < PARTS; c++)
        vt_json_number(j, NULL, scale ? (uint64_t)((double)levels[c] / (double)scale * SCALE) : 0);
    vt_json_close(j, ']');
}

static void row(struct vt_json *j, const struct vt_ranks *r, const struct vt_job *f, uint32_t index,
                const uint64_t *levels, uint64_t scale) {
    const struct vt_job_process *p = &f->processes[index];
    VT_SCOPED char *end = vt_ending_text(p->ending, VT_ENDING_COLUMN), *gpus = vt_ranks_gpus(f, p);
    vt_json_open(j, NULL, '{');
    vt_json_number(j, "process", index);
    vt_json_part_rank(j, "rank", p->rank);
    vt_json_number(j, "restart", p->restart);
    vt_json_number(j, "pid", p->pid);
    vt_json_string(j, "host", f->hosts[p->host].name);
    vt_json_string(j, "gpu", gpus);
    if (r->groups > 1)
        vt_json_string(j, "command", p->command);
    vt_json_number(j, "peak", p->peak_bytes);
    vt_json_number(j, "live", p->live_bytes);
    vt_json_number(j, "leaked", p->leaked_bytes);
    vt_json_string(j, "end", end);
    vt_json_boolean(j, "differs", r->differs[index]);
    course(j, "course", levels, scale);
    vt_json_close(j, '}');
}

static void rows(struct vt_json *j, const struct vt_ranks *r, const struct vt_job *f) {
    VT_SCOPED uint32_t *list = vt_alloc(r->count, sizeof *list);
    uint32_t count = vt_ranks_rows(r, f, ROWS, list);
    VT_SCOPED uint64_t *levels = vt_alloc((size_t)count * PARTS, sizeof *levels);
    uint64_t scale = 0;
    VT_SCOPED uint64_t *sum = vt_alloc(PARTS, sizeof *sum);
    vt_ranks_course(r, f, VT_JOB_NONE, PARTS, sum);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t most = vt_ranks_course(r, f, list[i], PARTS, levels + (size_t)i * PARTS);
        scale = most > scale ? most : scale;
    }
    vt_json_number(j, "scale", scale);
    vt_json_number(j, "highest", r->at_once_bytes);
    course(j, "sum", sum, r->at_once_bytes);
    vt_json_open(j, "rows", '[');
    for (uint32_t i = 0; i < count; i++)
        row(j, r, f, list[i], levels + (size_t)i * PARTS, scale);
    vt_json_close(j, ']');
    vt_json_number(j, "rows_left_out", r->count - count);
}

void vt_html_ranks(struct vt_json *j, const struct vt_job *f) {
    struct vt_ranks r;
    struct vt_doc notes = {0};
    struct vt_ranks_sums all;
    vt_ranks_make(&r, f);
    VT_SCOPED char *many = vt_ranks_many(&r), *ended = vt_ranks_all_ended(&r, f);
    vt_ranks_notes(&r, f, &notes);
    vt_json_open(j, "ranks", '{');
    vt_json_string(j, "many", many);
    vt_json_string(j, "ended", ended);
    vt_json_string(j, "noun", vt_ranks_noun(&r, 1));
    vt_json_number(j, "hosts", r.hosts);
    vt_json_number(j, "duration", r.to - r.from);
    vt_json_number(j, "empty", r.empty);
    texts(j, "notes", &notes);
    write_page_outliers(j, f);
    vt_ranks_sums(&r, f, VT_SUMS_OF_LEAKS, LEAKS, &all);
    sums(j, "leaks", "leaks_left_out", "many", &all);
    vt_ranks_sums(&r, f, VT_SUMS_OF_OOMS, LEAKS, &all);
    vt_json_string(j, "ooms_headline", all.headline);
    sums(j, "ooms", "ooms_left_out", "which", &all);
    rows(j, &r, f);
    vt_json_close(j, '}');
    vt_doc_free(&notes);
    vt_ranks_free(&r);
}
