/* SPDX-License-Identifier: MIT */
/* Loaded objects and their symbols (elf.c). */
#ifndef VT_PRELOAD_ELF_H
#define VT_PRELOAD_ELF_H

#include "mappings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A loaded object, found by address. */
struct vt_elf {
    uintptr_t bias;
    const void *dynamic;  /* its PT_DYNAMIC */
    const char *name;     /* as the loader knows it; the loader's memory */
    uintptr_t start, end; /* mapped range */
};

/* The object that `address` lies in. False: none. Takes the loader's lock. */
bool vt_elf_containing(const void *address, struct vt_elf *out);

/* The first object whose file name or SONAME begins with `prefix`. False: none. Takes the loader's
 * lock. */
bool vt_elf_named(const char *prefix, struct vt_elf *out);

/* The first object, in load order, behind the one that `after` lies in, that defines the symbol.
 * False: none. Takes the loader's lock. */
bool vt_elf_behind(const void *after, const char *symbol, struct vt_elf *out);

/* Where a defined function of that object itself lies, as far as its symbol says. False: not there.
 */
bool vt_elf_function(const struct vt_elf *object, const char *name, struct vt_range *out);

/* Address of a defined symbol of that object itself; with a version node (or NULL: its default
 * version). NULL: not there. */
void *vt_elf_symbol(const struct vt_elf *object, const char *name, const char *version);

/* Whether that object has some exported symbol at exactly `address`. */
bool vt_elf_names_address(const struct vt_elf *object, const void *address);

#endif
