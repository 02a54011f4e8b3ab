/* SPDX-License-Identifier: MIT */
/*
 * Public header of report/: a finished model -> a report.
 *
 * Invariants: a format reads only the model, and computes nothing that another format needs as well. Uses
 * base and model.
 *
 *     doc.h          a document for people: headings, rows, tables, laid out as text or as Markdown
 *     formats.h      the list of formats, and their options
 *     json_parts.h   keys that several JSON outputs have in common
 *     text_page.h    text output: colours, wrapped text, headings
 *     text_parts.h   call sites grouped as the text report lists them; the command
 *     words.h        what a report says, as rows of label and text, for all formats that people read
 */
#ifndef VRAMTRACE_ANALYZER_REPORT_H
#define VRAMTRACE_ANALYZER_REPORT_H

#include "doc.h"
#include "formats.h"
#include "json_parts.h"
#include "text_page.h"
#include "text_parts.h"
#include "words.h"

#endif
