/* SPDX-License-Identifier: MIT */
/*
 * The interface between the walk and the readers of objects.
 *
 * A reader handles objects of some types. The walk calls it for one object at a time. The reader reads the object
 * through the functions below, and reports each of its edges, but only strong references whose names are certain. If
 * the object's layout is not the expected one, the reader stops there, without an edge: a wrong name is worse than
 * none.
 */
#ifndef VT_PRELOAD_READER_H
#define VT_PRELOAD_READER_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct vt_owners; /* the walk */

/* Text, not necessarily terminated. A called function copies it before it returns. */
struct vt_owners_text {
    const char *at;
    uint32_t bytes;
};
#define VT_OWNERS_LITERAL(text) ((struct vt_owners_text){(text), sizeof(text) - 1})
static inline struct vt_owners_text vt_owners_text_of(const char *text) {
    return (struct vt_owners_text){text, (uint32_t)strlen(text)};
}
#define VT_OWNERS_TEXT_MOST 255u /* longer text is cut */

/* --- reading: read.c --- */

/* Reads all `bytes`; false: not readable. Never faults. */
bool vt_owners_read(struct vt_owners *w, void *to, uintptr_t from, size_t bytes);
/* A word; 0 if it cannot be read. */
uint64_t vt_owners_word(struct vt_owners *w, uintptr_t from);
/* Whether memory stays unchanged during the walk. */
bool vt_owners_is_unchanging(const struct vt_owners *w);
/* The snapshot's number. Data cached by a reader is valid only for one snapshot. */
uint32_t vt_owners_number(const struct vt_owners *w);

/* --- the roots, in the order of the walk --- */

/* Each level is walked to its end before the next begins. So the user's own name for an object takes precedence over a
 * library's registry of it. */
enum vt_owners_level {
    VT_LEVEL_USER,        /* __main__, and frames of files outside libraries */
    VT_LEVEL_OWN,         /* modules outside libraries */
    VT_LEVEL_EXCEPTION,   /* exceptions that are stored or in flight, with their tracebacks */
    VT_LEVEL_NATIVE,      /* C and C++ variables */
    VT_LEVEL_LIBRARY,     /* modules and frames under site-packages and of the standard library */
    VT_LEVEL_INTERPRETER, /* references held only by the interpreter itself */
    VT_LEVEL_CYCLE,       /* objects of the garbage collector to which no earlier level led */
    VT_LEVELS
};

struct vt_root {
    enum vt_owners_level level;
    enum vt_step kind;
    struct vt_owners_text name, type; /* as in enum vt_step */
    uint32_t line;
    uint64_t address;
    uintptr_t word;     /* a variable's address; 0: unknown, or none */
    uintptr_t last;     /* the word in the heap that points to the allocation; 0: none */
    uint32_t reference; /* the reference to the block of `last`, in vt_owners.references */
    bool in_doubt;      /* VT_STEP_IN_DOUBT */
    bool many;          /* VT_STEP_MANY */
};

/* Begins a root: the edges that follow belong to it, until the next root begins. The readers report all roots once per
 * level. False: the root's level is not the current one; skip its edges. */
bool vt_owners_root(struct vt_owners *w, const struct vt_root *root);
enum vt_owners_level vt_owners_level(const struct vt_owners *w);

/* --- edges --- */

/* The target of an edge. */
enum vt_owners_as {
    VT_AS_PYTHON, /* a Python object */
    VT_AS_CLASS,  /* a C++ object, read by the reader of `class_` */
    /* an address in a live allocation, such as a storage's data pointer */
    VT_AS_ADDRESS,
    /* an integer that may be the start of a live driver allocation. It is the owner only if nothing else is, and never
     * of a framework's block */
    VT_AS_NUMBER,
};

struct vt_edge {
    /* Unused for a root. VT_STEP_NONE: the target is a part of the object being read (such as a tensor's storage),
     * without a step of its own. */
    enum vt_step kind;
    enum vt_owners_as as;
    uintptr_t to;               /* 0: the edge is ignored */
    struct vt_owners_text name; /* as in enum vt_step; unused with `indexed` */
    /* For INDEX, and KEY with a numeric key: `index` is the name. Edges of one kind and type that differ only in
     * `index` share a step. */
    bool indexed;
    int64_t index;
    const struct vt_owners_type *type; /* VT_AS_PYTHON: the object's type; NULL: to be looked up */
    /* enum vt_role: the roles that this edge gives to its target */
    uint16_t roles;
    uint16_t class_; /* VT_AS_CLASS: enum vt_class, from 1 */
    /* Items of containers, and parts, inherit their owner's roles; with `apart`, the target does not. For dict keys
     * (ITEM edges) and a tensor's gradient. */
    bool apart;
    /* May repeat on a path that is not cyclic, like a module's dict of modules. */
    bool plain;
};

/* Reports an edge of the object being read, or of the current root. */
void vt_owners_edge(struct vt_owners *w, const struct vt_edge *edge);

/* Call before the KEY edges of a dict (or a similar object) with this many keys. More than VT_OWNERS_KEYS become one
 * step without a name. */
void vt_owners_keys(struct vt_owners *w, uint64_t count);
#define VT_OWNERS_KEYS 64u

/* Reports that the object being read has this many entries, of at most `capacity`. */
void vt_owners_capacity(struct vt_owners *w, uint64_t entries, uint64_t capacity);

/* False: a limit is reached, so the reader should return. Call it in long loops. */
bool vt_owners_may_continue(struct vt_owners *w);
/* Zeroed memory, unmapped at the end of the walk. NULL: out of memory; the walk stops. */
void *vt_owners_map(struct vt_owners *w, size_t bytes);
/* Marks the snapshot as partial: something unreadable should have been readable. */
void vt_owners_in_doubt(struct vt_owners *w);

/* --- Python types --- */

/* Properties of a Python type. The walk keeps one per address. */
struct vt_owners_type {
    uintptr_t address;
    /* torch/: selects further edges, and the roles that attributes give; 0: none */
    uint8_t family;
    /* The rest belongs to pyobjects/; initially 0. */
    bool leaf;   /* its objects hold nothing, and are skipped: str, module, ... */
    bool number; /* visited only if vt_py_number() is the start of an allocation */
    uint8_t reader;
    uint32_t flags;
    int64_t dict_offset;
    int64_t basic_size, item_size;
    uint64_t spare[4];
};

bool vt_owners_is_reached(const struct vt_owners *w, uintptr_t object);
/* The type of a Python object; NULL: not an object, or out of memory. */
const struct vt_owners_type *vt_owners_type_of(struct vt_owners *w, uintptr_t object);
const struct vt_owners_type *vt_owners_type_at(struct vt_owners *w, uintptr_t type);

#endif
