/* SPDX-License-Identifier: MIT */
/*
 * The lists of a run's logs, written by the tracers of the run's processes, in a folder of the run. For cmd_run.c,
 * run_beside.c and run_logs.c.
 *
 * VRAMTRACE_RUN_LIST is the path of the list for the run's own user. A process of another user (a command that root
 * runs may change its user) writes to LIST.UID beside it, which that user owns. So each line's author is known, and
 * run_list.c notes the path with that user (base/rights.h). Other users can find root's folder only if they can read
 * the environment of a process of the run.
 *
 * A line ends with a NUL, as a path may have a newline. The first line is VT_RUN_LIST_MARK; then comes a line for each
 * log: its absolute path, or "!" and the path if the log could not be created (its process printed why).
 */
#ifndef VRAMTRACE_ANALYZER_RUN_LIST_H
#define VRAMTRACE_ANALYZER_RUN_LIST_H

#include "base/base.h"

/* Creates the folder, in TMPDIR, /tmp or /dev/shm, and the list. Returns the list's path; the caller frees it. NULL:
 * failed, see errno. */
char *vt_run_list_make(void);
/* Removes the lists and the empty folders beside them; also the lists' folder, unless more than VT_RUN_NOTE is left
 * in it. */
#define VT_RUN_NOTE "note"
void vt_run_list_remove(const char *list);
/* Opens a list for appending, if vt_run_list_make made it and this user owns it; else -1. */
int vt_run_list_open(const char *list);

/* A reader's position in the lists. */
struct vt_run_list {
    const char *path;
    struct vt_run_list_part {
        char *name;
        off_t at;
    } * parts;
    size_t count, room;
};

/* Calls `each` for each new line. False: the list no longer exists. */
bool vt_run_list_read(struct vt_run_list *list, void (*each)(void *of, const char *line), void *of);
void vt_run_list_free(struct vt_run_list *list);

#endif
