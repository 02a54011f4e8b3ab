/* SPDX-License-Identifier: MIT */
/* Inside stack/: the files mapped into the process, and their addresses (modules.c). */
#ifndef VT_PRELOAD_MODULES_H
#define VT_PRELOAD_MODULES_H

#include "log/log.h"

/* Writes the modules that are new since the last call. Those that contain one of the current event's `n` frames are
 * valid from that event on, others from now on. Takes the loader's lock. */
void vt_modules_write(struct vt_thread *thread, const uintptr_t *frames, size_t n);
void vt_modules_forked(void);

#endif
