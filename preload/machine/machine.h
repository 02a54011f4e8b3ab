/* SPDX-License-Identifier: MIT */
/*
 * Public header of machine/: all that differs from one architecture to another. Each has a header with the same names;
 * another one needs a header more here, include/vramtrace/ticks.h, and the entries in assembly (*.S).
 *
 * Invariants: nothing but the processor, the kernel's and the C library's interfaces of it. It uses no other module. What it
 * says of the C library's private structures is checked where it is used.
 *
 *   vt_machine_call           a system call, as the kernel answers it
 *   vt_machine_clone          clone(), on a stack of its own; the child calls `function`, and does not return
 *   VT_MACHINE_RESTORER, VT_MACHINE_SA_RESTORER  what struct sigaction of the kernel needs for a handler to return
 *   vt_machine_steady_ticks   whether vt_ticks() runs at one rate
 *   vt_machine_page           bytes of the kernel's pages
 *   VT_MACHINE_ADDRESSES      a program's addresses are less
 *   VT_MACHINE_MAPPINGS       with 48 bits of addresses its mappings are not less; a heap is, mostly
 *
 * Calls and stacks:
 *   struct vt_caller, VT_CALLER, vt_caller_sp  where the program called one of our functions, made in that very function
 *   VT_MACHINE_CALLERS        in a function: where the stack of its callers begins
 *   VT_MACHINE_REGISTERS, vt_machine_read_registers  those that a function leaves as they were
 *   VT_MACHINE_SAVE_REGISTERS has the function save its callers' in its own frame, that begins
 *   VT_MACHINE_SAVED_BELOW    so many bytes below its frame pointer
 *   VT_DWARF_FP, VT_DWARF_SP, VT_DWARF_RA, VT_DWARF_BREG_FP  the numbers of the frame pointer, the stack pointer and the
 *                             return address in unwind tables, and the operation that begins with the first
 *   VT_RETURN_AT_CFA          bytes of each return address, right below the caller's stack pointer; 0: it lies elsewhere
 *   vt_machine_return         a return address, from the word where it was saved
 *   VT_CONTEXT_PC, _SP, _FP, _LINK  where the registers are in a ucontext_t; _LINK, 0: returns are on the stack alone
 *   VT_CONTEXT_END            the registers end there
 *   VT_HANDLER_CONTEXT        where the ucontext_t is, from the stack pointer after a signal's handler returned
 *   vt_machine_sigreturn      the instructions there
 *   VT_CONTEXT_MARK, vt_machine_is_context_mark  the word by which a ucontext_t of getcontext() is known; at `at`
 *   VT_CONTEXT_BYTES          what of it is no part of the program's memory: from uc_stack on
 *   vt_machine_jump_target    the stack pointer of a jmp_buf
 *   VT_UNWINDER_HAS_GETCONTEXT, VT_UNWINDER_GETCONTEXT  whether libunwind's is a function; its call
 *   VT_RESULT_ENTRY, vt_machine_call_for_result  the head of an exported function in place of one of C++ that gives a
 *                             large object, with the object's place and four arguments; the call of such a function
 *
 * The C library's data for a thread (glibc):
 *   vt_machine_thread_block   the thread pointer, where the thread's block is
 *   VT_THREAD_ALIGN           what a struct pthread is aligned to, at least
 *   VT_THREAD_SELF, VT_THREAD_SELF_2, VT_THREAD_SELF_IS  a struct pthread is known by two words that have the address of
 *                             the third place, in bytes from its start
 *   VT_THREAD_TID             its thread's id: 0 when the thread has ended, -1 when it was joined
 *   vt_machine_thread_bytes   how far behind its start the block is
 *   vt_machine_thread_below, _above  how much of the block's surroundings is the thread's, with modules' storage
 *   VT_THREAD_HEAD, vt_machine_thread_table  the words at a block; by them, the thread's table of modules (DTV); 0: none
 *   vt_machine_thread_data    storage of a module at an offset of the loader's
 *
 * Memory:
 *   vt_machine_copy, vt_machine_fill  `n` bytes upwards; copied bytes may overlap where `to` is lower
 *   VT_COPY_LOOP, VT_COPY_LOOP_USES  instructions that copy %0 bytes from %2 to %1 and count %0 down, by %3 and these; they may
 *                             fault anywhere
 *   VT_LOAD_WORD              that load %1 from %2, and then clear %0
 *   vt_machine_fetch_to_write has the processor fetch the cache line for writing, and goes on
 *   VT_WIDE, VT_WIDE_HERE, vt_words4, VT_ANY_OF  functions over four words at a time: their attribute, whether the
 *                             processor has them, four words, and a bit for each that is not 0 (all bits are one)
 *   vt_machine_ask_valgrind   Valgrind's own question (RUNNING_ON_VALGRIND of its valgrind.h): instructions that do
 *                             nothing where it does not run
 *   VT_RELOCATE_CALL, VT_RELOCATE_DATA  relocations of the slots for functions
 */
#ifndef VT_PRELOAD_MACHINE_H
#define VT_PRELOAD_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramtrace/ticks.h"

typedef int64_t vt_words4 __attribute__((vector_size(32)));

#ifdef __x86_64__
#include "x86_64.h"
#else
#include "aarch64.h"
#endif

#endif
