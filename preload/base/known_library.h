/* SPDX-License-Identifier: MIT */
/* The loaded modules that are known libraries (known_library.c). */
#ifndef VT_PRELOAD_KNOWN_LIBRARY_H
#define VT_PRELOAD_KNOWN_LIBRARY_H

#include "elf.h"

#include "vramtrace/library.h"

/* Who made an allocation, by its call stack. Caches and CUDA's libraries keep memory by design. */
enum vt_allocator {
    VT_ALLOCATOR_PROGRAM,
    VT_ALLOCATOR_CACHE, /* a caching allocator */
    VT_ALLOCATOR_CUDA   /* one of CUDA's libraries */
};

/* Returns the known library with this object's name and exports; NULL: none. *other: only the name matches. Call under
 * the loader's lock. */
const struct vt_library *vt_library_loaded(const char *path, const struct vt_elf *e, bool *other);

/* Remembers the address range of a known library. One thread at a time. */
void vt_library_note(const struct vt_library *row, uintptr_t start, uintptr_t end);
void vt_library_forget(void);

/* The allocator behind a call's frames, innermost first. */
enum vt_allocator vt_library_allocator(const uintptr_t *frames, size_t count);

/* Whether the module at an address is one of CUDA's libraries; until any library is noted, only `path` decides. */
bool vt_library_is_cuda_at(uintptr_t address, const char *path);

#endif
