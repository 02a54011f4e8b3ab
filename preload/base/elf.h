/* SPDX-License-Identifier: MIT */
/* Loaded objects and their symbols (elf.c). */
#ifndef VT_PRELOAD_ELF_H
#define VT_PRELOAD_ELF_H

#include "mappings.h"

#include "libc.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A loaded object, found by address. */
struct vt_elf {
    uintptr_t bias;
    const void *dynamic;    /* its PT_DYNAMIC segment */
    const char *name;       /* the loader's name for it, in the loader's memory */
    uintptr_t start, end;   /* mapped range */
    struct vt_range code;   /* from its first executable byte to its last */
    struct vt_range relro;  /* the part that the loader makes read-only after relocation */
    uintptr_t unwind_table; /* its .eh_frame_hdr; 0: none */
};

/* The tables that an object's dynamic section points to. NULL: it has none. */
struct vt_elf_tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint16_t *versions;
    const ElfW(Verdef) * definitions;
    const uint32_t *gnu_hash;
    const uint32_t *hash;
    const char *soname;
    const ElfW(Rela) * relocations[2]; /* for its calls, and others */
    size_t relocation_bytes[2];
};

/* The bounds of this library in memory, defined by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static inline bool vt_elf_is_ours(uintptr_t address) {
    return address - (uintptr_t)__ehdr_start < (size_t)(_end - __ehdr_start);
}

/* Describes a loaded object. */
void vt_elf_describe(const struct dl_phdr_info *info, struct vt_elf *out);
void vt_elf_read_tables(const struct vt_elf *object, struct vt_elf_tables *out);

/* The object that contains `address`. False: none. Takes the loader's lock. */
bool vt_elf_containing(const void *address, struct vt_elf *out);

/* The first object whose file name or SONAME begins with `prefix` and that also defines `symbol`: a library of the
 * program may have such a name. False: none. Takes the loader's lock. */
bool vt_elf_named(const char *prefix, const char *symbol, struct vt_elf *out);

/* The same, from the loader's own list, starting at `first`. It is lock-free, so
 * use it only for objects that stay loaded. Does not fill in the range. */
bool vt_elf_at_start(const struct link_map *first, const char *prefix, struct vt_elf *out);

/* The first object after the one containing `after`, in load order, that defines the symbol. False:
 * none. Takes the loader's lock. */
bool vt_elf_behind(const void *after, const char *symbol, struct vt_elf *out);

/* The address range of a function that this object defines, by its symbol's size. False: none. */
bool vt_elf_function(const struct vt_elf *object, const char *name, struct vt_range *out);

/* The range from the first to the last exported function whose name begins with one of the prefixes. False: no such
 * function. */
bool vt_elf_functions(const struct vt_elf *object, const char *const prefixes[2],
                      struct vt_range *out);

/* The address of a symbol that this object defines; `version` NULL: its default one. NULL: none. */
void *vt_elf_symbol(const struct vt_elf *object, const char *name, const char *version);

/* Whether this object exports a symbol at exactly `address`. */
bool vt_elf_names_address(const struct vt_elf *object, const void *address);

#endif
