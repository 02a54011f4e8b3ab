/* SPDX-License-Identifier: MIT */
/*
 * Symbols of loaded objects, read from the objects' own tables.
 *
 * Why not dlsym: we export dlsym, so our own calls would reach our export; dlsym leaves a message for the program's
 * next dlerror; and for an object opened RTLD_LOCAL it needs a handle. Called by libc.c (to find the C library's dlsym)
 * and by interpose/.
 */
#define _GNU_SOURCE
#include "elf.h"

#include <string.h>

struct search {
    const void *address;
    const char *prefix, *symbol;
    struct vt_elf *out;
};

/* The addresses in a dynamic section may be relocated by the loader (glibc does that) or still be offsets (vDSO). */
static const void *at(const struct vt_elf *o, ElfW(Addr) value) {
    return (const void *)(value < o->bias ? value + o->bias : value);
}

void vt_elf_read_tables(const struct vt_elf *o, struct vt_elf_tables *t) {
    *t = (struct vt_elf_tables){0};
    ElfW(Xword) soname = 0;
    if (!o->dynamic)
        return;
    for (const ElfW(Dyn) *d = o->dynamic; d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_SYMTAB:
            t->symbols = at(o, d->d_un.d_ptr);
            break;
        case DT_STRTAB:
            t->strings = at(o, d->d_un.d_ptr);
            break;
        case DT_VERSYM:
            t->versions = at(o, d->d_un.d_ptr);
            break;
        case DT_VERDEF:
            t->definitions = at(o, d->d_un.d_ptr);
            break;
        case DT_GNU_HASH:
            t->gnu_hash = at(o, d->d_un.d_ptr);
            break;
        case DT_HASH:
            t->hash = at(o, d->d_un.d_ptr);
            break;
        case DT_JMPREL:
            t->relocations[0] = at(o, d->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            t->relocation_bytes[0] = d->d_un.d_val;
            break;
        case DT_RELA:
            t->relocations[1] = at(o, d->d_un.d_ptr);
            break;
        case DT_RELASZ:
            t->relocation_bytes[1] = d->d_un.d_val;
            break;
        case DT_SONAME:
            soname = d->d_un.d_val;
            break;
        default:
            break;
        }
    }
    if (t->strings && soname)
        t->soname = t->strings + soname;
}

static void widen(struct vt_range *range, uintptr_t start, uintptr_t end) {
    if (!range->end || start < range->start)
        range->start = start;
    if (end > range->end)
        range->end = end;
}

void vt_elf_describe(const struct dl_phdr_info *info, struct vt_elf *out) {
    struct vt_range mapped = {0, 0};
    *out = (struct vt_elf){.bias = info->dlpi_addr, .name = info->dlpi_name};
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;
        if (p->p_type == PT_DYNAMIC)
            out->dynamic = (const void *)start;
        else if (p->p_type == PT_GNU_EH_FRAME)
            out->unwind_table = start;
        else if (p->p_type == PT_GNU_RELRO)
            out->relro = (struct vt_range){start, end};
        else if (p->p_type == PT_LOAD)
            widen(&mapped, start, end);
        if (p->p_type == PT_LOAD && p->p_flags & PF_X)
            widen(&out->code, start, end);
    }
    out->start = mapped.start;
    out->end = mapped.end;
}

static int match_address(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct search *s = data;
    uintptr_t a = (uintptr_t)s->address;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && a - (info->dlpi_addr + p->p_vaddr) < p->p_memsz) {
            vt_elf_describe(info, s->out);
            return 1;
        }
    }
    return 0;
}

static bool begins_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool has_prefix(const char *path, const char *prefix) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return path && begins_with(slash ? slash + 1 : path, prefix);
}

static int match_prefix(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct search *s = data;
    struct vt_elf_tables t;
    vt_elf_describe(info, s->out);
    vt_elf_read_tables(s->out, &t);
    return (has_prefix(info->dlpi_name, s->prefix) || has_prefix(t.soname, s->prefix)) &&
           vt_elf_symbol(s->out, s->symbol, NULL);
}

bool vt_elf_containing(const void *address, struct vt_elf *out) {
    struct search s = {.address = address, .out = out};
    return vt_libc_each_object(match_address, &s) == 1;
}

bool vt_elf_at_start(const struct link_map *first, const char *prefix, struct vt_elf *out) {
    for (const struct link_map *m = first; m; m = m->l_next) {
        struct vt_elf_tables t;
        *out = (struct vt_elf){.bias = m->l_addr, .dynamic = m->l_ld, .name = m->l_name};
        vt_elf_read_tables(out, &t);
        if (has_prefix(m->l_name, prefix) || has_prefix(t.soname, prefix))
            return true;
    }
    return false;
}

bool vt_elf_named(const char *prefix, const char *symbol, struct vt_elf *out) {
    struct search s = {.prefix = prefix, .symbol = symbol, .out = out};
    return vt_libc_each_object(match_prefix, &s) == 1;
}

struct behind {
    const void *after;
    const char *symbol;
    bool passed;
    struct vt_elf *out;
};

static int match_behind(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct behind *b = data;
    uintptr_t a = (uintptr_t)b->after;
    vt_elf_describe(info, b->out);
    if (!b->passed) {
        b->passed = a - b->out->start < b->out->end - b->out->start;
        return 0;
    }
    return vt_elf_symbol(b->out, b->symbol, NULL) != NULL;
}

bool vt_elf_behind(const void *after, const char *symbol, struct vt_elf *out) {
    struct behind b = {.after = after, .symbol = symbol, .out = out};
    return vt_libc_each_object(match_behind, &b) == 1;
}

/* The name of a version index. NULL: the object's base version, or unknown. */
static const char *version_name(const struct vt_elf_tables *t, unsigned index) {
    const ElfW(Verdef) *d = t->definitions;
    while (d) {
        if (d->vd_ndx == index && !(d->vd_flags & VER_FLG_BASE)) {
            const ElfW(Verdaux) *aux = (const void *)((const char *)d + d->vd_aux);
            return t->strings + aux->vda_name;
        }
        d = d->vd_next ? (const void *)((const char *)d + d->vd_next) : NULL;
    }
    return NULL;
}

static bool matches(const struct vt_elf_tables *t, uint32_t index, const char *name,
                    const char *version) {
    const ElfW(Sym) *s = &t->symbols[index];
    if (s->st_shndx == SHN_UNDEF || !s->st_value || strcmp(t->strings + s->st_name, name) != 0)
        return false;
    if (!t->versions)
        return true;
    unsigned v = t->versions[index];
    if (!version)
        return !(v & 0x8000); /* hidden: an old version kept for old programs */
    const char *has = version_name(t, v & 0x7fff);
    return !has || strcmp(has, version) == 0;
}

static uint32_t gnu_hash(const char *name) {
    uint32_t h = 5381;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        h = h * 33 + *c;
    return h;
}

/* The symbol's index, or 0. */
static uint32_t find(const struct vt_elf_tables *t, const char *name, const char *version) {
    if (t->gnu_hash) {
        /* header: buckets, first symbol, bloom words, shift; then bloom, buckets, chains */
        const uint32_t *h = t->gnu_hash;
        const uint32_t *buckets = (const uint32_t *)((const ElfW(Addr) *)(h + 4) + h[2]);
        const uint32_t *chains = buckets + h[0];
        uint32_t wanted = gnu_hash(name), i = h[0] ? buckets[wanted % h[0]] : 0;
        if (i < h[1])
            return 0;
        for (;; i++) {
            uint32_t link = chains[i - h[1]];
            if ((link | 1) == (wanted | 1) && matches(t, i, name, version))
                return i;
            if (link & 1)
                return 0;
        }
    }
    if (t->hash)
        for (uint32_t i = 1; i < t->hash[1]; i++)
            if (matches(t, i, name, version))
                return i;
    return 0;
}

static const ElfW(Sym) *
    symbol_of(const struct vt_elf *object, const char *name, const char *version) {
    struct vt_elf_tables t;
    vt_elf_read_tables(object, &t);
    uint32_t i = t.symbols && t.strings ? find(&t, name, version) : 0;
    return i ? &t.symbols[i] : NULL;
}

void *vt_elf_symbol(const struct vt_elf *object, const char *name, const char *version) {
    const ElfW(Sym) *symbol = symbol_of(object, name, version);
    /* An indirect function's symbol is the resolver, which selects the real function. */
    return symbol && ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC
               ? (void *)(object->bias + symbol->st_value)
               : NULL;
}

bool vt_elf_function(const struct vt_elf *object, const char *name, struct vt_range *out) {
    const ElfW(Sym) *symbol = symbol_of(object, name, NULL);
    if (!symbol)
        return false;
    out->start = object->bias + symbol->st_value;
    out->end = out->start + symbol->st_size;
    return true;
}

/* The number of symbols in a table; the GNU hash table has it only as the end of the last chain. */
static uint32_t count_symbols(const struct vt_elf_tables *t) {
    if (t->hash)
        return t->hash[1];
    if (!t->gnu_hash)
        return 0;
    const uint32_t *h = t->gnu_hash;
    const uint32_t *buckets = (const uint32_t *)((const ElfW(Addr) *)(h + 4) + h[2]);
    const uint32_t *chains = buckets + h[0];
    uint32_t last = 0;
    for (uint32_t b = 0; b < h[0]; b++)
        if (buckets[b] > last)
            last = buckets[b];
    if (last < h[1])
        return h[1];
    while (!(chains[last - h[1]] & 1))
        last++;
    return last + 1;
}

bool vt_elf_functions(const struct vt_elf *object, const char *const prefixes[2],
                      struct vt_range *out) {
    struct vt_elf_tables t;
    *out = (struct vt_range){0, 0};
    vt_elf_read_tables(object, &t);
    for (uint32_t i = 1, n = t.symbols && t.strings ? count_symbols(&t) : 0; i < n; i++) {
        const ElfW(Sym) *s = &t.symbols[i];
        const char *name = t.strings + s->st_name;
        if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx == SHN_UNDEF ||
            !(begins_with(name, prefixes[0]) || begins_with(name, prefixes[1])))
            continue;
        uintptr_t start = object->bias + s->st_value;
        widen(out, start, start + s->st_size);
    }
    return out->end != 0;
}

bool vt_elf_names_address(const struct vt_elf *object, const void *address) {
    struct vt_elf_tables t;
    vt_elf_read_tables(object, &t);
    if (!t.symbols)
        return false;
    uintptr_t offset = (uintptr_t)address - object->bias;
    for (uint32_t i = 1, n = count_symbols(&t); i < n; i++)
        if (t.symbols[i].st_shndx != SHN_UNDEF && t.symbols[i].st_value == offset)
            return true;
    return false;
}
