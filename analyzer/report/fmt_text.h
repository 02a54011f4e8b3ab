/* SPDX-License-Identifier: MIT */
/*
 * The parts of the text format, for its files: fmt_text.c writes the whole report, text_ranks.c the part about many
 * processes.
 */
#ifndef VRAMTRACE_ANALYZER_FMT_TEXT_H
#define VRAMTRACE_ANALYZER_FMT_TEXT_H

#include "text_page.h"

/* The head of a report on several processes (model->job): outliers, sums, a table, a time line. */
void vt_text_ranks(const struct vt_subject *of, const struct vt_text *t);

/* The line before a process's page (index in model->job): the processes that it represents. */
void vt_text_stands_for(const struct vt_subject *of, const struct vt_text *t, uint32_t process);

#endif
