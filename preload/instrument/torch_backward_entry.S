/* SPDX-License-Identifier: MIT */
/*
 * The two entries of torch_backward.c that cannot be written in C: a call with our own personality routine (the
 * compiler's would need libgcc), and a function that jumps to the real one with all registers unchanged.
 */
#define EVALUATE_FUNCTION \
    _ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_INS0_10ReadyQueueEE

    .text
    .hidden vt_torch_unwound
    .globl vt_torch_call
    .hidden vt_torch_call
    .type vt_torch_call, %function
vt_torch_call: /* function, then its five arguments */
    .cfi_startproc
    .cfi_personality 0x1b, vt_torch_unwound /* a 4-byte address relative to its own position */
#ifdef __aarch64__
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    mov x29, sp
    mov x16, x0
    mov x8, x1 /* where the result is stored */
    mov x0, x2
    mov x1, x3
    mov x2, x4
    mov x3, x5
    blr x16
    ldp x29, x30, [sp], #16
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
#else
    endbr64
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    mov %rdi, %rax
    mov %rsi, %rdi
    mov %rdx, %rsi
    mov %rcx, %rdx
    mov %r8, %rcx
    mov %r9, %r8
    call *%rax
    add $8, %rsp
    .cfi_adjust_cfa_offset -8
#endif
    ret
    .cfi_endproc
    .size vt_torch_call, .-vt_torch_call

    .globl EVALUATE_FUNCTION
    .type EVALUATE_FUNCTION, %function
EVALUATE_FUNCTION: /* engine, pass, node, inputs, queue */
    .cfi_startproc
#ifdef __aarch64__
    stp x29, x30, [sp, #-64]!
    .cfi_def_cfa_offset 64
    .cfi_offset x29, -64
    .cfi_offset x30, -56
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    str x4, [sp, #48]
    bl vt_torch_evaluates
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldr x4, [sp, #48]
    ldp x29, x30, [sp], #64
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    br x16
#else
    endbr64
    .irp register, rdi, rsi, rdx, rcx, r8
    push %\register
    .cfi_adjust_cfa_offset 8
    .endr
    call vt_torch_evaluates
    .irp register, r8, rcx, rdx, rsi, rdi
    pop %\register
    .cfi_adjust_cfa_offset -8
    .endr
    jmp *%rax
#endif
    .cfi_endproc
    .size EVALUATE_FUNCTION, .-EVALUATE_FUNCTION

    .section .note.GNU-stack, "", %progbits
