/* SPDX-License-Identifier: MIT */
/*
 * Which frames are user code: all except those of the tracer, CUDA, the standard libraries,
 * site-packages and known frameworks. A stack's user frame is the innermost of them: a line that
 * the user wrote.
 */
#ifndef VRAMTRACE_ANALYZER_USER_CODE_H
#define VRAMTRACE_ANALYZER_USER_CODE_H

#include "model.h"

/* Whether a frame is user code. `patterns` (NULL-terminated, may be NULL) are those of --own: a
 * frame whose function, file or module contains one ('*' matches anything) is user code, whatever
 * the built-in list says. */
bool vt_user_code_frame(const struct vt_frame *frame, const char *const *patterns);

/* Takes the top level of a console script (venv/bin/pytest, as pip writes it) for no user code:
 * where a program was started from is no line that the user wrote, and `python -m pytest` has no
 * such frame. It stays user code where no other frame inside it is, where it calls a function of
 * its own file, and where a pattern names it. */
void vt_user_code_drop_script(struct vt_frame *frames, uint32_t count, const char *const *patterns);

/* How many of the innermost frames are the CUDA runtime's that is linked into the program
 * (libcudart_static.a). They are hidden, as the shared runtime's are. */
uint32_t vt_user_code_static_runtime(const struct vt_frame *frames, uint32_t count);

/* How well a frame names a call site without user code: the first of the best rank does. */
enum vt_user_code_rank {
    VT_USER_CODE_PYTHON,
    VT_USER_CODE_NODE,     /* runs a node of PyTorch's autograd graph */
    VT_USER_CODE_OPERATOR, /* PyTorch's at::_ops::..., but for those that only allocate */
    VT_USER_CODE_OTHER,
    VT_USER_CODE_ALLOCATOR,   /* of a framework: it says nothing about who allocates */
    VT_USER_CODE_INTERPRETER, /* or a frame without a name */
    VT_USER_CODE_NONE
};
enum vt_user_code_rank vt_user_code_rank(const struct vt_frame *frame);

#endif
