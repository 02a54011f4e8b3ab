/* SPDX-License-Identifier: MIT */
/*
 * Finds vramtrace's own files, relative to this program. So a build folder, an installed tree, a copy of it elsewhere,
 * a Debian package and a wheel all work without settings. Also places temporary files.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_PLACES_H
#define VRAMTRACE_ANALYZER_RUN_PLACES_H

#include "base/base.h"

/* The folder of `path`, or of this program if NULL. Free it. */
char *vt_run_places_folder(const char *path);

/* The absolute path of the preloaded library; and of one of its private files ("sim/libcuda.so.1"), which are beside
 * this program in a build folder, else in vramtrace/ beside the library (`tracer`: its path). Adds each unsuccessful
 * place to `tried`. NULL: not found. Free it. */
char *vt_run_places_library(const char *name, struct vt_string *tried);
char *vt_run_places_private(const char *name, const char *tracer, struct vt_string *tried);

/* Makes a temporary folder NAME.XXXXXX in TMPDIR, in `first`, in /tmp or in /dev/shm, avoiding remote disks. Its
 * mode is 0700, or `of_root` if root makes it, since root's command may change its user. With `file`, also creates
 * an empty file of this name in it, open as *fd. Returns the path of the file, or else of the folder (free it), or
 * NULL with errno. */
char *vt_run_places_temporary(const char *name, const char *first, mode_t of_root, const char *file,
                              int *fd);

/* Removes that folder, given the same path, with its contents; with `empty`, only an empty folder. Follows no link,
 * so anything that was put in its place, at any depth, is left alone. No other function removes folders. Returns
 * whether the folder was removed. */
bool vt_run_places_remove(const char *path, bool empty);

/* Whether a folder is on a remote file system (vramtrace/file_systems.h). For tests, folders below
 * VRAMTRACE_TEST_REMOTE also count. */
bool vt_run_places_is_remote(const char *folder);

#endif
