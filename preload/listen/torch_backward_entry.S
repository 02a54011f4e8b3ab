/* SPDX-License-Identifier: MIT */
/*
 * The two entries of torch_backward.c that C cannot write: a call with a personality routine of our own (the compiler's
 * would need libgcc), and a function that jumps on to the real one, with all registers as they came.
 */
    .text
    .hidden vt_torch_unwound
    .globl vt_torch_call
    .hidden vt_torch_call
    .type vt_torch_call, @function
vt_torch_call: /* function, then its five arguments */
    .cfi_startproc
    .cfi_personality 0x1b, vt_torch_unwound /* an address relative to its own place, 4 bytes */
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
    ret
    .cfi_endproc
    .size vt_torch_call, .-vt_torch_call

#define EVALUATE_FUNCTION \
    _ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_INS0_10ReadyQueueEE

    .globl EVALUATE_FUNCTION
    .type EVALUATE_FUNCTION, @function
EVALUATE_FUNCTION: /* engine, pass, node, inputs, queue */
    .cfi_startproc
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
    .cfi_endproc
    .size EVALUATE_FUNCTION, .-EVALUATE_FUNCTION

    .section .note.GNU-stack, "", @progbits
