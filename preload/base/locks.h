/* SPDX-License-Identifier: MIT */
/*
 * Locks of the C library and of libunwind that stay locked for ever in a forked child if another thread of its parent
 * held them. This module knows all locks that the library waits for: a fork waits briefly until they are free, and a
 * child asks which ones it must avoid. doc/INTERNALS.md lists them ("A forked child").
 */
#ifndef VT_PRELOAD_LOCKS_H
#define VT_PRELOAD_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* Points to a word that is 0 before arming, and in a forked child before its first event (always 0 if the kernel cannot
 * clear memory at a fork). So an event checks only this word. process.c sets the pointer. */
extern const uint32_t *vt_process_settled; /* atomic */

/* The pid at load, or after fork(). In a child of a bare clone or vfork, getpid() differs. */
extern uint32_t vt_process_pid; /* atomic */

/* Per thread: the number of nested vfork children, which run in their parent's memory (vfork_entry.S; clone in
 * fork.c). */
extern __thread uint32_t vt_locks_vforks __attribute__((visibility("hidden")));

/* Locks that this child must not wait for. */
enum {
    /* dlopen, dlsym and malloc: the child was made without the C library's fork, which would reinitialize their
     * locks */
    VT_LOST_LOADER = 1,
    /* dl_iterate_phdr and dlopen */
    VT_LOST_LIST = 2,
    /* any lock taken between vt_locks_enter and vt_locks_leave: libunwind, handlers for exit */
    VT_LOST_INSIDE = 4,
};
void vt_locks_check(void); /* notices a child whose fork we did not see */

/* Whether this process must avoid any of the locks in `which`. Until the first event, calls vt_locks_check first. */
bool vt_locks_lost(uint32_t which);
bool vt_locks_lost_as_known(uint32_t which); /* without that check */

/* Call before taking such a lock, and after releasing it. */
void vt_locks_enter(void);
void vt_locks_leave(void);

void vt_locks_load(void); /* when the library is loaded */
void vt_locks_fork_begins(void);
void vt_locks_fork_in_parent(void);
/* `whole`: made by the C library's fork. */
void vt_locks_fork_in_child(bool whole);

#endif
