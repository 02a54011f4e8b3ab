/* SPDX-License-Identifier: MIT */
/*
 * Symbols by address, against dwfl_module_addrinfo, which reads all of them for each address: in the
 * libraries of this process, at the ends of each symbol and between them.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbols/dwarf.h"

#include <dlfcn.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ADDRESSES = 300 };

struct compared {
    unsigned modules, names, wrong;
};

/* Whether a symbol stands in code, and the address in its section. Elsewhere labels are the linker's: _end, _etext, __bss_start. */
static bool is_code(Dwfl_Module *module, const GElf_Sym *sym, GElf_Addr at) {
    GElf_Addr bias;
    GElf_Shdr header;
    Elf_Scn *scn = elf_getscn(dwfl_module_getelf(module, &bias), sym->st_shndx);
    return scn && gelf_getshdr(scn, &header) && header.sh_flags & SHF_EXECINSTR &&
           at < header.sh_addr + header.sh_size;
}

static void compare(struct vt_elf_symbols *s, Dwfl_Module *module, GElf_Addr at,
                    struct compared *c) {
    GElf_Off offset, expected_offset;
    GElf_Sym sym, expected_sym;
    const char *name = vt_elf_symbols_at(s, module, at, &sym, &offset);
    const char *expected =
        dwfl_module_addrinfo(module, at, &expected_offset, &expected_sym, NULL, NULL, NULL);
    if (expected && !expected_sym.st_size && !is_code(module, &expected_sym, at))
        return;
    /* AArch64's marks of where code and data begin name nothing */
    if (expected && *expected == '$')
        return;
    c->names += expected != NULL;
    /* a local symbol in a global one is the better answer: libdw looks at it only where that is all */
    if (!expected == !name &&
        (!name || !strcmp(name, expected) ||
         (offset <= expected_offset && offset < sym.st_size && sym.st_size < expected_sym.st_size)))
        return;
    if (!c->wrong++)
        fprintf(stderr, "%#lx: expected %s+%#lx, found %s+%#lx\n", (unsigned long)at,
                expected ? expected : "nothing", (unsigned long)expected_offset,
                name ? name : "nothing", (unsigned long)offset);
}

static void compare_module(const char *path, struct compared *c) {
    static char *debug_path;
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &debug_path,
    };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Dwfl *dwfl = dwfl_begin(&callbacks);
    assert_non_null(dwfl);
    Dwfl_Module *module = fd < 0 ? NULL : dwfl_report_elf(dwfl, path, path, fd, 0, true);
    assert_int_equal(0, dwfl_report_end(dwfl, NULL, NULL));
    int count = module ? dwfl_module_getsymtab(module) : 0;
    struct vt_elf_symbols s = {0};
    GElf_Addr low, high;
    if (count > 1)
        dwfl_module_info(module, NULL, &low, &high, NULL, NULL, NULL, NULL);
    for (unsigned i = 0; count > 1 && i < ADDRESSES; i++) {
        GElf_Sym sym;
        GElf_Addr at = low + (GElf_Addr)((double)rand() / RAND_MAX * (double)(high - low)), start;
        compare(&s, module, at, c);
        if (!dwfl_module_getsym_info(module, 1 + rand() % (count - 1), &sym, &start, NULL, NULL,
                                     NULL) ||
            GELF_ST_TYPE(sym.st_info) == STT_TLS)
            continue;
        compare(&s, module, start, c);
        compare(&s, module, start - 1, c);
        compare(&s, module, start + sym.st_size, c);
        compare(&s, module, start + sym.st_size - 1, c);
    }
    c->modules += count > 1;
    vt_elf_symbols_free(&s);
    dwfl_end(dwfl);
}

static int each(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    compare_module(info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe", data);
    return 0;
}

static void as_libdw_says(void **state) {
    struct compared c = {0};
    (void)state;
    srand(1);
    dl_iterate_phdr(each, &c);
    assert_in_range(c.modules, 3, 1000);
    assert_in_range(c.names, 1000, UINT32_MAX);
    assert_int_equal(0, c.wrong);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_libdw_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
