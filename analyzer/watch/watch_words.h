/* SPDX-License-Identifier: MIT */
/*
 * Texts for the screen, the plain frame and the JSON. The caller frees them, and makes them printable.
 */
#ifndef VRAMTRACE_ANALYZER_WATCH_WORDS_H
#define VRAMTRACE_ANALYZER_WATCH_WORDS_H

#include "frame.h"

/* "running 0:02:14", "exit status 1 after 0:02:14", "waiting". */
char *vt_watch_words_state(const struct vt_watch_process *w);

/* The command, at most `width` columns; without a log yet, the reason for waiting. */
char *vt_watch_words_command(const struct vt_watch_process *w, unsigned width);

/* A line's place, at most `width` columns. */
char *vt_watch_words_place(const struct vt_watch_process *w, const struct vt_watch_line *line,
                           unsigned width);

/* "pid 4711, rank 0". */
char *vt_watch_words_who(const struct vt_watch_process *w);

/* A line's verdict: "grows by 1.00 MiB per step; device full in 0:12:01", or if its leak has several lines, "part of a
 * leak: 1.00 MiB per step; full in 0:12:01". NULL: none. */
char *vt_watch_words_hint(const struct vt_watch_process *w, const struct vt_watch_line *line);

/* A line's share of the process's memory: "12 %". */
char *vt_watch_words_share(const struct vt_watch_line *line);

/* "epoch#3 > step#120 (0.014 s)": the open phases. NULL: none. */
char *vt_watch_words_phases(const struct vt_watch_process *w);

/* "at 0:01:12 on GPU 0: 2.00 GiB wanted, 1.10 GiB free; capacity; raised": its cause and outcome. */
char *vt_watch_words_oom(const struct vt_oom *oom);

/* "GROWING 120 MiB at train.py:65 in forward"; `width`: columns for the place. */
char *vt_watch_words_leak(const struct vt_watch_process *w, const struct vt_leak *leak,
                          unsigned width);

/* Missing events: "12,345 events dropped: no space for the log". NULL: none. */
char *vt_watch_words_dropped(const struct vt_watch_process *w);

/* "+1.20 MiB", "-512 KiB", "0 B"; "" if it is unknown. */
char *vt_watch_words_rate(double rate);

#endif
