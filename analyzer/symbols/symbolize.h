/* SPDX-License-Identifier: MIT */
/*
 * Functions, lines and variables at addresses, from the modules' files; and properties of the words in
 * a variable, from its type.
 *
 * Invariants: no name is better than a wrong name, so a file that changed since the run gives none. Uses elfutils,
 * which finds separate debug files by build id, and through debuginfod if the user set DEBUGINFOD_URLS. Answers are
 * cached. Names live as long as the symbolizer.
 *
 *     symbolize.c    an address in a module -> functions, files and lines, with inlined calls; a variable
 *     native_root.c  the variable or the function in which a path to memory begins
 *     scopes.c, variables.c, elf_symbols.c    a module's functions, variables and symbols by address
 *     left_over.c, weak.c, slots.c  properties of a variable's words, from its type
 *     demangle.c, ranges.c                    names as their authors wrote them; nested ranges
 *     recorded.c                              the answers in a pack
 */
#ifndef VRAMTRACE_ANALYZER_SYMBOLIZE_H
#define VRAMTRACE_ANALYZER_SYMBOLIZE_H

#include "logfile/logfile.h"
#include "model/model.h"

struct vt_symbols;

/* One function at an address. Its strings live as long as the symbolizer. */
struct vt_symbol {
    const char *function; /* demangled; NULL: unknown */
    const char *file;     /* from the debug information, made absolute; NULL: unknown */
    uint32_t line;        /* 0: unknown */
};

enum vt_symbols_state {
    VT_SYMBOLS_FOUND,   /* the module's file is the one that was loaded */
    VT_SYMBOLS_MISSING, /* it no longer exists, or cannot be read */
    VT_SYMBOLS_CHANGED, /* its build id differs, so it gives no names */
};

/* `answers` records the answers, or replays them without reading any file; NULL: neither. It must
 * outlive the symbolizer. Never NULL; free with vt_symbols_close. */
struct vt_symbols *vt_symbols_open(struct vt_answers *answers);
void vt_symbols_close(struct vt_symbols *symbols);

/* Looks up `address`, without the load address, in the module at `path` with `build_id` (hex; "": unknown). Points
 * `found` at the functions there, innermost (most inlined) first, and returns their number; 0: unknown. They live as
 * long as the symbolizer. */
uint32_t vt_symbols_at(struct vt_symbols *symbols, const char *path, const char *build_id,
                       uint64_t address, const struct vt_symbol **found);

/* The function of a frame. If some are inlined, the outermost outside the C++ library, since the frame may hold
 * variables of any of them. */
bool vt_symbols_frame(struct vt_symbols *symbols, const char *path, const char *build_id,
                      uint64_t address, struct vt_symbol *found);

/* Whether a std::weak_ptr is in a variable, or in an object that it leads to. */
enum vt_weak {
    VT_WEAK_UNKNOWN,
    VT_WEAK_MAYBE,
    VT_WEAK_NONE, /* none, by the type */
    VT_WEAK_ONLY, /* one, and no shared_ptr before it */
};

/* A variable of C or C++. The texts live as long as the symbolizer. */
struct vt_variable_symbol {
    const char *name, *file; /* NULL: unknown */
    uint32_t line;           /* line of its definition; 0: unknown */
    uint64_t address;        /* address of its first byte */
    bool hidden;             /* not visible in other files */
    bool weak;               /* a std::weak_ptr, which keeps nothing */
    bool stale;              /* by the type, the word is no reference */
    bool may_be_unused;      /* the path goes through an array's slot that may be unused */
    enum vt_weak leads_to;   /* if asked for */
};

/* A slot of a C or C++ array of fixed length. */
struct vt_slot {
    uint64_t array;    /* the same for all slots of one array */
    uint64_t capacity; /* number of slots, nested arrays included */
    uint64_t index;
    uint32_t words; /* words on the path, the variable's included */
};

/* Looks up the variable at or around `address`; for a thread-local variable, the address of its initial value, in
 * the module. `asks`: the questions about its references. `around`: the memory around the word, or NULL. False:
 * none. */
bool vt_symbols_variable(struct vt_symbols *symbols, const char *path, const char *build_id,
                         uint64_t address, bool is_thread_local, bool asks,
                         const struct vt_log_around *around, struct vt_variable_symbol *found);

/* The slot on a path from the word at `address`, with the memory `around` its words. False: unknown. */
bool vt_symbols_slot(struct vt_symbols *symbols, const char *path, const char *build_id,
                     uint64_t address, bool is_thread_local, const struct vt_log_around *around,
                     struct vt_slot *slot);

/* A class's name as in C++ source, demangled if necessary. Free it. */
char *vt_class_text(const char *name);

/* The class without its module and namespaces: "DeviceNDArray". Free it. */
char *vt_class_short(const char *type);

/* Whether the module's file can be used. */
enum vt_symbols_state vt_symbols_state(struct vt_symbols *symbols, const char *path,
                                       const char *build_id);

/* --- native_root.c --- */

/* Fills in a step's root (enum vt_step: GLOBAL, THREAD_LOCAL, NATIVE_STACK), whose module is found by another
 * address inside it. The texts live as long as the log and the symbolizer. */
void vt_native_root_fill(const struct vt_log *log, struct vt_symbols *symbols, unsigned kind,
                         uint64_t address, uint64_t inside_module, struct vt_root *root);

/* Finds the variable in which a step's path begins, and its address in the process. False:
 * unknown. */
bool vt_native_root_variable(const struct vt_log *log, struct vt_symbols *symbols,
                             const struct vt_log_step *step, uint64_t *address,
                             struct vt_variable_symbol *variable);

/* The slot of an array on a step's path. False: none, or unknown. */
bool vt_native_root_slot(const struct vt_log *log, struct vt_symbols *symbols,
                         const struct vt_log_step *step, struct vt_slot *slot);

#endif
