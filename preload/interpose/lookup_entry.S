/* SPDX-License-Identifier: MIT */
/*
 * dlsym and dlvsym as the program calls them.
 *
 * For RTLD_NEXT (-1) and RTLD_DEFAULT (0), the C library's answer depends on the caller's return address. So we always
 * pass these two on by a jump, never by a call from our code: otherwise another interposer behind us would find itself.
 * Every other handle goes to lookup.c.
 */
/*
 * Both are exported under each version that the C library uses. An interposer in front of us may ask for dlsym by
 * version, as many do: dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"). If that version were missing here, the interposer
 * would find the C library's function, and with it the driver, past us.
 */
    .text

#ifdef __aarch64__
#define FIRST GLIBC_2.17
#else
#define FIRST GLIBC_2.2.5
#endif

.macro ENTRY name
    .globl vt_\name\()_base, vt_\name\()_2_34
    .type vt_\name\()_base, %function
    .type vt_\name\()_2_34, %function
    .symver vt_\name\()_base, \name\()@FIRST
    .symver vt_\name\()_2_34, \name\()@@GLIBC_2.34
vt_\name\()_base:
vt_\name\()_2_34:
    .cfi_startproc
#ifdef __aarch64__
    add x16, x0, #1
    cmp x16, #1
    b.ls 1f
    b vt_lookup_\name
1:  adrp x16, vt_libc_real_\name
    ldr x16, [x16, :lo12:vt_libc_real_\name]
    cbz x16, 2f
    br x16
2:  stp x29, x30, [sp, #-48]!
    .cfi_def_cfa_offset 48
    .cfi_offset x29, -48
    .cfi_offset x30, -40
    mov x29, sp
    stp x0, x1, [sp, #16]
    str x2, [sp, #32] /* dlvsym's third argument */
    bl vt_libc_resolve
    ldp x0, x1, [sp, #16]
    ldr x2, [sp, #32]
    ldp x29, x30, [sp], #48
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    adrp x16, vt_libc_real_\name
    ldr x16, [x16, :lo12:vt_libc_real_\name]
    br x16
#else
    endbr64
    lea 1(%rdi), %rax
    cmp $1, %rax
    ja vt_lookup_\name
    mov vt_libc_real_\name(%rip), %rax
    test %rax, %rax
    je 1f
    jmp *%rax
1:  .irp register, rdi, rsi, rdx /* dlvsym's third argument; it also aligns the stack */
    push %\register
    .cfi_adjust_cfa_offset 8
    .endr
    call vt_libc_resolve
    .irp register, rdx, rsi, rdi
    pop %\register
    .cfi_adjust_cfa_offset -8
    .endr
    mov vt_libc_real_\name(%rip), %rax
    jmp *%rax
#endif
    .cfi_endproc
    .size vt_\name\()_base, .-vt_\name\()_base
    .size vt_\name\()_2_34, .-vt_\name\()_2_34
.endm

    ENTRY dlsym
    ENTRY dlvsym

    .section .note.GNU-stack, "", %progbits
