/* SPDX-License-Identifier: MIT */
/*
 * The list of report formats. How to add one: doc/HOWTO-ADD-A-FORMAT.md.
 */
#ifndef VRAMTRACE_ANALYZER_FORMATS_H
#define VRAMTRACE_ANALYZER_FORMATS_H

#include "content/content.h"

struct vt_format {
    const char *name, *help;
    unsigned timeline; /* the vt_timeline_part that it needs */
    bool to_file;      /* its output does not go to a terminal */
    /* Returns why this build cannot write it; NULL: it can. No function: it always can. */
    const char *(*missing)(void);
    /* Writes the whole report. Returns 0 or -errno; the caller checks ferror(out). */
    int (*write)(const struct vt_model *model, const struct vt_format_options *options, FILE *out);
};

/* Ends with a row whose name is NULL. */
extern const struct vt_format vt_formats[];

const struct vt_format *vt_format_find(const char *name); /* NULL: unknown name */

int vt_fmt_text_write(const struct vt_model *, const struct vt_format_options *, FILE *);
/* Only the owners of a single process's memory, for `vramtrace snapshot`. */
int vt_fmt_text_owners(const struct vt_model *, const struct vt_format_options *, FILE *);
int vt_fmt_json_write(const struct vt_model *, const struct vt_format_options *, FILE *);
int vt_fmt_markdown_write(const struct vt_model *, const struct vt_format_options *, FILE *);
int vt_fmt_html_write(const struct vt_model *, const struct vt_format_options *, FILE *);
const char *vt_fmt_html_missing(void);

#endif
