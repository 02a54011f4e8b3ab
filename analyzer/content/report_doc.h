/* SPDX-License-Identifier: MIT */
/*
 * The document of a report on one process: its leaks, allocations that failed for lack of memory, its devices. The
 * formats for people (text, markdown, html) lay it out and add no sentences.
 */
#ifndef VRAMTRACE_ANALYZER_REPORT_DOC_H
#define VRAMTRACE_ANALYZER_REPORT_DOC_H

#include "doc.h"
#include "rows.h"

/* --- ending.c --- */

/* The form of the words for an ending. */
enum vt_ending_form {
    VT_ENDING_PHRASE,  /* alone: "exit status 1", "killed by signal 9 (Killed)" */
    VT_ENDING_OF_ONE,  /* after a subject: "exited with status 1", "is still running" */
    VT_ENDING_OF_MANY, /* for several: "were killed by signal 9 (Killed)" */
    VT_ENDING_COLUMN,  /* for a narrow column: "exit 1", "signal 9" */
    VT_ENDING_TIMED,   /* before the running time: "exit status 1 after" */
    VT_ENDING_FORMS
};

/* The ending of a process. Free it. */
char *vt_ending_text(struct vt_ending ending, enum vt_ending_form form);

/* --- report_process.c --- */

/* "1:57:03, exit status 1". Free it. */
char *vt_ended_text(const struct vt_process *p);

/* The command as a user would type it. Free it. */
char *vt_command_text(const struct vt_process *process);

/* "2026-11-21 09:14", local time; "": unknown. Free it. */
char *vt_date_text(uint64_t realtime);

/* Adds that the GPU is simulated. */
void vt_report_add_simulated(struct vt_doc *doc);

/* The whole report on the process; only its identity and its ending. */
void vt_report_add_process(const struct vt_subject *t, struct vt_doc *doc);
void vt_report_add_head(const struct vt_subject *t, struct vt_doc *doc);

/* --- report_held.c --- */

/* The memory held when the program's own code ended, or its log ends: HELD, or NOTHING HELD. */
void vt_report_add_held(const struct vt_subject *t, struct vt_doc *doc);

/* Whether it lists the lines that held memory at the end. */
bool vt_report_lists_held(const struct vt_subject *t);

/* --- report_leak.c, report_kept.c --- */

/* The leaks, the worst first. */
void vt_report_add_leaks(const struct vt_subject *t, struct vt_doc *doc);

/* The owners of a leak, with the paths to its memory. */
void vt_report_add_kept(const struct vt_subject *t, const struct vt_leak *leak, struct vt_doc *doc);

/* The largest owners when memory ran out. Without a snapshot there are none. */
void vt_report_add_oom_owners(const struct vt_subject *t, const struct vt_oom *oom,
                              struct vt_doc *doc);

/* --- report_oom.c --- */

/* Failed allocations: for lack of memory, the last one in full; with other errors, the first one. */
void vt_report_add_ooms(const struct vt_subject *t, struct vt_doc *doc);

/* Whether the process ended because of memory that no leak held: then leaks come second. */
bool vt_report_oom_first(const struct vt_process *p);

/* --- report_device.c --- */

/* The devices: the memory of each at its peak, and other known memory. */
void vt_report_add_devices(const struct vt_subject *t, struct vt_doc *doc);

/* Whether a device has a section: the process allocated there, or has a context that NVML reports. */
bool vt_report_device_used(const struct vt_device *d);

/* --- report_phases.c, report_owners.c, report_site.c, report_map.c --- */

/* The phases, one row per name. */
void vt_report_add_phases(const struct vt_subject *t, struct vt_doc *doc);

/* The memory that a snapshot saw by owner, at most `most` of them. */
void vt_report_add_owners_of(const struct vt_subject *t, const struct vt_snapshot *snapshot,
                             const char *title, uint32_t most, struct vt_doc *doc);

/* All live memory by owner (--by owner); the owners of a site's memory. */
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
    uint32_t *in_job;               /* with `many`: index in the job of each in `list` */
    uint32_t count, empty;
    bool many; /* the job has more to report about them, and `list` represents all */
};

/* The processes to write; with --site those that have it. One of several similar peers is enough, unless `alike`. */
void vt_processes_choose(struct vt_processes *processes, const struct vt_model *model,
                         const struct vt_format_options *options, bool alike);
void vt_processes_free(struct vt_processes *processes);

/* The whole report, on one process or many. */
void vt_report_document(const struct vt_model *model, const struct vt_format_options *options,
                        struct vt_doc *doc);

/* "2 more processes allocated nothing: pids 12, 13". Free it. */
char *vt_report_empty(const uint32_t *pids, uint32_t count);

#endif
