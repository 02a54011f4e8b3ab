/* SPDX-License-Identifier: MIT */
/*
 * Public header of machine/: the differences between architectures. Each has a header that defines the same names.
 * A new one needs such a header here, its part of include/vramtrace/ticks.h, and the entries in assembly (*.S).
 *
 * Invariants: only the processor and its interfaces of the kernel and the C library. It uses no other module.
 * Assumptions about the C library's private structures are checked where they are used.
 *
 *   vt_machine_call           a system call; returns the kernel's value
 *   vt_machine_clone          clone(), with a stack of its own; the child calls `function`, and does not return
 *   VT_MACHINE_RESTORER, VT_MACHINE_SA_RESTORER  fields of the kernel's struct sigaction by which a handler returns
 *   vt_machine_steady_ticks   whether vt_ticks() runs at a constant rate
 *   vt_machine_page           bytes of the kernel's pages
 *   VT_MACHINE_ADDRESSES      upper bound of a program's addresses
 *   VT_MACHINE_MAPPINGS       lower bound of mappings with 48-bit addresses; a heap is mostly below it
 *
 * Calls and stacks:
 *   struct vt_caller, VT_CALLER, vt_caller_sp  the program's call of one of our functions, in which
 *                             VT_CALLER is used
 *   VT_MACHINE_CALLERS        in a function: where its callers' stack begins
 *   VT_MACHINE_REGISTERS, vt_machine_read_registers  the registers that a function preserves
 *   VT_MACHINE_SAVE_REGISTERS at the start of a function: saves its callers' registers in its own frame
 *   VT_MACHINE_SAVED_BELOW    distance of these from its frame pointer, in bytes below it
 *   VT_DWARF_FP, VT_DWARF_SP, VT_DWARF_RA, VT_DWARF_BREG_FP  the numbers of the frame pointer, the stack pointer and
 *                             the return address in unwind tables, and the operation that starts from the frame pointer
 *   VT_RETURN_AT_CFA          bytes of each return address, right below the caller's stack pointer; 0: elsewhere
 *   vt_machine_return         a return address, from the word where it was saved
 *   VT_CONTEXT_PC, _SP, _FP, _LINK  positions of the registers in a ucontext_t; _LINK 0: none
 *   VT_CONTEXT_END            end of the registers
 *   VT_HANDLER_CONTEXT        distance of the ucontext_t from the stack pointer after a signal handler returned
 *   vt_machine_sigreturn      the instructions there
 *   VT_CONTEXT_MARK, vt_machine_is_context_mark  the word at `at` that identifies a ucontext_t of getcontext()
 *   VT_CONTEXT_BYTES          the part of it that is not the program's memory: from uc_stack on
 *   vt_machine_jump_target    the stack pointer of a jmp_buf
 *   VT_UNWINDER_HAS_GETCONTEXT, VT_UNWINDER_GETCONTEXT  whether libunwind's getcontext is a function; a call of it
 *   VT_RESULT_ENTRY, vt_machine_call_for_result  the head of an exported function that replaces a C++ function with a
 *                             large result and gets the result's address and four arguments; a call of such a function
 *
 * The C library's data for a thread (glibc):
 *   vt_machine_thread_block   the thread pointer, which points to the thread's block
 *   VT_THREAD_ALIGN           minimum alignment of a struct pthread
 *   VT_THREAD_SELF, VT_THREAD_SELF_2, VT_THREAD_SELF_IS  offsets that identify a struct pthread: two words that contain
 *                             the address of the third position
 *   VT_THREAD_TID             its thread's id: 0 when the thread has ended, -1 when it was joined
 *   vt_machine_thread_bytes   offset of the block in the struct pthread
 *   vt_machine_thread_below, _above  bytes around the block that belong to the thread, with modules' storage
 *   VT_THREAD_HEAD, vt_machine_thread_table  the words at a block; the table of modules (DTV) found by them; 0: none
 *   vt_machine_thread_data    storage of a module at an offset of the loader's
 *
 * Memory:
 *   vt_machine_copy, vt_machine_fill  `n` bytes upwards; a copy may overlap if `to` is lower
 *   VT_COPY_LOOP, VT_COPY_LOOP_USES  instructions that copy %0 bytes from %2 to %1 and count %0 down, and the registers
 *                             that they use besides %3; they may fault anywhere
 *   VT_LOAD_WORD              instructions that load %1 from %2, and then clear %0
 *   vt_machine_fetch_to_write prefetches a cache line for writing
 *   VT_WIDE, VT_WIDE_HERE, vt_words4, VT_ANY_OF  functions over four words at a time: their attribute, whether the
 *                             processor supports them, four words, and a bit for each that is not 0 (all bits are one)
 *   vt_machine_ask_valgrind   Valgrind's client request (RUNNING_ON_VALGRIND of its valgrind.h): instructions that do
 *                             nothing outside Valgrind
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
