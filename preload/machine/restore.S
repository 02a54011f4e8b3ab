/* SPDX-License-Identifier: MIT */
/*
 * vt_machine_restore: our signal handlers return here. Debuggers and unwinders recognize these instructions. AArch64's kernel
 * provides its own.
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
