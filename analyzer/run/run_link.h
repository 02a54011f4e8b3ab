/* SPDX-License-Identifier: MIT */
/*
 * Paths that LD_PRELOAD can carry. Blanks and colons separate the paths in it and cannot be quoted, and the loader
 * expands a $; but a virtual environment may lie in any folder. For run_preload.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_LINK_H
#define VRAMTRACE_ANALYZER_RUN_LINK_H

/* A path to the same file or folder that LD_PRELOAD can carry: `path` itself, or one through a symbolic link in TMPDIR,
 * /tmp or /dev/shm. The link is of the user and its target, and stays, because processes can outlive the run. NULL: there
 * is none, because no link can be made or the file's own name is the trouble. Free it. */
char *vt_run_link_path(const char *path);

#endif
