/* SPDX-License-Identifier: MIT */
/*
 * THE list of a report's formats. Each receives a finished model and writes it; none computes
 * anything that another would have to compute as well. How to add one: doc/HOWTO-ADD-A-FORMAT.md.
 */
#ifndef VRAMTRACE_ANALYZER_FORMATS_H
#define VRAMTRACE_ANALYZER_FORMATS_H

#include "model/model.h"

enum vt_by { VT_BY_SITE, VT_BY_FUNCTION, VT_BY_FILE, VT_BY_MODULE };

/* How the reader wants to see it. */
struct vt_format_options {
    uint32_t top;        /* rows of a list; 0: the format's own choice */
    enum vt_by by;       /* text: what rows are grouped by */
    const char *site;    /* only sites whose id begins with this; NULL: all */
    bool native;         /* also the frames inside the Python interpreter */
    bool map;            /* text: a device's segments, with their blocks and holes */
    bool colour;         /* text: the output is a terminal that wants colour */
    const char *heading; /* text: a line to open with; NULL: none */
    bool found;          /* the log was found, not named: hints need not name it */
};

struct vt_format {
    const char *name, *help;
    /* Writes the whole report. 0 or -errno (what ferror says of `out` is the caller's to check). */
    int (*write)(const struct vt_model *model, const struct vt_format_options *options, FILE *out);
};

/* Ends with a row whose name is NULL. */
extern const struct vt_format vt_formats[];

const struct vt_format *vt_format_find(const char *name); /* NULL: there is none */

int vt_fmt_text_write(const struct vt_model *, const struct vt_format_options *, FILE *);
int vt_fmt_json_write(const struct vt_model *, const struct vt_format_options *, FILE *);

#endif
