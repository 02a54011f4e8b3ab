/* SPDX-License-Identifier: MIT */
/*
 * The list of the library's own mappings. They hold the address of every live allocation, so the
 * exit scan must skip them. sys.h keeps the list; the scan reads it.
 */
#ifndef VT_PRELOAD_MAPPINGS_H
#define VT_PRELOAD_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vt_range {
    uintptr_t start, end;
};

/* Declared here because each system call that maps memory also adds to the list: see sys.h. */
extern bool vt_sys_sealed;
extern bool vt_sys_careful; /* sealed, or may become sealed: system calls check vt_sys_is_free */
bool vt_sys_is_free(void);
void vt_sys_seal(bool sealed);
void vt_sys_watch(void);   /* at arming: from now on a new seccomp filter is noticed */
extern bool vt_sys_unsure; /* may be sealed already; instrument/seccomp.c checks at arming */

void vt_mappings_add(const void *start, size_t bytes);
void vt_mappings_remove(const void *start);

/* Whether an address lies in one of these mappings. Safe in a signal handler. */
bool vt_mappings_hold(uintptr_t address);

/* Copies the list; ranges are whole pages. False: the list is incomplete, or `room` is
 * too small. */
bool vt_mappings_list(struct vt_range *out, uint32_t room, uint32_t *count);

#endif
