/* SPDX-License-Identifier: MIT */
/*
 * Public header of report/: writes a finished model as a report.
 *
 * Invariants: a format reads only the model, and computes nothing that another format also needs. Uses base, model
 * and content.
 *
 *     doc_markdown.h documents as Markdown
 *     formats.h      the list of formats, and their options
 *     json_parts.h   keys shared by several JSON outputs
 *     text_page.h    text output: documents, colours, wrapped text, headings
 */
#ifndef VRAMTRACE_ANALYZER_REPORT_H
#define VRAMTRACE_ANALYZER_REPORT_H

#include "doc_markdown.h"
#include "formats.h"
#include "json_parts.h"
#include "keys.h"
#include "text_page.h"

#endif
