/* SPDX-License-Identifier: MIT */
/*
 * Where vramtrace's own files lie, from where this program lies: so a build folder, an installed tree, a copy of
 * one elsewhere, a Debian package and a wheel all work with nothing to set. For run_preload.c and run_pytest.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_PLACES_H
#define VRAMTRACE_ANALYZER_RUN_PLACES_H

#include "base/base.h"

/* The folder of `path`; NULL: of this program. Free it. */
char *vt_run_places_folder(const char *path);

/* The absolute path of FOLDER/INSIDE if it exists (free it); else NULL, after adding it to `tried`. */
char *vt_run_places_look(const char *folder, const char *inside, struct vt_string *tried);

/* The same for the preloaded library, and for one of its private files ("sim/libcuda.so.1"), which lie beside
 * this program in a build folder, or else in vramtrace/ beside the library (`tracer`: its path). Each place
 * that was looked at in vain is in `tried`. */
char *vt_run_places_library(const char *name, struct vt_string *tried);
char *vt_run_places_private(const char *name, const char *tracer, struct vt_string *tried);

#endif
