/* SPDX-License-Identifier: MIT */
/*
 * The list of the library's own mappings, so that the exit scan can tell them from the program's:
 * they hold the address of every live allocation. sys.h keeps it; the scan reads it.
 */
#ifndef VT_PRELOAD_MAPPINGS_H
#define VT_PRELOAD_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vt_range {
    uintptr_t start, end;
};

void vt_mappings_add(const void *start, size_t bytes);
void vt_mappings_remove(const void *start);

/* Copies the list, whole pages. False: it is not complete, or `room` is too small. */
bool vt_mappings_list(struct vt_range *out, uint32_t room, uint32_t *count);

#endif
