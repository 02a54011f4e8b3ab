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

/* Has `make` make a temporary file or folder of NAME.XXXXXX, as mkstemp and mkdtemp do: in TMPDIR, in `first`, in /tmp
 * or in /dev/shm. `make` returns below 0 where it cannot. Returns the path (free it), or NULL: errno says why. */
char *vt_run_places_temporary(const char *name, const char *first, int (*make)(char *path));

/* Whether a folder is on a remote file system (vramtrace/file_systems.h). Tests call those below VRAMTRACE_TEST_REMOTE so. */
bool vt_run_places_is_remote(const char *folder);

#endif
