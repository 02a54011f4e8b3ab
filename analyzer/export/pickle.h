/* SPDX-License-Identifier: MIT */
/*
 * A writer of Python pickles, protocol 2, value by value. It uses only the opcodes supported by PyTorch's
 * MemoryViz.js, and writes each text of the model once. Texts are written as valid UTF-8: other bytes become U+FFFD.
 * The caller checks ferror(out).
 */
#ifndef VRAMTRACE_ANALYZER_PICKLE_H
#define VRAMTRACE_ANALYZER_PICKLE_H

#include "base/base.h"

enum { VT_PICKLE_DEPTH = 12 };

/* Initialize as {.out = out}; vt_pickle_end writes the end and frees the tables. */
struct vt_pickle {
    FILE *out;
    uint32_t memo_count;
    struct vt_map texts; /* from pointers to memo numbers */
    unsigned depth;
    struct {
        char bracket;
        uint32_t count; /* items of a list not appended yet */
    } open[VT_PICKLE_DEPTH];
};

void vt_pickle_begin(struct vt_pickle *p);
void vt_pickle_end(struct vt_pickle *p);

/* `key`, here and below: in a dictionary; NULL in a list. Keys and texts must keep their address and content until
 * the end, since they are identified by address. */

/* A dictionary '{', or a list '['. */
void vt_pickle_open(struct vt_pickle *p, const char *key, char bracket);
void vt_pickle_close(struct vt_pickle *p);

void vt_pickle_number(struct vt_pickle *p, const char *key, uint64_t value); /* UINT64_MAX: None */
void vt_pickle_bool(struct vt_pickle *p, const char *key, bool value);
void vt_pickle_pair(struct vt_pickle *p, const char *key, uint64_t first, uint64_t second);
void vt_pickle_text(struct vt_pickle *p, const char *key, const char *text); /* NULL: None */
/* Any text. */
void vt_pickle_text_once(struct vt_pickle *p, const char *key, const char *text);

/* Memoizes the value written last, so that it can be referenced. */
uint32_t vt_pickle_keep(struct vt_pickle *p);
void vt_pickle_again(struct vt_pickle *p, const char *key, uint32_t kept);

#endif
