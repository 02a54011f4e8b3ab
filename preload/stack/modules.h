/* SPDX-License-Identifier: MIT */
/* Inside stack/: which files are mapped where (modules.c). */
#ifndef VT_PRELOAD_MODULES_H
#define VT_PRELOAD_MODULES_H

#include "log/log.h"

/* Writes the modules that are new since the last call. Those with some of the `n` frames, which are the current event's, are
 * valid from the event on, the others from now on. Takes the loader's lock. */
void vt_modules_write(struct vt_thread *thread, const uintptr_t *frames, size_t n);
void vt_modules_forked(void);

#endif
