/* SPDX-License-Identifier: MIT */
/*
 * dlsym and dlvsym as the program calls them.
 *
 * The C library answers RTLD_NEXT (-1) and RTLD_DEFAULT (0) according to its caller's return
 * address. So those two are always passed on by a jump, never by a call from our code: otherwise
 * another interposer behind us would find itself. Every other handle goes to lookup.c.
 */
/*
 * Both are exported under each version that the C library uses. An interposer in front of us may
 * ask for dlsym by version (dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"), as many do). Without that
 * version here, it would find the C library's, and then the driver, past us.
 */
    .text

    .globl vt_dlsym_base, vt_dlsym_2_34
    .type vt_dlsym_base, @function
    .type vt_dlsym_2_34, @function
    .symver vt_dlsym_base, dlsym@GLIBC_2.2.5
    .symver vt_dlsym_2_34, dlsym@@GLIBC_2.34
vt_dlsym_base:
vt_dlsym_2_34:
    .cfi_startproc
    endbr64
    lea 1(%rdi), %rax
    cmp $1, %rax
    ja vt_lookup_dlsym
    mov vt_libc_real_dlsym(%rip), %rax
    test %rax, %rax
    je 1f
    jmp *%rax
1:  push %rdi
    .cfi_adjust_cfa_offset 8
    push %rsi
    .cfi_adjust_cfa_offset 8
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    call vt_libc_resolve
    add $8, %rsp
    .cfi_adjust_cfa_offset -8
    pop %rsi
    .cfi_adjust_cfa_offset -8
    pop %rdi
    .cfi_adjust_cfa_offset -8
    mov vt_libc_real_dlsym(%rip), %rax
    jmp *%rax
    .cfi_endproc
    .size vt_dlsym_base, .-vt_dlsym_base
    .size vt_dlsym_2_34, .-vt_dlsym_2_34

    .globl vt_dlvsym_base, vt_dlvsym_2_34
    .type vt_dlvsym_base, @function
    .type vt_dlvsym_2_34, @function
    .symver vt_dlvsym_base, dlvsym@GLIBC_2.2.5
    .symver vt_dlvsym_2_34, dlvsym@@GLIBC_2.34
vt_dlvsym_base:
vt_dlvsym_2_34:
    .cfi_startproc
    endbr64
    lea 1(%rdi), %rax
    cmp $1, %rax
    ja vt_lookup_dlvsym
    mov vt_libc_real_dlvsym(%rip), %rax
    test %rax, %rax
    je 1f
    jmp *%rax
1:  push %rdi
    .cfi_adjust_cfa_offset 8
    push %rsi
    .cfi_adjust_cfa_offset 8
    push %rdx
    .cfi_adjust_cfa_offset 8
    call vt_libc_resolve
    pop %rdx
    .cfi_adjust_cfa_offset -8
    pop %rsi
    .cfi_adjust_cfa_offset -8
    pop %rdi
    .cfi_adjust_cfa_offset -8
    mov vt_libc_real_dlvsym(%rip), %rax
    jmp *%rax
    .cfi_endproc
    .size vt_dlvsym_base, .-vt_dlvsym_base
    .size vt_dlvsym_2_34, .-vt_dlvsym_2_34

    .section .note.GNU-stack, "", @progbits
