/* SPDX-License-Identifier: MIT */
/*
 * What a reader uses of the walk.
 *
 * A reader knows the layout of a kind of objects. It is asked for one object at a time, reads it
 * through the functions below, and names each of its edges. It must name an edge only if it is a
 * strong reference, and knows for certain what it is called; what is not laid out as its version
 * says ends there, without an edge. A wrong name is worse than none.
 */
#ifndef VT_PRELOAD_READER_H
#define VT_PRELOAD_READER_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct vt_owners; /* the walk */

/* Text that need not be terminated. It is copied before the function that it is given to returns. */
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

/* All of it, or false. Never faults. */
bool vt_owners_read(struct vt_owners *w, void *to, uintptr_t from, size_t bytes);
/* A word; 0 if it cannot be read. */
uint64_t vt_owners_word(struct vt_owners *w, uintptr_t from);
/* Whether memory does not change: what was read once stays so. */
bool vt_owners_stands_still(const struct vt_owners *w);
/* The snapshot's number. What a reader keeps of one is nothing to the next. */
uint32_t vt_owners_number(const struct vt_owners *w);

/* --- the roots, in the order in which they are walked --- */

/* Each level is walked to its end before the next begins, so the user's own name for an object wins
 * over a library's registry of it. */
enum vt_owners_level {
    VT_LEVEL_USER,      /* __main__, and frames of files that are not a library's */
    VT_LEVEL_OWN,       /* modules that are not a library's */
    VT_LEVEL_EXCEPTION, /* exceptions that are kept or in flight, and what their tracebacks hold */
    VT_LEVEL_NATIVE,    /* variables of C and C++ */
    VT_LEVEL_LIBRARY,   /* modules and frames under site-packages and of the standard library */
    VT_LEVEL_INTERPRETER, /* what only the interpreter itself holds */
    VT_LEVEL_CYCLE,       /* objects of the collector that nothing above led to */
    VT_LEVELS
};

struct vt_root {
    enum vt_owners_level level;
    enum vt_step kind;
    struct vt_owners_text name, type; /* as in enum vt_step */
    uint32_t line;
    uint64_t address;
    uintptr_t word; /* of a variable: where it lies; 0: not known, or none */
    uintptr_t last; /* the word that leads to the allocation, if it is in the heap; else 0 */
    uint32_t hop;   /* then: vt_owners.hops, which leads there */
    bool in_doubt;  /* VT_STEP_IN_DOUBT */
    bool many;      /* VT_STEP_MANY */
};

/* Begins a root: the edges that follow are its own, until the next one begins. The roots are asked
 * for once for each level. False: its level is not the one that is asked for, so skip its edges. */
bool vt_owners_root(struct vt_owners *w, const struct vt_root *root);
/* The level that is asked for. */
enum vt_owners_level vt_owners_level(const struct vt_owners *w);

/* --- edges --- */

/* What an edge leads to. */
enum vt_owners_as {
    VT_AS_PYTHON,  /* a Python object */
    VT_AS_CLASS,   /* an object of C++, whose reader is known by `class_` */
    VT_AS_ADDRESS, /* an address in a live allocation, held as memory is: a storage's data pointer */
    VT_AS_NUMBER, /* a number that may be the start of a live driver allocation: an integer. It owns
                    * one only if nothing else does, and never a framework's block */
};

struct vt_edge {
    /* Not a root's. VT_STEP_NONE: what it leads to is a part of the object that is read (a tensor's
     * storage), and no step of the path. */
    enum vt_step kind;
    enum vt_owners_as as;
    uintptr_t to;               /* 0: nothing, the edge is ignored */
    struct vt_owners_text name; /* as in enum vt_step; with `indexed`, none */
    /* INDEX, and KEY with a number for its key: the number is its name. Edges of one kind and one
     * type that differ in it alone are one step. */
    bool indexed;
    int64_t index;
    const struct vt_owners_type *type; /* VT_AS_PYTHON: the object's; NULL: it is looked up */
    uint16_t roles;                    /* enum vt_role: what this edge says of what it leads to */
    uint16_t class_; /* VT_AS_CLASS: class.h's number for how it is read, from 1 */
    /* Items of containers and parts have the roles of what they are in. This edge's have not: a
     * dict's key objects (which are ITEM edges), a tensor's gradient. */
    bool apart;
    /* Comes again and again on ways that do not go around: a module's dict of modules. */
    bool plain;
};

/* Names an edge of the object that is being read, or of the current root. */
void vt_owners_edge(struct vt_owners *w, const struct vt_edge *edge);

/* To be called before the KEY edges of a dict (or of something like it) that has this many keys: with
 * more than VT_OWNERS_KEYS, they are one step without a name. */
void vt_owners_keys(struct vt_owners *w, uint64_t count);
#define VT_OWNERS_KEYS 64u

/* Says of the object that is being read that it has so many entries, and takes at most `capacity`. */
void vt_owners_capacity(struct vt_owners *w, uint64_t entries, uint64_t capacity);

/* False: a bound is reached, so the reader should return. To be asked in long loops. */
bool vt_owners_goes_on(struct vt_owners *w);
/* Memory of the walk, zeroed; NULL: none left, and the walk stops. All of it is unmapped at the end. */
void *vt_owners_map(struct vt_owners *w, size_t bytes);
/* Something could not be read that should be readable; the snapshot is partial. */
void vt_owners_in_doubt(struct vt_owners *w);

/* --- types of Python --- */

/* What is known of a Python type. The walk keeps one for each address of a type. */
struct vt_owners_type {
    uintptr_t address;
    /* torch/: what it adds to the edges, and what its attributes say of roles; 0: nothing */
    uint8_t family;
    /* For pyobjects/ alone, from here on; all 0 at first. */
    bool leaf;   /* its objects hold nothing, and are never visited: str, module, ... */
    bool number; /* visited only if their vt_py_number() is the start of an allocation */
    uint8_t reader;
    uint32_t flags;
    int64_t dict_offset;
    int64_t basic_size, item_size;
    uint64_t spare[4];
};

/* Whether an object was reached already. */
bool vt_owners_seen(const struct vt_owners *w, uintptr_t object);
/* The type of a Python object, by its ob_type; NULL: it is none, or there is no memory. */
const struct vt_owners_type *vt_owners_type_of(struct vt_owners *w, uintptr_t object);
/* A type by its own address. */
const struct vt_owners_type *vt_owners_type_at(struct vt_owners *w, uintptr_t type);

#endif
