/* SPDX-License-Identifier: MIT */
/*
 * The sentences of a report: what it says of a leak, of an allocation that failed for lack of memory,
 * of a device and of the process, added to a document (doc.h). The formats for people (text, markdown,
 * html) lay it out and have no sentences of their own about these, so that all of them say the same.
 *
 * All is said of `t->process`; names of files lose their beginning where a line is wider than
 * `t->width` columns (VT_WORDS_WHOLE: never). Of `t`, only process, options, digits and width are read.
 */
#ifndef VRAMTRACE_ANALYZER_WORDS_H
#define VRAMTRACE_ANALYZER_WORDS_H

#include "doc.h"

#define VT_WORDS_WHOLE 100000u

/* --- words_ending.c --- */

/* What the words of an ending are to fit. */
enum vt_words_ending {
    VT_ENDING_PHRASE,  /* nothing: "exit status 1", "killed by signal 9 (Killed)" */
    VT_ENDING_OF_ONE,  /* a subject before them: "exited with status 1", "is still running" */
    VT_ENDING_OF_MANY, /* several: "were killed by signal 9 (Killed)" */
    VT_ENDING_COLUMN,  /* a narrow column: "exit 1", "signal 9" */
    VT_ENDING_TIMED,   /* how long it ran behind them: "exit status 1 after" */
    VT_ENDING_FORMS
};

/* How a process ended. Free it. */
char *vt_words_ending(struct vt_ending ending, enum vt_words_ending form);

/* --- words_process.c --- */

/* "1:57:03, exit status 1". Free it. */
char *vt_words_ended(const struct vt_process *p);

/* "2026-11-21 09:14", local time; "": unknown. Free it. */
char *vt_words_date(uint64_t realtime);

/* That the GPU is a simulated one. */
void vt_words_add_simulated(struct vt_doc *doc);

/* Whether what is held at the end says nothing about the program, and is not listed: a Python process
 * ended normally. The interpreter frees what its modules hold only as it shuts down, and not all of
 * it. With --top it is listed. */
bool vt_words_usual(const struct vt_text *t);

/* All that a report says of the process; what it is and how it ended alone. */
void vt_words_add_process(const struct vt_text *t, struct vt_doc *doc);
void vt_words_add_head(const struct vt_text *t, struct vt_doc *doc);

/* --- words_leak.c, words_kept.c --- */

/* The leaks, the worst first. */
void vt_words_add_leaks(const struct vt_text *t, struct vt_doc *doc);

/* What keeps a leak, with the way to the memory. */
void vt_words_add_kept(const struct vt_text *t, const struct vt_leak *leak, struct vt_doc *doc);

/* The largest owners as memory ran out. Nothing, if nobody looked. */
void vt_words_add_oom_owners(const struct vt_text *t, const struct vt_oom *oom, struct vt_doc *doc);

/* --- words_oom.c --- */

/* The allocations that failed: for lack of memory, the last in full; with other errors, the first. */
void vt_words_add_ooms(const struct vt_text *t, struct vt_doc *doc);

/* Whether the process ended for want of memory that no leak held: then leaks come second. */
bool vt_words_oom_first(const struct vt_process *p);

/* --- words_device.c --- */

/* The devices: what each held at its peak, and what is known of the rest. */
void vt_words_add_devices(const struct vt_text *t, struct vt_doc *doc);

/* Whether a device is worth a section: the process asked for memory there, or has a context of
 * which NVML tells. */
bool vt_words_device_used(const struct vt_device *d);

/* --- words_phases.c, words_owners.c, words_site.c, words_map.c --- */

/* The phases, one row for each name. */
void vt_words_add_phases(const struct vt_text *t, struct vt_doc *doc);

/* All live memory by owner (--by owner); the owners and the other holders of a site. */
void vt_words_add_owners(const struct vt_text *t, struct vt_doc *doc);
void vt_words_add_site_owners(const struct vt_text *t, const struct vt_site *site,
                              struct vt_doc *doc);

/* One call site (--site ID). */
void vt_words_add_site(const struct vt_text *t, const struct vt_site *site, struct vt_doc *doc);

/* A device's segments, with blocks and holes. */
void vt_words_add_map(const struct vt_text *t, const struct vt_device *device, struct vt_doc *doc);

#endif
