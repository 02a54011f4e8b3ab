/* SPDX-License-Identifier: MIT */
/*
 * Properties of a program file that `vramtrace run` needs before the start, read from the file alone. For run_program.c
 * and run_preload.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_ELF_H
#define VRAMTRACE_ANALYZER_RUN_ELF_H

#include "base/base.h"

#ifdef __aarch64__
#define VT_RUN_MACHINE      EM_AARCH64
#define VT_RUN_MACHINE_NAME "AArch64"
#else
#define VT_RUN_MACHINE      EM_X86_64
#define VT_RUN_MACHINE_NAME "x86-64"
#endif

/* Shows whether the kernel will start the program, and whether the loader will preload into it. */
struct vt_run_elf {
    bool is_elf;      /* has the magic; if not, the rest is unset */
    bool native;      /* for the same machine as the tracer's library */
    bool whole;       /* the headers could be read; if not, the rest is unset */
    bool interpreted; /* names a loader (PT_INTERP) */
    bool has_soname;  /* has a DT_SONAME: a library, or the loader */
    char loader[256]; /* "": none */
    char machine[64]; /* "64-bit x86-64", for messages */
};

/* Fills `elf` from the file's headers. Never fails: unreadable fields stay unset. */
void vt_run_elf_read(int fd, struct vt_run_elf *elf);

/* Whether the file contains these bytes; `length` up to 4096. */
bool vt_run_elf_contains(int fd, const void *bytes, size_t length);

/* Whether the CUDA runtime is linked into the file (libcudart_static.a). */
bool vt_run_elf_has_static_runtime(int fd);

#endif
