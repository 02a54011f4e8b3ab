/* SPDX-License-Identifier: MIT */
/*
 * ELF headers of program files (see run_elf.h). All reads are bounded, because the file may be
 * anything.
 */
#define _GNU_SOURCE
#include "run_elf.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADERS_MAX 512   /* most program headers to read; real programs have a dozen */
#define DYNAMIC_MAX 65536 /* most bytes of the dynamic section to read */

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258 /* glibc before 2.36 does not name it */
#endif

/* Reads exactly `size` bytes at `offset`; false: it cannot. */
static bool read_at(int fd, void *to, size_t size, uint64_t offset) {
    return vt_file_read_at(fd, to, size, offset) == (ssize_t)size;
}

static char *name_machine(unsigned bits, unsigned machine, char out[64]) {
    static const struct {
        unsigned machine;
        const char *name;
    } known[] = {{EM_X86_64, "x86-64"}, {EM_386, "Intel 386"}, {EM_AARCH64, "AArch64"},
                 {EM_ARM, "ARM"},       {EM_PPC64, "PowerPC"}, {EM_RISCV, "RISC-V"},
                 {EM_S390, "S/390"},    {EM_MIPS, "MIPS"},     {EM_LOONGARCH, "LoongArch"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].machine == machine) {
            snprintf(out, 64, "%u-bit %s", bits, known[i].name);
            return out;
        }
    }
    snprintf(out, 64, "%u-bit machine number %u", bits, machine);
    return out;
}

/* This program's header in memory. */
static const ElfW(Ehdr) * own_header(void) {
    extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
    return &__ehdr_start;
}

char *vt_run_elf_own_machine(char out[64]) {
    const ElfW(Ehdr) *own = own_header();
    return name_machine(own->e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64, own->e_machine, out);
}

static void read_dynamic(int fd, const ElfW(Phdr) * segment, struct vt_run_elf *elf) {
    size_t bytes = segment->p_filesz < DYNAMIC_MAX ? (size_t)segment->p_filesz : DYNAMIC_MAX;
    size_t count = bytes / sizeof(ElfW(Dyn));
    ElfW(Dyn) *entries = vt_alloc(count + 1, sizeof *entries);
    if (read_at(fd, entries, count * sizeof *entries, segment->p_offset))
        for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++)
            elf->has_soname |= entries[i].d_tag == DT_SONAME;
    free(entries);
}

void vt_run_elf_read(int fd, struct vt_run_elf *elf) {
    ElfW(Ehdr) header;
    const ElfW(Ehdr) *own = own_header();
    *elf = (struct vt_run_elf){0};
    if (!read_at(fd, &header, EI_NIDENT + 4, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG))
        return;
    elf->is_elf = true;
    unsigned machine = header.e_machine;
    if (header.e_ident[EI_DATA] != own->e_ident[EI_DATA])
        machine = __builtin_bswap16(header.e_machine);
    name_machine(header.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64, machine, elf->machine);
    elf->native = header.e_ident[EI_CLASS] == own->e_ident[EI_CLASS] &&
                  header.e_ident[EI_DATA] == own->e_ident[EI_DATA] && machine == own->e_machine;
    if (!elf->native || !read_at(fd, &header, sizeof header, 0) ||
        header.e_phentsize != sizeof(ElfW(Phdr)) || !header.e_phnum)
        return;
    elf->whole = true;
    for (unsigned i = 0; i < header.e_phnum && i < HEADERS_MAX; i++) {
        ElfW(Phdr) segment;
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
    char *block = vt_alloc(BLOCK + 4096, 1);
    size_t kept = 0; /* the end of the last block, where a match may begin */
    bool found = false;
    for (off_t at = 0; !found;) {
        ssize_t got = pread(fd, block + kept, BLOCK, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        at += got;
        size_t have = kept + (size_t)got;
        found = memmem(block, have, bytes, length) != NULL;
        kept = have < length ? have : length - 1;
        memmove(block, block + have - kept, kept);
    }
    free(block);
    return found;
}

/*
 * Looks for strings of the runtime, because a stripped program has no symbols. Every version since
 * CUDA 11.3 contains them, and no optimization removes them. All four must be there: a program that
 * opens the driver itself may have the first two, one that prints the runtime's errors the others.
 * They are split here so that this program does not contain them.
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
