/* SPDX-License-Identifier: MIT */
/*
 * Whose code a frame is. The own frame of a stack is the innermost that is neither ours, CUDA's, a
 * standard library's, a site-package's nor a known framework's: the line that its reader wrote.
 */
#ifndef VRAMTRACE_ANALYZER_OWN_H
#define VRAMTRACE_ANALYZER_OWN_H

#include "model.h"

/* Whether a frame is the user's own. `patterns` (NULL-terminated, may be NULL) are the user's
 * --own: a frame whose function, file or module has one of them in it ('*' matches anything) is
 * own, whatever the list says. */
bool vt_own_frame(const struct vt_frame *frame, const char *const *patterns);

/* Whether a module is Python's interpreter. */
bool vt_own_is_python(const char *module_path);

#endif
