/* SPDX-License-Identifier: MIT */
/*
 * What `vramtrace run` must know of a program file before it starts it. Reads the file and nothing
 * else. For run_program.c and run_preload.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_ELF_H
#define VRAMTRACE_ANALYZER_RUN_ELF_H

#include "base/base.h"

/* Whether the kernel would start it, and the loader preload into it. */
struct vt_run_elf {
    bool is_elf;      /* has the magic; the rest is unset where it has not */
    bool native;      /* class, byte order and machine are this program's own */
    bool whole;       /* headers could be read; the rest is unset where they could not */
    bool interpreted; /* names a loader (PT_INTERP) */
    bool has_soname;  /* names itself: a library, or the loader itself */
    char loader[256]; /* "" where none */
    char machine[64]; /* "64-bit x86-64", for messages */
};

/* Reads the file's ELF headers. Never fails: what cannot be read is not there. */
void vt_run_elf_read(int fd, struct vt_run_elf *elf);

/* This program's own "64-bit x86-64". Returns `out`. */
char *vt_run_elf_own_machine(char out[64]);

/* Whether the file holds these bytes; `length` up to 4096. */
bool vt_run_elf_contains(int fd, const void *bytes, size_t length);

/* Whether the file carries NVIDIA's CUDA runtime inside itself (libcudart_static.a). */
bool vt_run_elf_has_static_runtime(int fd);

#endif
