/* SPDX-License-Identifier: MIT */
/*
 * dlsym and dlvsym as the program calls them.
 *
 * RTLD_NEXT (-1) and RTLD_DEFAULT (0) are answered by the C library according to WHO calls it, by return address. So those
 * two are always passed on by a jump, never by a call from our own code, whatever the name: else another interposer behind
 * us would be shown itself. Every other handle goes to lookup.c.
 */
    .text

    .globl dlsym
    .type dlsym, @function
dlsym:
    .cfi_startproc
    endbr64
    lea 1(%rdi), %rax
    cmp $1, %rax
    ja vt_lookup_dlsym
    mov vt_real_dlsym(%rip), %rax
    test %rax, %rax
    je 1f
    jmp *%rax
1:  push %rdi
    .cfi_adjust_cfa_offset 8
    push %rsi
    .cfi_adjust_cfa_offset 8
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    call vt_lookup_resolve_libc
    add $8, %rsp
    .cfi_adjust_cfa_offset -8
    pop %rsi
    .cfi_adjust_cfa_offset -8
    pop %rdi
    .cfi_adjust_cfa_offset -8
    mov vt_real_dlsym(%rip), %rax
    jmp *%rax
    .cfi_endproc
    .size dlsym, .-dlsym

    .globl dlvsym
    .type dlvsym, @function
dlvsym:
    .cfi_startproc
    endbr64
    lea 1(%rdi), %rax
    cmp $1, %rax
    ja vt_lookup_dlvsym
    mov vt_real_dlvsym(%rip), %rax
    test %rax, %rax
    je 1f
    jmp *%rax
1:  push %rdi
    .cfi_adjust_cfa_offset 8
    push %rsi
    .cfi_adjust_cfa_offset 8
    push %rdx
    .cfi_adjust_cfa_offset 8
    call vt_lookup_resolve_libc
    pop %rdx
    .cfi_adjust_cfa_offset -8
    pop %rsi
    .cfi_adjust_cfa_offset -8
    pop %rdi
    .cfi_adjust_cfa_offset -8
    mov vt_real_dlvsym(%rip), %rax
    jmp *%rax
    .cfi_endproc
    .size dlvsym, .-dlvsym

    .section .note.GNU-stack, "", @progbits
