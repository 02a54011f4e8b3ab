/* SPDX-License-Identifier: MIT */
/*
 * The document of a report on one process: its leaks, the allocations that failed for lack of memory, its devices.
 * The formats for people (text, markdown, html) lay it out and have no sentences of their own.
 */
#ifndef VRAMTRACE_ANALYZER_REPORT_DOC_H
#define VRAMTRACE_ANALYZER_REPORT_DOC_H

#include "doc.h"
#include "rows.h"

/* --- ending.c --- */

/* What the words of an ending are to fit. */
enum vt_ending_form {
    VT_ENDING_PHRASE,  /* nothing: "exit status 1", "killed by signal 9 (Killed)" */
    VT_ENDING_OF_ONE,  /* a subject before them: "exited with status 1", "is still running" */
    VT_ENDING_OF_MANY, /* several: "were killed by signal 9 (Killed)" */
    VT_ENDING_COLUMN,  /* a narrow column: "exit 1", "signal 9" */
    VT_ENDING_TIMED,   /* how long it ran behind them: "exit status 1 after" */
    VT_ENDING_FORMS
};

/* How a process ended. Free it. */
char *vt_ending_text(struct vt_ending ending, enum vt_ending_form form);

/* --- report_process.c --- */

/* "1:57:03, exit status 1". Free it. */
char *vt_ended_text(const struct vt_process *p);

/* The command as a user would type it, cut to `width` columns. */
void vt_text_command(const struct vt_process *process, unsigned width, struct vt_string *text);

/* "2026-11-21 09:14", local time; "": unknown. Free it. */
char *vt_date_text(uint64_t realtime);

/* That the GPU is a simulated one. */
void vt_report_add_simulated(struct vt_doc *doc);

/* Whether what is held at the end says nothing about the program, and is not listed: a Python process
 * ended normally. The interpreter frees what its modules hold only as it shuts down, and not all of
 * it. With --top it is listed. */
bool vt_report_usual(const struct vt_subject *t);

/* All that a report says of the process; what it is and how it ended alone. */
void vt_report_add_process(const struct vt_subject *t, struct vt_doc *doc);
void vt_report_add_head(const struct vt_subject *t, struct vt_doc *doc);

/* --- report_leak.c, report_kept.c --- */

/* The leaks, the worst first. */
void vt_report_add_leaks(const struct vt_subject *t, struct vt_doc *doc);

/* What keeps a leak, with the way to the memory. */
void vt_report_add_kept(const struct vt_subject *t, const struct vt_leak *leak, struct vt_doc *doc);

/* The largest owners as memory ran out. Adds nothing without a snapshot. */
void vt_report_add_oom_owners(const struct vt_subject *t, const struct vt_oom *oom,
                              struct vt_doc *doc);

/* --- report_oom.c --- */

/* The allocations that failed: for lack of memory, the last in full; with other errors, the first. */
void vt_report_add_ooms(const struct vt_subject *t, struct vt_doc *doc);

/* Whether the process ended for want of memory that no leak held: then leaks come second. */
bool vt_report_oom_first(const struct vt_process *p);

/* --- report_device.c --- */

/* The devices: what each held at its peak, and what is known of the rest. */
void vt_report_add_devices(const struct vt_subject *t, struct vt_doc *doc);

/* Whether a device is worth a section: the process asked for memory there, or has a context of
 * which NVML tells. */
bool vt_report_device_used(const struct vt_device *d);

/* --- report_phases.c, report_owners.c, report_site.c, report_map.c --- */

/* The phases, one row for each name. */
void vt_report_add_phases(const struct vt_subject *t, struct vt_doc *doc);

/* All live memory by owner (--by owner); the owners and the other holders of a site. */
void vt_report_add_owners(const struct vt_subject *t, struct vt_doc *doc);
void vt_report_add_site_owners(const struct vt_subject *t, const struct vt_site *site,
                               struct vt_doc *doc);

/* One call site (--site ID). */
void vt_report_add_site(const struct vt_subject *t, const struct vt_site *site, struct vt_doc *doc);

/* A device's segments, with blocks and holes. */
void vt_report_add_map(const struct vt_subject *t, const struct vt_device *device,
                       struct vt_doc *doc);

/* --- report_choose.c --- */

struct vt_processes {
    const struct vt_process **list; /* the biggest first; at the end those that allocated nothing */
    uint32_t *in_job;               /* with `many`: of each of `list` */
    uint32_t count, empty;
    bool many; /* the job has more to say of them , and `list` stands for all */
};

/* The processes to write; with --site those that have it. Of peers that are alike one is enough, unless
 * `alike`. */
void vt_processes_choose(struct vt_processes *processes, const struct vt_model *model,
                         const struct vt_format_options *options, bool alike);
void vt_processes_free(struct vt_processes *processes);

/* "2 more processes allocated nothing: pids 12, 13". Free it. */
char *vt_report_empty(const uint32_t *pids, uint32_t count);

#endif
