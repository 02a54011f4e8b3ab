/* SPDX-License-Identifier: MIT */
/*
 * syscall as the program calls it. All calls except seccomp and prctl are passed on by a jump, with the stack
 * unchanged, because a call may return twice, or on another stack. seccomp.c handles the rest.
 */
#include <asm/unistd.h>

    .text
    .globl syscall
    .type syscall, %function
syscall:
    .cfi_startproc
#ifdef __aarch64__
    cmp x0, #__NR_seccomp
    b.eq 1f
    cmp x0, #__NR_prctl
    b.eq 1f
    adrp x16, vt_seccomp_real_syscall
    ldr x16, [x16, :lo12:vt_seccomp_real_syscall]
    cbz x16, 1f
    br x16
1:  b vt_seccomp_syscall
#else
    endbr64
    cmp $__NR_seccomp, %rdi
    je vt_seccomp_syscall
    cmp $__NR_prctl, %rdi
    je vt_seccomp_syscall
    mov vt_seccomp_real_syscall(%rip), %rax
    test %rax, %rax
    je vt_seccomp_syscall
    jmp *%rax
#endif
    .cfi_endproc
    .size syscall, .-syscall

    .section .note.GNU-stack, "", %progbits
