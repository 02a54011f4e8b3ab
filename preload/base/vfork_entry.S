/* SPDX-License-Identifier: MIT */
/*
 * vfork. Its child runs in its parent's memory and must not end its parent's log; under a seccomp filter no system call can
 * tell the two apart. So vt_locks_vforks counts the vfork children nested on this thread. The child returns first, and may
 * overwrite the stack, so the return address waits in a register, as in the C library's vfork.
 */
#include <asm/unistd.h>

    .text
    .globl vfork
    .type vfork, %function
vfork:
    .cfi_startproc
#ifdef __aarch64__
    mrs x9, tpidr_el0
    adrp x10, :gottprel:vt_locks_vforks
    ldr x10, [x10, :gottprel_lo12:vt_locks_vforks]
    ldr w11, [x9, x10]
    add w12, w11, 1
    str w12, [x9, x10]
    mov x0, 0x4111 /* CLONE_VM, CLONE_VFORK, SIGCHLD */
    mov x1, 0
    mov x2, 0
    mov x3, 0
    mov x4, 0
    mov x8, __NR_clone
    svc 0
    cbz w0, 1f
    str w11, [x9, x10]
    cmn x0, 4095
    b.cs vt_locks_vfork_failed
1:  ret
#else
    endbr64
    popq %rdi
    .cfi_adjust_cfa_offset -8
    .cfi_register %rip, %rdi
    movq vt_locks_vforks@gottpoff(%rip), %rsi
    incl %fs:(%rsi)
    movl $__NR_vfork, %eax
    syscall
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    .cfi_offset %rip, -8
    testl %eax, %eax
    je 1f
    decl %fs:(%rsi)
    cmpl $-4095, %eax
    movl %eax, %edi
    jae vt_locks_vfork_failed
1:  ret
#endif
    .cfi_endproc
    .size vfork, .-vfork

    .section .note.GNU-stack, "", %progbits
