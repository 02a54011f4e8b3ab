/* SPDX-License-Identifier: MIT */
/*
 * A writer of Python pickles, protocol 2, value by value. It uses only the opcodes that the reader in
 * PyTorch's MemoryViz.js knows, and writes each text of the model once. Texts come out as valid
 * UTF-8: other bytes become U+FFFD. Write errors stay in `out`.
 */
#ifndef VRAMTRACE_ANALYZER_PICKLE_H
#define VRAMTRACE_ANALYZER_PICKLE_H

#include "base/base.h"

/* Start it as {.out = out}; vt_pickle_end writes the end and frees what it kept. */
struct vt_pickle {
    FILE *out;
    uint32_t memo_count;
    struct vt_map texts; /* from pointers to places in the memo */
};

void vt_pickle_begin(struct vt_pickle *p);
void vt_pickle_end(struct vt_pickle *p);

/* A dictionary: keys and values between these two. */
void vt_pickle_dict(struct vt_pickle *p);
void vt_pickle_dict_end(struct vt_pickle *p);

/* A list. Start `list` as {0}, call vt_pickle_item before each item. */
struct vt_pickle_list {
    uint32_t count; /* since the last opcode that appends */
};
void vt_pickle_list(struct vt_pickle *p);
void vt_pickle_item(struct vt_pickle *p, struct vt_pickle_list *list);
void vt_pickle_list_end(struct vt_pickle *p, struct vt_pickle_list *list);

void vt_pickle_number(struct vt_pickle *p, uint64_t value);
void vt_pickle_bool(struct vt_pickle *p, bool value);
void vt_pickle_none(struct vt_pickle *p);
void vt_pickle_pair(struct vt_pickle *p, uint64_t first, uint64_t second);

/* A text; `text` must keep its address and content until the end, since it is told from others by
 * its address. */
void vt_pickle_text(struct vt_pickle *p, const char *text);
/* Any text. */
void vt_pickle_text_once(struct vt_pickle *p, const char *text);

/* Keeps the value written last, so that it can be named again. */
uint32_t vt_pickle_keep(struct vt_pickle *p);
void vt_pickle_again(struct vt_pickle *p, uint32_t kept);

#endif
