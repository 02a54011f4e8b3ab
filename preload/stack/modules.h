/* SPDX-License-Identifier: MIT */
/* Inside stack/: which files are mapped where (modules.c). */
#ifndef VT_PRELOAD_MODULES_H
#define VT_PRELOAD_MODULES_H

#include "log/log.h"

/* Writes the modules that are new since the last call. Takes the loader's lock. Does nothing while
 * another thread is writing them. */
void vt_modules_write(struct vt_thread *thread);
void vt_modules_forked(void);

#endif
