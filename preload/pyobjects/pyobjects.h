/* SPDX-License-Identifier: MIT */
/*
 * Public header of pyobjects/: what Python's objects hold. Its parts, in their order:
 *
 *   layout.h   where the fields are that never moved
 *   text.c     strings, names of types, keys as Python shows them; the edge itself
 *   dict.c     dicts, and attributes that instances keep without one
 *   frame.c    functions, frames, generators, tracebacks: what has named variables
 *   buffer.c   ctypes, NumPy and array.array: memory that may contain addresses
 *   limits.c   how many entries a container takes at most
 *   objects.c  the rest, and which reader a type has
 *   cycles.c   objects that only hold each other
 *   roots.c    modules, frames of threads, exceptions
 *
 * Invariants: that of owners/. All of them read through vt_owners_read, so a wrong pointer ends a branch and
 * nothing else. What they return or name is only ever what a live object holds by a strong reference.
 */
#ifndef VT_PRELOAD_PYOBJECTS_H
#define VT_PRELOAD_PYOBJECTS_H

#include "layout.h"
#include "owners/reader.h"
#include "stack/stack.h"

/* How a type's objects are read; vt_owners_type.reader. */
enum vt_pyreader {
    VT_PYREAD_PLAIN = 0, /* only what every object has: slots and a dict */
    VT_PYREAD_NOTHING,
    VT_PYREAD_NUMBER,
    VT_PYREAD_MODULE, /* a barrier, if it was imported */
    VT_PYREAD_DICT,
    VT_PYREAD_LIST,
    VT_PYREAD_TUPLE,
    VT_PYREAD_SET,
    VT_PYREAD_DEQUE,
    VT_PYREAD_CELL,
    VT_PYREAD_FUNCTION,
    VT_PYREAD_GENERATOR,
    VT_PYREAD_FRAME,
    VT_PYREAD_TRACEBACK,
    VT_PYREAD_EXCEPTION,
    VT_PYREAD_TYPE,
    VT_PYREAD_HOLDER, /* only of others, at places that have not moved */
    VT_PYREAD_TEE,
    VT_PYREAD_VARIABLE, /* of contexts, and the trees in which these have their values */
    VT_PYREAD_TREE,
    VT_PYREAD_TREE_NODE,
    VT_PYREAD_LRU,
    VT_PYREAD_LRU_LINK,
    VT_PYREAD_FUTURE,
    VT_PYREAD_TASK,
    VT_PYREAD_QUEUE,
    VT_PYREAD_LOCAL,
    VT_PYREAD_CTYPES,
    VT_PYREAD_NUMPY,
    VT_PYREAD_ARRAY,
    VT_PYREAD_PANDAS,
};

/* vt_owners_type.spare */
enum {
    VT_PYSPARE_MEMBERS, /* 1: it or a base has members that refer to objects */
    VT_PYSPARE_BOOKS,   /* 1: an allocator's books: dicts of what is live are no owners */
    VT_PYSPARE_KNOWN, /* by name: VT_PYREAD_HOLDER: its row; else the bytes of the type that is known */
    VT_PYSPARE_QUEUE /* enum vt_pyqueue */
};

/* Queues of the standard library that may have a largest size. */
enum vt_pyqueue { VT_PYQUEUE_NONE, VT_PYQUEUE_THREADS, VT_PYQUEUE_ASYNC };

/* --- for the walk --- */

/* Fills in a new type. Called once for each. */
void vt_py_type(struct vt_owners *w, struct vt_owners_type *type);
/* Names all edges of an object. */
void vt_py_read(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type);
/* The value of an object of a type with `number`; 0: none. Its reader emits it as VT_AS_NUMBER. */
uint64_t vt_py_number(struct vt_owners *w, uintptr_t object);
/* Names the roots of the current level with their edges. */
void vt_py_roots(struct vt_owners *w);
/* Whether a type's name, as it stands in the type, is this one. */
bool vt_py_type_is(struct vt_owners *w, uintptr_t type, const char *name);
/* A type's name, with its module if that is not builtins: "collections.deque". Returns its length, at
 * most `room`; 0: it cannot be read. */
uint32_t vt_py_type_name(struct vt_owners *w, uintptr_t type, char *to, uint32_t room);

/* --- for each other --- */

/* The interpreter's layout; set before any reader is called. NULL: not known. */
extern const struct vt_pylayout *vt_py;

/* If set, readers give it each object that the one they read refers to directly, and name no edges:
 * an instance's dict, and not what is in it. */
typedef void vt_pyraw(struct vt_owners *w, uintptr_t to);
extern vt_pyraw *vt_py_raw;

/* Asks the memory for objects that are looked at soon: every `stride`th of these words. */
static inline void vt_py_expect(const uint64_t *objects, uint64_t count, unsigned stride) {
    for (uint64_t i = 0; i < count; i++)
        __builtin_prefetch((const void *)objects[i * stride]);
}

static inline int32_t vt_owners_int(struct vt_owners *w, uintptr_t from) {
    int32_t v;
    return vt_owners_read(w, &v, from, sizeof v) ? v : 0;
}

/* --- text.c --- */

/* A str as UTF-8, cut between characters. Returns its length; 0: it is empty, or no str. */
uint32_t vt_py_str(struct vt_owners *w, uintptr_t str, char *to, uint32_t room);
/* A string of C, cut to `room` - 1 bytes or where it cannot be read, with a zero behind it. Returns its
 * length. */
uint32_t vt_py_string(struct vt_owners *w, uintptr_t from, char *to, uint32_t room);
/* Whether a str is this ASCII text. */
bool vt_py_is(struct vt_owners *w, uintptr_t str, const char *text);
/* A type's name as its own program says it: without "__main__." */
struct vt_owners_text vt_py_class(struct vt_owners *w, uintptr_t type, char *to, uint32_t room);

/* Names an edge. Objects that hold nothing are left out. */
void vt_py_edge(struct vt_owners *w, enum vt_step kind, struct vt_owners_text name, uintptr_t to);
/* The same, without a step of its own: what it leads to is a part of the object. */
void vt_py_part(struct vt_owners *w, uintptr_t to);
/* An edge without a name. `apart`: to a key of a dict, as what it holds is not what the dict is for. */
void vt_py_item(struct vt_owners *w, uintptr_t to, bool apart);
/* The same; the name is a str. */
void vt_py_edge_str(struct vt_owners *w, enum vt_step kind, uintptr_t name, uintptr_t to);
/* The same; the name is an index. */
void vt_py_edge_at(struct vt_owners *w, enum vt_step kind, int64_t index, uintptr_t to);
/* The same; the name is how Python shows the key of a dict. No key: one of many. */
void vt_py_edge_key(struct vt_owners *w, uintptr_t key, uintptr_t to);

/* --- dict.c --- */

typedef void vt_pyvisit(struct vt_owners *w, uintptr_t key, uintptr_t value, void *data);
/* Calls `visit` for each entry of a dict. */
void vt_py_each(struct vt_owners *w, uintptr_t dict, vt_pyvisit *visit, void *data);
/* The value of a str key; 0: none. */
uintptr_t vt_py_look_up(struct vt_owners *w, uintptr_t dict, const char *key);
/* Edges of one kind, named by the dict's str keys. */
void vt_py_names(struct vt_owners *w, uintptr_t dict, enum vt_step kind);
/* KEY edges. */
void vt_py_keys(struct vt_owners *w, uintptr_t dict);
/* What an instance keeps in its dict, in inline values and in slots. */
void vt_py_attributes(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type);
/* The value of one of these but slots; 0: none. */
uintptr_t vt_py_attribute(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type,
                          const char *name);
/* Books that were left out. They list what is live, so they are not said to hold it either. */
void vt_py_leave_out(uintptr_t book);
bool vt_py_is_left_out(uintptr_t object);
/* A new walk begins. The last one may have died at any instruction, in a child that shared our memory. */
void vt_py_forget_books(void);
void vt_py_forget_cycles(void); /* cycles.c */
/* Whether a type or a base of it has members that refer to objects. */
bool vt_py_has_members(struct vt_owners *w, uintptr_t type);

/* --- frame.c --- */

/* A place in a frame's code. */
struct vt_pyplace {
    uintptr_t code;
    uint32_t line;
    char name[VT_OWNERS_TEXT_MOST + 1], file[VT_OWNERS_TEXT_MOST + 1];
};
/* False: it is not a frame of Python code. */
bool vt_py_place(struct vt_owners *w, uintptr_t frame, struct vt_pyplace *place);
/* Edges of its local variables and of what it computes with. A frame object to 3.10, an
 * interpreter's frame from 3.11 on. */
void vt_py_frame(struct vt_owners *w, uintptr_t frame);
void vt_py_frame_names(struct vt_owners *w, uintptr_t frame); /* the variables alone */
void vt_py_frame_stack(struct vt_owners *w, uintptr_t frame); /* the rest */
/* The frame that is in a frame object. */
uintptr_t vt_py_frame_in(struct vt_owners *w, uintptr_t object);
void vt_py_traceback(struct vt_owners *w, uintptr_t traceback);
void vt_py_generator(struct vt_owners *w, uintptr_t generator);
void vt_py_function(struct vt_owners *w, uintptr_t function);
/* The value of a function's free variable; 0: it has none, or is no function. */
uintptr_t vt_py_closed(struct vt_owners *w, uintptr_t function, const char *name);

/* --- limits.c --- */

/* Says how many entries a container takes at most, if it does. */
void vt_py_limit(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type);

/* --- cycles.c --- */

/* Names the cycles of an interpreter's objects as roots, and at the next level what else nothing led
 * to. Not before all other levels are walked. */
void vt_py_cycles(struct vt_owners *w, uintptr_t interpreter);

/* --- buffer.c --- */

void vt_py_ctypes(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type);
void vt_py_numpy(struct vt_owners *w, uintptr_t array);
void vt_py_array(struct vt_owners *w, uintptr_t array);

#endif
