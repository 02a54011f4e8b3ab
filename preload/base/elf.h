/* SPDX-License-Identifier: MIT */
/* Loaded objects and their symbols (elf.c). */
#ifndef VT_PRELOAD_ELF_H
#define VT_PRELOAD_ELF_H

#include "mappings.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A loaded object, found by address. */
struct vt_elf {
    uintptr_t bias;
    const void *dynamic;  /* its PT_DYNAMIC segment */
    const char *name;     /* the loader's name for it, in the loader's memory */
    uintptr_t start, end; /* mapped range */
};

/* The bounds of this library in memory, defined by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static inline bool vt_elf_is_ours(uintptr_t address) {
    return address - (uintptr_t)__ehdr_start < (size_t)(_end - __ehdr_start);
}

/* The object that contains `address`. False: none. Takes the loader's lock. */
bool vt_elf_containing(const void *address, struct vt_elf *out);

/* The first object whose file name or SONAME begins with `prefix`. False: none. Takes the loader's
 * lock. */
bool vt_elf_named(const char *prefix, struct vt_elf *out);

/* The same, from the loader's own list, starting at `first`. Takes no lock and calls nothing, so
 * use it only for objects that are never unloaded. Does not fill in the range. */
bool vt_elf_at_start(const struct link_map *first, const char *prefix, struct vt_elf *out);

/* The first object after the one containing `after`, in load order, that defines the symbol. False:
 * none. Takes the loader's lock. */
bool vt_elf_behind(const void *after, const char *symbol, struct vt_elf *out);

/* The address range of a function that this object defines, by its symbol's size. False: none. */
bool vt_elf_function(const struct vt_elf *object, const char *name, struct vt_range *out);

/* The address of a symbol that this object defines; `version` NULL: its default one. NULL: none. */
void *vt_elf_symbol(const struct vt_elf *object, const char *name, const char *version);

/* Whether this object exports a symbol at exactly `address`. */
bool vt_elf_names_address(const struct vt_elf *object, const void *address);

#endif
