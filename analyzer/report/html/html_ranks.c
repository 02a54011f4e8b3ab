/* SPDX-License-Identifier: MIT */
/*
 * The additions of the HTML page to "ranks" of the JSON report: sentences, and the processes to list with their
 * memory on the common clock.
 */
#include "html.h"

#include <stdlib.h>

/* A curve has this many parts of the job's time, as thousandths of the overall maximum. */
enum { ROWS = 1000, PARTS = 80, SCALE = 1000, OUTLIERS = 20, DIFFERENCES = 5, SUMS = 20 };

/* [label, text] of each row. */
static void write_rows(struct vt_json *j, const char *name, const struct vt_doc *doc) {
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
    uint32_t count = f->outlier_count < OUTLIERS ? f->outlier_count : OUTLIERS;
    for (uint32_t i = 0; vt_json_items(j, "outliers", i, count); i++) {
        struct vt_doc doc = {0};
        vt_ranks_outlier(f, &f->outliers[i], DIFFERENCES, &doc);
        write_rows(j, NULL, &doc);
        vt_doc_free(&doc);
    }
}

/* [line, text about its ranks] of the first sums. */
static void write_sums(struct vt_json *j, const char *name, const struct vt_doc *doc) {
    for (uint32_t i = 0; vt_json_items(j, name, i, doc->count); i++) {
        vt_json_open(j, NULL, '[');
        vt_json_string(j, NULL, doc->items[i].text);
        vt_json_string(j, NULL, doc->items[i].source);
        vt_json_close(j, ']');
    }
}

static void write_course(struct vt_json *j, const char *name, const uint64_t *levels,
                         uint64_t scale) {
    for (unsigned c = 0; vt_json_items(j, name, c, PARTS); c++)
        vt_json_number(j, NULL, scale ? (uint64_t)((double)levels[c] / (double)scale * SCALE) : 0);
}

static void write_processes(struct vt_json *j, const struct vt_ranks *r, const struct vt_job *f) {
    VT_SCOPED uint32_t *list = vt_alloc(r->count, sizeof *list);
    uint32_t count = vt_ranks_rows(r, f, ROWS, list);
    VT_SCOPED uint64_t *levels = vt_alloc((size_t)count * PARTS, sizeof *levels);
    VT_SCOPED uint64_t *sum = vt_alloc(PARTS, sizeof *sum);
    uint64_t scale = 0;
    vt_ranks_course(r, f, VT_JOB_NONE, PARTS, sum);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t most = vt_ranks_course(r, f, list[i], PARTS, levels + (size_t)i * PARTS);
        scale = most > scale ? most : scale;
    }
    vt_json_number(j, "scale", scale);
    write_course(j, "sum", sum, r->at_once_bytes);
    for (uint32_t i = 0; vt_json_objects(j, "listed", i, count); i++) {
        const struct vt_job_process *p = &f->processes[list[i]];
        VT_SCOPED char *end = vt_ending_text(p->ending, VT_ENDING_COLUMN);
        VT_SCOPED char *gpus = vt_ranks_gpus(f, p);
        vt_json_number(j, "process", list[i]);
        vt_json_string(j, "gpu", gpus);
        vt_json_string(j, "end", end);
        write_course(j, "course", levels + (size_t)i * PARTS, scale);
    }
    vt_json_number(j, "left_out", r->count - count);
}

void vt_html_ranks(struct vt_json *j, const struct vt_job *f) {
    struct vt_ranks r;
    struct vt_doc notes = {0};
    struct vt_ranks_sums leaks, ooms;
    vt_ranks_make(&r, f);
    VT_SCOPED char *many = vt_ranks_many(&r), *ended = vt_ranks_all_ended(&r, f);
    vt_ranks_notes(&r, f, &notes);
    vt_ranks_sums(&r, f, VT_SUMS_OF_LEAKS, SUMS, &leaks);
    vt_ranks_sums(&r, f, VT_SUMS_OF_OOMS, SUMS, &ooms);
    vt_json_open(j, "job", '{');
    vt_json_string(j, "many", many);
    vt_json_string(j, "ended", ended);
    vt_json_string(j, "noun", vt_ranks_noun(&r, 1));
    vt_json_boolean(j, "commands", r.groups > 1); /* they differ */
    write_rows(j, "notes", &notes);
    write_page_outliers(j, f);
    write_sums(j, "leaks", &leaks.doc);
    vt_json_string(j, "ooms_headline", ooms.headline);
    write_sums(j, "ooms", &ooms.doc);
    write_processes(j, &r, f);
    vt_json_close(j, '}');
    vt_doc_free(&leaks.doc);
    vt_doc_free(&ooms.doc);
    vt_doc_free(&notes);
    vt_ranks_free(&r);
}
