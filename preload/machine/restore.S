/* SPDX-License-Identifier: MIT */
/*
 * vt_machine_restore: what a signal's handler of ours returns to. The instructions are those that debuggers and
 * unwinders know. AArch64's kernel has its own.
 */
#ifdef __x86_64__
    .text
    .globl vt_machine_restore
    .hidden vt_machine_restore
    .type vt_machine_restore, @function
vt_machine_restore:
    movq $15, %rax /* rt_sigreturn */
    syscall
    .size vt_machine_restore, .-vt_machine_restore
#endif

    .section .note.GNU-stack, "", %progbits
