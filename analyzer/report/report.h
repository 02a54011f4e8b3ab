/* SPDX-License-Identifier: MIT */
/*
 * The door of report/: a finished model -> a report.
 *
 * Law: a format writes; it computes nothing that another format would have to compute as well, and
 * asks nothing but the model. Uses base and model.
 *
 *     formats.h      the list of formats
 *     text_page.h    the page that people read: colours, wrapped text, headings, bars
 */
#ifndef VRAMTRACE_ANALYZER_REPORT_H
#define VRAMTRACE_ANALYZER_REPORT_H

#include "formats.h"
#include "text_page.h"

#endif
