/* SPDX-License-Identifier: MIT */
/*
 * longjmp and its kin. A signal handler may leave by one, out of our own code or out of a CUDA call that we
 * label. Then the frame that would have ended the record or the label is gone, so it is ended here (event.c
 * knows which; torch_backward.c for a call of backward()). A jump that stays above that frame, say inside the handler, ends nothing.
 *
 * Where a jump leads is read out of the C library's jmp_buf: the stack pointer is its seventh word, rotated
 * and mixed with a word of the thread's, the same since glibc 2.4.
 */
#include "base/base.h"
#include "event.h"
#include "torch.h"

#include <setjmp.h>

static uintptr_t stack_pointer_of(const struct __jmp_buf_tag *to) {
    uintptr_t sp = (uintptr_t)to->__jmpbuf[6];
    __asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(sp) : : "cc");
    return sp;
}

typedef void jump_function(struct __jmp_buf_tag *to, int value);

static _Noreturn void jump_by(enum vt_libc_end function, struct __jmp_buf_tag *to, int value) {
    jump_function *real = __extension__(jump_function *) vt_libc_end(function);
    if (VT_UNLIKELY(vt_tls.busy || vt_tls.label_depth))
        vt_event_jumped(stack_pointer_of(to));
    if (VT_UNLIKELY(vt_tls.backward != NULL))
        vt_torch_jumped(stack_pointer_of(to));
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

/* What _FORTIFY_SOURCE makes of all three. */
VT_EXPORT _Noreturn void __longjmp_chk(struct __jmp_buf_tag to[1], int value) {
    jump_by(VT_LIBC_LONGJMP_CHK, to, value);
}
