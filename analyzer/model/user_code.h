/* SPDX-License-Identifier: MIT */
/*
 * Which frames are user code: all except those of the tracer, CUDA, the standard libraries, site-packages and known
 * frameworks. A stack's user frame is the innermost frame of user code: a line that the user wrote.
 */
#ifndef VRAMTRACE_ANALYZER_USER_CODE_H
#define VRAMTRACE_ANALYZER_USER_CODE_H

#include "model.h"

/* Whether a frame is user code. `patterns` (NULL-terminated, may be NULL) are those of --own: a frame whose function,
 * file or module contains one of them ('*' matches anything) is user code regardless of the built-in list. */
bool vt_user_code_frame(const struct vt_frame *frame, const char *const *patterns);

/* Marks the top level of a console script (venv/bin/pytest, as pip writes it) as not user code: the user did not write
 * it, and `python -m pytest` has no such frame. It stays user code if no frame inside it is user code, if it calls a
 * function of its own file, or if a pattern names it. */
void vt_user_code_drop_script(struct vt_frame *frames, uint32_t count, const char *const *patterns);

/* The number of innermost frames that belong to a statically linked CUDA runtime (libcudart_static.a). They are hidden
 * like those of the shared runtime. */
uint32_t vt_user_code_static_runtime(const struct vt_frame *frames, uint32_t count);

/* How well a frame names a call site without user code: the first frame of the best rank is used. */
enum vt_user_code_rank {
    VT_USER_CODE_PYTHON,
    VT_USER_CODE_NODE,     /* runs a node of PyTorch's autograd graph */
    VT_USER_CODE_OPERATOR, /* PyTorch's at::_ops::..., except operators that only allocate */
    VT_USER_CODE_OTHER,
    VT_USER_CODE_ALLOCATOR,   /* in a framework; does not show the caller */
    VT_USER_CODE_INTERPRETER, /* or a frame without a name */
    VT_USER_CODE_NONE
};
enum vt_user_code_rank vt_user_code_rank(const struct vt_frame *frame);

#endif
