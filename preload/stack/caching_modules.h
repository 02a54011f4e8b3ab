/* SPDX-License-Identifier: MIT */
/* Inside stack/: who keeps memory by design (caching_modules.c). */
#ifndef VT_PRELOAD_CACHING_MODULES_H
#define VT_PRELOAD_CACHING_MODULES_H

#include "stack.h"

/* Looks at a module that was loaded. One thread at a time. */
void vt_keepers_note(const char *path, uintptr_t start, uintptr_t end);
void vt_keepers_forget(void);
/* Of a call's frames, the innermost first. */
enum vt_keeper vt_keepers_of(const uintptr_t *frames, size_t count);

#endif
