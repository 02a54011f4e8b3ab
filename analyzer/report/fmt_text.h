/* SPDX-License-Identifier: MIT */
/*
 * The parts of the text format, for its files: fmt_text.c writes the whole report, text_ranks.c what it says of many
 * processes.
 */
#ifndef VRAMTRACE_ANALYZER_FMT_TEXT_H
#define VRAMTRACE_ANALYZER_FMT_TEXT_H

#include "text_page.h"

/* The head of a report on several processes (model->job): who differs, sums, a table, a time line. */
void vt_text_ranks(const struct vt_subject *of, const struct vt_text *t);

/* Before the page of a process (index in model->job): for whom it stands. */
void vt_text_stands_for(const struct vt_subject *of, const struct vt_text *t, uint32_t process);

#endif
