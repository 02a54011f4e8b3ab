/* SPDX-License-Identifier: MIT */
/*
 * syscall as the program calls it. All but seccomp and prctl is passed on by a jump, with the stack as it was: the call
 * may return twice, or on another stack. seccomp.c does the rest.
 */
    .text
    .globl syscall
    .type syscall, @function
syscall:
    .cfi_startproc
    endbr64
    cmp $317, %rdi
    je vt_seccomp_syscall
    cmp $157, %rdi
    je vt_seccomp_syscall
    mov vt_seccomp_real_syscall(%rip), %rax
    test %rax, %rax
    je vt_seccomp_syscall
    jmp *%rax
    .cfi_endproc
    .size syscall, .-syscall

    .section .note.GNU-stack, "", @progbits
