/* SPDX-License-Identifier: MIT */
/*
 * dlsym and dlvsym as the program calls them.
 *
 * RTLD_NEXT (-1) and RTLD_DEFAULT (0) are answered by the C library according to WHO calls it, by return address. So those
 * two are always passed on by a jump, never by a call from our own code, whatever the name: else another interposer behind
 * us would be shown itself. Every other handle goes to lookup.c.
 */
/*
 * Each is exported under both versions that the C library has it by: another interposer in front of us that asks for
 * dlsym by version (dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"), as many do) would find the C library's past us, and with it
 * the driver.
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
