/* SPDX-License-Identifier: MIT */
/*
 * The subject of a document: a process of a model, and the user's choices.
 */
#ifndef VRAMTRACE_ANALYZER_SUBJECT_H
#define VRAMTRACE_ANALYZER_SUBJECT_H

#include "model/model.h"

enum vt_by { VT_BY_LINE, VT_BY_SITE, VT_BY_FUNCTION, VT_BY_FILE, VT_BY_MODULE, VT_BY_OWNER };

/* The user's choices. */
struct vt_format_options {
    uint32_t top;        /* rows of a list; 0: the format's default */
    enum vt_by by;       /* text: how to group rows */
    bool owners;         /* text: a list by owner; the format sets it for VT_BY_OWNER */
    const char *site;    /* only sites whose id begins with this; NULL: all */
    bool native;         /* show frames of the Python interpreter */
    bool map;            /* text: show a device's segments, with blocks and holes */
    bool colour;         /* text: use colour */
    bool blocks;         /* text: the reader's terminal shows UTF-8's block characters */
    unsigned width;      /* text: columns of the page; 0: VT_TEXT_WIDTH */
    const char *heading; /* text: the first line; NULL: none */
    bool pictures;       /* this build writes html, so hints name it */
    bool found;          /* the user did not name the log, so hints need not */
};

struct vt_subject {
    const struct vt_model *model;
    const struct vt_process *process;
    const struct vt_format_options *options;
    unsigned digits; /* digits to show of a site's id */
    uint32_t leaks;  /* to show in full, unless --top is given; 0: the default */
    bool brief;      /* one of many processes: only the worst */
};

#endif
