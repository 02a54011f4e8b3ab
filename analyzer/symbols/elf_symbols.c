/* SPDX-License-Identifier: MIT */
/*
 * The symbols of a module by address (see dwarf.h). libdw joins the tables: .symtab, or .dynsym with the compressed
 * .gnu_debugdata, or those of a separate debug file.
 */
#include "dwarf.h"

#include <stdlib.h>

/* A range's number. Among names of one address the global one has priority, then the weak one, then the first in the
 * table. */
#define RANK_SHIFT  30
#define INDEX_MOST  ((1u << RANK_SHIFT) - 1)
#define INDEX_OF(n) (int)(INDEX_MOST - ((n)&INDEX_MOST))

static uint32_t number_of(const GElf_Sym *sym, int index) {
    unsigned bind = GELF_ST_BIND(sym->st_info);
    uint32_t rank = bind == STB_LOCAL ? 0 : bind == STB_WEAK ? 1 : 2;
    return rank << RANK_SHIFT | (INDEX_MOST - (uint32_t)index);
}

struct label {
    GElf_Addr start, end; /* end: of its section */
    uint32_t number;
};

struct labels {
    struct label *list;
    size_t count, room;
};

static bool is_a_place(const char *name, const GElf_Sym *sym, GElf_Word section) {
    unsigned type = GELF_ST_TYPE(sym->st_info);
    /* On AArch64, labels that begin with $ mark where code and data begin. */
    return name && name[0] && (name[0] != '$' || type != STT_NOTYPE) && section != SHN_UNDEF &&
           type != STT_SECTION && type != STT_FILE && type != STT_TLS;
}

static void add_label(struct labels *labels, GElf_Addr start, uint32_t number, Elf *elf,
                      GElf_Word section, Dwarf_Addr bias) {
    GElf_Shdr header;
    Elf_Scn *scn = elf && section < SHN_LORESERVE ? elf_getscn(elf, section) : NULL;
    if (!scn || !gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_EXECINSTR))
        return; /* __bss_start and the like are not the start of a named object */
    *VT_ADD(labels->list, labels->count, labels->room) =
        (struct label){start, header.sh_addr + header.sh_size + bias, number};
}

/* Labels within a symbol that has a size are ignored. */
static void add_labels(struct vt_ranges *ranges, struct labels *labels) {
    struct vt_ranges starts = {0};
    size_t kept = 0;
    for (size_t i = 0; i < labels->count; i++) {
        if (vt_ranges_at(ranges, labels->list[i].start) != VT_NO_RANGE)
            continue;
        labels->list[kept++] = labels->list[i];
        vt_ranges_add(&starts, labels->list[i].start, labels->list[i].start + 1, 0);
    }
    vt_ranges_sort(&starts);
    for (size_t i = 0; i < kept; i++) {
        struct label *l = &labels->list[i];
        GElf_Addr label = vt_ranges_next(&starts, l->start),
                  sized = vt_ranges_next(ranges, l->start);
        l->end = l->end < label ? l->end : label;
        l->end = l->end < sized ? l->end : sized;
    }
    for (size_t i = 0; i < kept; i++)
        vt_ranges_add(ranges, labels->list[i].start, labels->list[i].end, labels->list[i].number);
    vt_ranges_free(&starts);
    vt_ranges_sort(ranges);
}

static void read_symbols(struct vt_ranges *ranges, Dwfl_Module *module) {
    struct labels labels = {0};
    int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count && (uint32_t)i < INDEX_MOST; i++) {
        GElf_Sym sym;
        GElf_Addr at;
        GElf_Word section;
        Elf *elf;
        Dwarf_Addr bias;
        const char *name = dwfl_module_getsym_info(module, i, &sym, &at, &section, &elf, &bias);
        if (!is_a_place(name, &sym, section))
            continue;
        if (sym.st_size)
            vt_ranges_add(ranges, at, at + sym.st_size, number_of(&sym, i));
        else
            add_label(&labels, at, number_of(&sym, i), elf, section, bias);
    }
    vt_ranges_sort(ranges);
    add_labels(ranges, &labels);
    free(labels.list);
}

const char *vt_elf_symbols_at(struct vt_elf_symbols *s, Dwfl_Module *module, GElf_Addr address,
                              GElf_Sym *sym, GElf_Off *offset) {
    if (!s->read) {
        s->read = true;
        read_symbols(&s->ranges, module);
    }
    uint32_t number = vt_ranges_at(&s->ranges, address);
    GElf_Addr at;
    if (number == VT_NO_RANGE)
        return NULL;
    const char *name =
        dwfl_module_getsym_info(module, INDEX_OF(number), sym, &at, NULL, NULL, NULL);
    *offset = address - at;
    return name;
}

void vt_elf_symbols_free(struct vt_elf_symbols *s) {
    vt_ranges_free(&s->ranges);
}
