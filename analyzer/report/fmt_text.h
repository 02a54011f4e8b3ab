/* SPDX-License-Identifier: MIT */
/*
 * The parts of the text format, for its files: fmt_text.c writes the whole report, text_rows.c
 * lists of call sites, text_ranks.c what it says of many processes, words_*.c what it says
 * of one.
 */
#ifndef VRAMTRACE_ANALYZER_FMT_TEXT_H
#define VRAMTRACE_ANALYZER_FMT_TEXT_H

#include "model/model.h"
#include "doc.h"
#include "text_parts.h"

/* --- text_rows.c: see text_parts.h as well --- */

/* Adds the list, as a table. */
void vt_rows_add(const struct vt_rows *rows, const struct vt_text *t, struct vt_doc *doc);

/* "12 %", rounded up from 0 %. */
void vt_text_share(uint64_t bytes, uint64_t whole, char out[64]);

/* The innermost frame of `site` outside the common innermost frames of two sites. NULL: the
 * innermost frames differ, or there is no frame outside. */
const struct vt_frame *vt_rows_parting(const struct vt_site *site, const struct vt_site *other);

/* The outermost frame of `site` inside the common frames of two sites with the same main frame: what the line called there.
 * NULL: the main frames differ, or nothing inside does. */
const struct vt_frame *vt_rows_way_in(const struct vt_site *site, const struct vt_site *other);

/* The same for sites that share a row of --by line. */
uint64_t vt_rows_line_key(const struct vt_site *site);

/* Whether two sites have the same source line, perhaps in different functions, and the same autograd
 * node. */
bool vt_rows_same_line(const struct vt_site *site, const struct vt_site *other);

/* The callers of a stack's user frame in user code, innermost first: one frame, or if that is in
 * the same file, more of them until one is in another file. Returns how many. */
#define VT_CALLERS 4
uint32_t vt_rows_callers(const struct vt_stack *stack, const struct vt_frame *callers[VT_CALLERS]);

/* The nearest caller in user code that is in another file than the user frame. NULL: none. */
const struct vt_frame *vt_rows_caller_elsewhere(const struct vt_stack *stack);

/* What a row is: "line", "call site", "function", "file", "module". A constant. */
const char *vt_rows_noun(const struct vt_text *t);

/* --- text_processes.c --- */

struct vt_processes {
    const struct vt_process **list; /* the biggest first; at the end those that allocated nothing */
    uint32_t *in_job;               /* with `many`: of each of `list` */
    uint32_t count, empty;
    bool many; /* the job has more to say of them (vt_text_ranks), and `list` stands for all */
};

/* The processes to write; with --site those that have it. Of peers that are alike one is enough, unless
 * `alike`. */
void vt_processes_choose(struct vt_processes *processes, const struct vt_model *model,
                         const struct vt_format_options *options, bool alike);
void vt_processes_free(struct vt_processes *processes);

/* A line about those that allocated nothing; nothing if there are none. */
void vt_text_empty(const struct vt_text *t, const uint32_t *pids, uint32_t count);
void vt_processes_empty(const struct vt_processes *processes, const struct vt_text *t);

/* --- text_ranks.c --- */

/* The head of a report on several processes (model->job): who differs, sums, a table, a time line. */
void vt_text_ranks(const struct vt_text *t);

/* Before the page of a process (index in model->job): for whom it stands. */
void vt_text_stands_for(const struct vt_text *t, uint32_t process);

#endif
