/* SPDX-License-Identifier: MIT */
/*
 * Public header of machine/: the differences between architectures. Each architecture has a header that defines the
 * same names. A new one needs such a header, its part of include/vramtrace/ticks.h, and the entries in assembly (*.S).
 *
 * Invariants: only the processor, and the kernel's and the C library's interfaces that depend on it. It uses no other
 * module. Assumptions about the C library's private structures are checked where they are used.
 *
 *   vt_machine_call           a system call; returns the kernel's value
 *   vt_machine_clone          clone(), with a new stack; the child calls `function`, and does not return
 *   VT_MACHINE_RESTORER, VT_MACHINE_SA_RESTORER  fields of the kernel's struct sigaction by which a handler returns
 *   vt_machine_steady_ticks   whether vt_ticks() runs at a constant rate
 *   vt_machine_page           bytes of the kernel's pages
 *   VT_MACHINE_ADDRESSES      upper bound of a program's addresses
 *   VT_MACHINE_MAPPINGS       lower bound of mappings with 48-bit addresses; a heap is mostly below it
 *
 * Calls and stacks:
 *   struct vt_caller, VT_CALLER, vt_caller_sp  the program's call of the function that uses VT_CALLER
 *   VT_MACHINE_CALLERS        start of the calling functions' stack
 *   VT_MACHINE_REGISTERS, vt_machine_read_registers  the registers that a function preserves
 *   VT_MACHINE_SAVE_REGISTERS at a function's start: saves its callers' registers in its own frame
 *   VT_MACHINE_SAVED_BELOW    distance of the saved registers below its frame pointer, in bytes
 *   VT_DWARF_FP, VT_DWARF_SP, VT_DWARF_RA, VT_DWARF_BREG_FP  the numbers of the frame pointer, the stack pointer and
 *                             the return address in unwind tables, and the operation that starts from the frame pointer
 *   VT_RETURN_AT_CFA          bytes of each return address, right below the caller's stack pointer; 0: elsewhere
 *   vt_machine_return         a return address, from the word where it was saved
 *   VT_CONTEXT_PC, _SP, _FP, _LINK  positions of the registers in a ucontext_t; _LINK 0: none
 *   VT_CONTEXT_END            end of the registers
 *   VT_HANDLER_CONTEXT        distance of the ucontext_t from the stack pointer after a signal handler returned
 *   vt_machine_sigreturn      the instructions to which a signal handler returns
 *   VT_CONTEXT_MARK, vt_machine_is_context_mark  the word at `at` that identifies a ucontext_t of getcontext()
 *   VT_CONTEXT_BYTES          end of the part, from uc_stack on, that is not the program's memory
 *   vt_machine_jump_target    the stack pointer of a jmp_buf
 *   VT_UNWINDER_HAS_GETCONTEXT, VT_UNWINDER_GETCONTEXT  whether libunwind's getcontext is a function; calls it
 *   VT_RESULT_ENTRY, vt_machine_call_for_result  the head of an exported function that replaces a C++ function with a
 *                             large result, and gets the result's address and four arguments; calls such a function
 *
 * The C library's data for a thread (glibc):
 *   vt_machine_thread_block   the thread pointer, which points to the thread's block
 *   VT_THREAD_ALIGN           minimum alignment of a struct pthread
 *   VT_THREAD_SELF, VT_THREAD_SELF_2, VT_THREAD_SELF_IS  offsets that identify a struct pthread: two words that contain
 *                             the address of the third position
 *   VT_THREAD_TID             offset of the thread's id: 0 if the thread has ended, -1 if it was joined
 *   vt_machine_thread_bytes   offset of the block in the struct pthread
 *   vt_machine_thread_below, _above  bytes around the block that belong to the thread, with modules' storage
 *   VT_THREAD_HEAD, vt_machine_thread_table  the number of words to read at a block; the modules' table (DTV), from
 *                             these words; 0: none
 *   vt_machine_thread_data    a module's storage, at the loader's offset
 *
 * Memory:
 *   vt_machine_copy, vt_machine_fill  copy and fill `n` bytes upwards; a copy may overlap if `to` is lower
 *   VT_COPY_LOOP, VT_COPY_LOOP_USES  instructions that copy %0 bytes from %2 to %1 and count %0 down, and the registers
 *                             that they use besides %3; they may fault anywhere
 *   VT_LOAD_WORD              instructions that load %1 from %2, and then clear %0
 *   vt_machine_fetch_to_write prefetches a cache line for writing
 *   VT_WIDE, VT_WIDE_HERE, vt_words4, VT_ANY_OF  for functions over four words at a time: their attribute, whether the
 *                             processor supports them, four words, and a bit for each nonzero word (all bits 1)
 *   vt_machine_ask_valgrind   Valgrind's client request (RUNNING_ON_VALGRIND of its valgrind.h): these instructions do
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
