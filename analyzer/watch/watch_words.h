/* SPDX-License-Identifier: MIT */
/*
 * The texts of a frame that the screen, the plain frame and the JSON have in common. All are to be
 * freed; none is made printable yet.
 */
#ifndef VRAMTRACE_ANALYZER_WATCH_WORDS_H
#define VRAMTRACE_ANALYZER_WATCH_WORDS_H

#include "frame.h"

/* "running 0:02:14", "exit status 1 after 0:02:14", "waiting". */
char *vt_watch_words_state(const struct vt_watch_process *w);

/* The command, at most `width` columns; of what is not there yet, what is waited for. */
char *vt_watch_words_command(const struct vt_watch_process *w, unsigned width);

/* Where a line allocates, in at most `width` columns. */
char *vt_watch_words_place(const struct vt_watch_process *w, const struct vt_watch_line *line,
                           unsigned width);

/* "pid 4711, rank 0". */
char *vt_watch_words_who(const struct vt_watch_process *w);

/* What the judge says of a line: "grows by 1.00 MiB per step; device full in 0:12:01", or of several
 * lines that leak together "part of a leak: 1.00 MiB per step; full in 0:12:01". NULL: nothing. */
char *vt_watch_words_hint(const struct vt_watch_process *w, const struct vt_watch_line *line);

/* What a line has of all that the process holds: "12 %". */
char *vt_watch_words_share(const struct vt_watch_line *line);

/* "epoch#3 > step#120 (0.014 s)": the phases that are open. NULL: none is. */
char *vt_watch_words_phases(const struct vt_watch_process *w);

/* "at 0:01:12 on GPU 0: 2.00 GiB wanted, 1.10 GiB free; capacity; raised": its cause and outcome. */
char *vt_watch_words_oom(const struct vt_oom *oom);

/* "GROWING 120 MiB at train.py:65 in forward"; `width`: columns of the place. */
char *vt_watch_words_leak(const struct vt_watch_process *w, const struct vt_leak *leak,
                          unsigned width);

/* Events that the log lacks: "12,345 events dropped: no space for the log". NULL: it has all. */
char *vt_watch_words_dropped(const struct vt_watch_process *w);

/* "+1.20 MiB", "-512 KiB", "0 B"; "" if it is unknown. */
char *vt_watch_words_rate(double rate);

#endif
