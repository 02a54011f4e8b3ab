/* SPDX-License-Identifier: MIT */
/*
 * Public header of content/: the texts that people read, as sentences of the model and as documents.
 *
 *   why.c       the evidence of each verdict     content.c        their order, and notes
 *   advice.c    what to do about a leak         owner_advice.c   ... by its owner
 *   oom.c       why memory ran out, and what to do
 *
 *   doc.h          a document: headings, rows of a label and a text, tables, bars
 *   subject.h       the subject of a document: the process, and the user's choices
 *   report_doc.h   the report on one process      ranks.h   the report on many
 *   rows.h         call sites grouped as in lists
 *
 * Invariants: it reads only the model, so every sentence can be checked there. A document does not depend on its
 * layout; report/ does that. Uses base, model, job, and the classes and PyTorch settings of symbols/ and replay/.
 */
#ifndef VRAMTRACE_ANALYZER_CONTENT_H
#define VRAMTRACE_ANALYZER_CONTENT_H

#include "doc.h"
#include "ranks.h"
#include "report_doc.h"
#include "rows.h"
#include "subject.h"

#include "model/model.h"

/* Fills the sentences of sites, leaks and ooms, and adds notes. All other data of the process must be complete. */
void vt_content_write(struct vt_process *process);

#endif
