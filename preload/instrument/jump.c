/* SPDX-License-Identifier: MIT */
/*
 * Wraps longjmp and its variants. A signal handler may jump out of our own code, or out of a CUDA call that we label.
 * The frame that would have ended the record or the label is then gone, so we end it here (event.c has the open records
 * and labels, torch_backward.c the open calls of backward()). A jump that leaves that frame in place, such as one
 * inside the handler, ends nothing.
 */
#include "base/base.h"
#include "event.h"
#include "torch_hooks.h"

#include <setjmp.h>

typedef void jump_function(struct __jmp_buf_tag *to, int value);

static _Noreturn void jump_by(enum vt_libc_end function, struct __jmp_buf_tag *to, int value) {
    jump_function *real = __extension__(jump_function *) vt_libc_end(function);
    if (VT_UNLIKELY(vt_tls.busy || vt_tls.label_depth))
        vt_event_jumped(vt_machine_jump_target(to));
    if (VT_UNLIKELY(vt_tls.backward != NULL))
        vt_torch_jumped(vt_machine_jump_target(to));
    real(to, value);
    __builtin_unreachable();
}

VT_EXPORT void longjmp(struct __jmp_buf_tag to[1], int value) {
    jump_by(VT_LIBC_LONGJMP, to, value);
}

VT_EXPORT void _longjmp(struct __jmp_buf_tag to[1], int value) {
    jump_by(VT_LIBC__LONGJMP, to, value);
}

VT_EXPORT void siglongjmp(sigjmp_buf to, int value) {
    jump_by(VT_LIBC_SIGLONGJMP, to, value);
}

/* The function that _FORTIFY_SOURCE substitutes for all three. */
VT_EXPORT _Noreturn void __longjmp_chk(struct __jmp_buf_tag to[1], int value) {
    jump_by(VT_LIBC_LONGJMP_CHK, to, value);
}
