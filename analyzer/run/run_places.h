/* SPDX-License-Identifier: MIT */
/*
 * Finds vramtrace's own files, relative to this program: so a build folder, an installed tree, a copy of one
 * elsewhere, a Debian package and a wheel all work with nothing to set. And where temporary files lie.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_PLACES_H
#define VRAMTRACE_ANALYZER_RUN_PLACES_H

#include "base/base.h"

/* The folder of `path`; NULL: of this program. Free it. */
char *vt_run_places_folder(const char *path);

/* The absolute path of the preloaded library, and of one of its private files ("sim/libcuda.so.1"), which lie beside
 * this program in a build folder, or else in vramtrace/ beside the library (`tracer`: its path). Each place
 * that was looked at in vain is in `tried`. NULL: it is nowhere. Free it. */
char *vt_run_places_library(const char *name, struct vt_string *tried);
char *vt_run_places_private(const char *name, const char *tracer, struct vt_string *tried);

/* Makes a temporary folder NAME.XXXXXX in TMPDIR, in `first`, in /tmp or in /dev/shm, on no remote disk if another will do; of mode 0700, or
 * `of_root` where root makes it, whose command may change its user. With `file` also an empty file of this name in
 * it, which *fd is open for. Returns the path of the file, or else of the folder (free it), or NULL: errno says why. */
char *vt_run_places_temporary(const char *name, const char *first, mode_t of_root, const char *file,
                              int *fd);

/* Removes what this returned, by the same path, with all that is in that folder, or only if it is `empty`. Whatever
 * stands in its place meanwhile, at any depth, is not touched: no link is followed. This is the one function by which
 * a folder is removed. Returns whether it is gone. */
bool vt_run_places_remove(const char *path, bool empty);

/* Whether a folder is on a remote file system (vramtrace/file_systems.h). Tests call those below VRAMTRACE_TEST_REMOTE so. */
bool vt_run_places_is_remote(const char *folder);

#endif
