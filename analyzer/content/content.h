/* SPDX-License-Identifier: MIT */
/*
 * Public header of content/: what people read, as sentences of the model and as documents.
 *
 *   why.c       what shows each verdict         content.c        their order, and notes
 *   advice.c    what to do about a leak         owner_advice.c   ... by what keeps it
 *   oom.c       why memory ran out, and what to do
 *
 *   doc.h          a document: headings, rows of a label and a text, tables, bars
 *   subject.h       what a document shows: the process, and the user's choices
 *   report_doc.h   the report on one process      ranks.h   the report on many
 *   rows.h         call sites grouped as lists have them
 *
 * Invariants: it reads the model, and nothing else of a log: every sentence can be checked there. A document does not
 * depend on how it is laid out; report/ does that. Uses base, model, job, and the classes and PyTorch settings of
 * symbols/ and replay/.
 */
#ifndef VRAMTRACE_ANALYZER_CONTENT_H
#define VRAMTRACE_ANALYZER_CONTENT_H

#include "doc.h"
#include "ranks.h"
#include "report_doc.h"
#include "rows.h"
#include "subject.h"

#include "model/model.h"

/* Fills what is said of sites, leaks and ooms, and adds notes. All else of the process must be there. */
void vt_content_write(struct vt_process *process);

#endif
