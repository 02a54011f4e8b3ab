/* SPDX-License-Identifier: MIT */
/*
 * The symbolizer: a place in a module's file -> functions, files and lines, inlined calls taken
 * apart. elfutils does the work, with separate debug files by build id, and debuginfod where the
 * user set DEBUGINFOD_URLS. Answers are remembered.
 */
#ifndef VRAMTRACE_ANALYZER_SYMBOLIZE_H
#define VRAMTRACE_ANALYZER_SYMBOLIZE_H

#include "base/base.h"

struct vt_symbols;

/* One function at one place. Strings live as long as the symbolizer. */
struct vt_symbol {
    const char *function; /* demangled; NULL: unknown */
    const char *file;     /* as the compiler had it, made absolute; NULL: unknown */
    uint32_t line;        /* 0: unknown */
};

enum vt_symbols_state {
    VT_SYMBOLS_FOUND,   /* the module's file is the one that was loaded */
    VT_SYMBOLS_MISSING, /* it is not there any more, or cannot be read */
    VT_SYMBOLS_CHANGED, /* it is there with another build id: changed since, so no names are given
                         */
};

/* Never NULL; free with vt_symbols_close. */
struct vt_symbols *vt_symbols_open(void);
void vt_symbols_close(struct vt_symbols *symbols);

/* What is at `address`, in the file's own terms, of the module at `path` with `build_id` (hex, "":
 * unknown). Points `found` at the functions there, innermost (most inlined) first, and returns how
 * many; 0: nothing known. */
uint32_t vt_symbols_at(struct vt_symbols *symbols, const char *path, const char *build_id,
                       uint64_t address, const struct vt_symbol **found);

/* The file's state, as vt_symbols_at would find it. */
enum vt_symbols_state vt_symbols_state(struct vt_symbols *symbols, const char *path,
                                       const char *build_id);

#endif
