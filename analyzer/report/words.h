/* SPDX-License-Identifier: MIT */
/*
 * The sentences of a report: what it says of a leak, of an allocation that failed for lack of memory,
 * of a device and of the process, as rows of a label and a text. The formats for people (text,
 * markdown, html) lay the rows out and have no sentences of their own about these, so that all of
 * them say the same.
 *
 * Texts are UTF-8, in one line, without control characters; a format escapes what its own language
 * would obey. All is made for `t->process`; names of files lose their beginning where a line is wider
 * than `t->width` columns (VT_WORDS_WHOLE: never). Of `t`, only process, options, digits and width
 * are read.
 */
#ifndef VRAMTRACE_ANALYZER_WORDS_H
#define VRAMTRACE_ANALYZER_WORDS_H

#include "text_page.h"

#define VT_WORDS_WHOLE 100000u

enum vt_words_kind {
    VT_WORDS_TEXT,   /* a sentence */
    VT_WORDS_PLACE,  /* where it was allocated: a frame, and its source line */
    VT_WORDS_SOURCE, /* a line of code */
    VT_WORDS_HOLDER, /* `bytes` of a call site (`site` is its) or of an owner (`site` is NULL) */
    VT_WORDS_CALLER, /* a frame that called the row above */
    VT_WORDS_MORE,   /* a sentence about the holder above */
    VT_WORDS_PEAK,   /* the size of a device's peak: what it was made of may follow */
    VT_WORDS_ALARM,  /* a sentence worth a warning */
};

struct vt_words_row {
    enum vt_words_kind kind;
    const char *label; /* "how much"; "": it goes on from the row above */
    char *text;
    char *source;   /* the line of code; NULL: unknown */
    uint64_t bytes; /* of a holder, else VT_UNKNOWN */
    const struct vt_site *site;
};

/* Start it as {0}. */
struct vt_words {
    char *headline; /* what stands beside the heading */
    struct vt_words_row *rows;
    uint32_t count, room;
    char *remark; /* a sentence below all rows; NULL: none */
};

void vt_words_free(struct vt_words *words);

/* Adds a row and takes over `text`, which is made printable. The row may be changed until the next is
 * added. For the files of words. */
struct vt_words_row *vt_words_add(struct vt_words *words, enum vt_words_kind kind,
                                  const char *label, char *text);

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

/* "1:57:03, exit status 1", after "ran" or "log up to" (`p->complete` false). Free it. */
char *vt_words_ended(const struct vt_process *p);

/* "2026-11-21 09:14", local time; "": unknown. Free it. */
char *vt_words_date(uint64_t realtime);

/* "gpu17  job 991204  rank 0  pid 48213  2026-11-21 09:14". Where it is wider than `width` (0: any), the job's
 * name is cut. Free it. */
char *vt_words_where(const struct vt_process *p, unsigned width);

/* "complete, 2,911,440 events, 0 dropped", after "log". Free it. */
char *vt_words_log(const struct vt_process *p);

/* "SIMULATED GPU" is its heading. */
#define VT_WORDS_SIMULATED "memory behaves as on a device, kernels did not run."

/* What is left without a leak: heading and headline of what was freed or is still held, and perhaps a
 * remark. `bad`: 1 something is held, 0 neither good nor bad, -1 all is well. */
struct vt_words_held {
    const char *heading; /* "NOTHING HELD AT THE END" */
    char *headline, *remark;
    int bad;
    bool listed; /* what is held is worth a list (vt_rows_make, VT_ROWS_HELD) */
    bool freed;  /* nothing is: vt_words_late may have something to say */
};
void vt_words_held(const struct vt_text *t, struct vt_words_held *held);
void vt_words_held_free(struct vt_words_held *held);

/* Whether what is held at the end says nothing about the program, and is not listed: a Python process
 * ended normally. The interpreter frees what its modules hold only as it shuts down, and not all of
 * it. With --top it is listed. */
bool vt_words_usual(const struct vt_text *t);

/* Memory that was held at the process's last allocation and freed after it: "FREED ONLY AT EXIT" is
 * its heading, the remark is all else. False: nothing to say. */
bool vt_words_late(const struct vt_text *t, struct vt_words *words);

/* What to type next: the command as the text, what it shows as the label. */
void vt_words_next(const struct vt_text *t, struct vt_words *words);

/* --- words_leak.c --- */

/* A leak: "LEAK" is its heading. The call sites are left to the format: leak->sites. */
void vt_words_leak(const struct vt_text *t, const struct vt_leak *leak, struct vt_words *words);

/* The name of an iteration of what grows: "step", "second", "round". */
const char *vt_words_unit(const struct vt_growth *growth);

/* Whether the time until the device is full is worth a line, in a run that took `duration` so far. */
bool vt_words_full_soon(const struct vt_growth *growth, uint64_t duration);

/* --- words_kept.c --- */

/* Adds what keeps a leak, with the way to the memory. */
void vt_words_kept(const struct vt_text *t, const struct vt_leak *leak, struct vt_words *words);

/* Adds the largest owners as memory ran out. Nothing, if nobody looked. */
void vt_words_oom_owners(const struct vt_text *t, const struct vt_oom *oom, struct vt_words *words);

/* --- words_oom.c --- */

/* An allocation that failed: "OUT OF MEMORY" is its heading. */
void vt_words_oom(const struct vt_text *t, const struct vt_oom *oom, struct vt_words *words);

/* Whether the process ended for want of memory that no leak held: then leaks come second. */
bool vt_words_oom_first(const struct vt_process *p);

/* Whether the program coped with it. */
bool vt_words_oom_survived(const struct vt_process *p, const struct vt_oom *oom);

/* The sentences about all other failures, as rows. */
void vt_words_oom_others(const struct vt_process *p, struct vt_words *words);

/* --- words_device.c --- */

/* A part of a device at its peak. */
struct vt_words_part {
    char letter;      /* in the bar */
    const char *name; /* "growing", "in use", "free" */
    const char *style;
    uint64_t bytes;
    uint32_t sites;
    bool apart;     /* of the peak, but of no call site that is listed: caches, CUDA's libraries */
    char *text;     /* "the leak above, 2 call sites"; may be empty */
    char *purposes; /* "activations 1.17 MiB, other 4.69 MiB"; NULL: unknown */
};
#define VT_WORDS_PARTS 9

/* A device: what it held at its peak, the largest verdict first, and what is known of the rest. The
 * row "peak" has the peak's size alone; its call sites are vt_rows_make's (VT_ROWS_PEAK). */
struct vt_words_device {
    char *title; /* "GPU 0"; the rest is in words.headline */
    struct vt_words words;
    struct vt_words_part parts[VT_WORDS_PARTS]; /* that are not empty; the last may be '.', free */
    unsigned part_count;
    uint64_t whole; /* all parts are shares of it: the device's size, or the peak */
};
void vt_words_device(const struct vt_text *t, const struct vt_device *d,
                     struct vt_words_device *device);
void vt_words_device_free(struct vt_words_device *device);

/* Whether a device is worth a section: the process asked for memory there, or has a context of
 * which NVML tells. */
bool vt_words_device_used(const struct vt_device *d);

/* The devices that are not, where another is: "GPUs 0, 2, 3", with a headline and no rows. False:
 * there are none, and each device has its section. Free with vt_words_device_free if true. */
bool vt_words_devices_unused(const struct vt_process *p, struct vt_words_device *unused);

#endif
