/* SPDX-License-Identifier: MIT */
/*
 * Whose code a frame is. The user frame of a stack is its innermost frame of user code: neither ours,
 * CUDA's, a standard library's, a site-package's nor a known framework's. The reader wrote that line.
 */
#ifndef VRAMTRACE_ANALYZER_USER_CODE_H
#define VRAMTRACE_ANALYZER_USER_CODE_H

#include "model.h"

/* Whether a frame is user code. `patterns` (NULL-terminated, may be NULL) are those of --own: a
 * frame whose function, file or module contains one of them ('*' matches anything) is user code,
 * whatever the list says. */
bool vt_user_code_frame(const struct vt_frame *frame, const char *const *patterns);

/* Whether a module is Python's interpreter. */
bool vt_user_code_is_python(const char *module_path);

#endif
