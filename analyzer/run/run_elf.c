/* SPDX-License-Identifier: MIT */
/*
 * ELF headers of program files (see run_elf.h). All reads are bounded, because any file may be given.
 */
#define _GNU_SOURCE
#include "run_elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define HEADERS_MAX 512   /* program headers to read: max; real programs have a dozen */
#define DYNAMIC_MAX 65536 /* bytes of the dynamic section to read: max */

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258 /* missing in glibc before 2.36 */
#endif

/* Reads exactly `size` bytes at `offset`; false: failed. */
static bool read_at(int fd, void *to, size_t size, uint64_t offset) {
    return vt_file_read_at(fd, to, size, offset) == (ssize_t)size;
}

static void name_machine(unsigned bits, unsigned machine, char out[64]) {
    static const struct {
        unsigned machine;
        const char *name;
    } known[] = {{EM_X86_64, "x86-64"}, {EM_386, "Intel 386"}, {EM_AARCH64, "AArch64"},
                 {EM_ARM, "ARM"},       {EM_PPC64, "PowerPC"}, {EM_RISCV, "RISC-V"},
                 {EM_S390, "S/390"},    {EM_MIPS, "MIPS"},     {EM_LOONGARCH, "LoongArch"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].machine == machine) {
            snprintf(out, 64, "%u-bit %s", bits, known[i].name);
            return;
        }
    }
    snprintf(out, 64, "%u-bit machine number %u", bits, machine);
}

static void read_dynamic(int fd, const Elf64_Phdr *segment, struct vt_run_elf *elf) {
    size_t bytes = segment->p_filesz < DYNAMIC_MAX ? (size_t)segment->p_filesz : DYNAMIC_MAX;
    size_t count = bytes / sizeof(Elf64_Dyn);
    VT_SCOPED Elf64_Dyn *entries = vt_alloc(count + 1, sizeof *entries);
    if (read_at(fd, entries, count * sizeof *entries, segment->p_offset))
        for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++)
            elf->has_soname |= entries[i].d_tag == DT_SONAME;
}

void vt_run_elf_read(int fd, struct vt_run_elf *elf) {
    Elf64_Ehdr header;
    *elf = (struct vt_run_elf){0};
    if (!read_at(fd, &header, EI_NIDENT + 4, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG))
        return;
    elf->is_elf = true;
    unsigned machine = header.e_machine;
    if (header.e_ident[EI_DATA] != ELFDATA2LSB)
        machine = __builtin_bswap16(header.e_machine);
    name_machine(header.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64, machine, elf->machine);
    elf->native = header.e_ident[EI_CLASS] == ELFCLASS64 &&
                  header.e_ident[EI_DATA] == ELFDATA2LSB && machine == VT_RUN_MACHINE;
    if (!elf->native || !read_at(fd, &header, sizeof header, 0) ||
        header.e_phentsize != sizeof(Elf64_Phdr) || !header.e_phnum)
        return;
    elf->whole = true;
    for (unsigned i = 0; i < header.e_phnum && i < HEADERS_MAX; i++) {
        Elf64_Phdr segment;
        if (!read_at(fd, &segment, sizeof segment, header.e_phoff + i * sizeof segment)) {
            elf->whole = false;
            return;
        }
        if (segment.p_type == PT_INTERP) {
            elf->interpreted = true;
            size_t length = segment.p_filesz;
            if (length >= sizeof elf->loader || !read_at(fd, elf->loader, length, segment.p_offset))
                elf->loader[0] = 0;
        } else if (segment.p_type == PT_DYNAMIC) {
            read_dynamic(fd, &segment, elf);
        }
    }
}

bool vt_run_elf_contains(int fd, const void *bytes, size_t length) {
    enum { BLOCK = 1 << 20 };
    VT_SCOPED char *block = vt_alloc(BLOCK, 1);
    uint64_t at = 0;
    ssize_t got;
    while ((got = vt_file_read_at(fd, block, BLOCK, at)) >= (ssize_t)length) {
        if (memmem(block, (size_t)got, bytes, length))
            return true;
        at += (size_t)got - (length - 1); /* a match may begin at the end of a block */
    }
    return false;
}

/*
 * Looks for strings of the runtime, because a stripped program has no symbols. Every version since CUDA 11.3 contains
 * them, and no optimization removes them. All four must be there: a program that opens the driver itself may have the
 * first two; a program that prints the runtime's errors may have the others. They are split here so that this program
 * does not contain them.
 */
bool vt_run_elf_has_static_runtime(int fd) {
    static const char *const marks[][2] = {
        {"CUDA driver version is insuff", "icient for CUDA runtime version"},
        {"cudaErrorInsuff", "icientDriver"},
        {"cuGetProc", "Address"},
        {"libcuda", ".so.1"},
    };
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        char mark[128];
        int length = snprintf(mark, sizeof mark, "%s%s", marks[i][0], marks[i][1]);
        if (!vt_run_elf_contains(fd, mark, (size_t)length + 1)) /* including NUL */
            return false;
    }
    return true;
}
