/* SPDX-License-Identifier: MIT */
/*
 * Public header of pyobjects/: reads Python objects. Its parts, in their order:
 *
 *   layout.h   offsets of fields that never moved
 *   text.c     strings, type names, keys as Python shows them; reports edges
 *   dict.c     dicts, and instances' attributes, also those stored without a dict
 *   frame.c    objects with named variables: functions, frames, generators, tracebacks
 *   buffer.c   ctypes, NumPy and array.array: memory that may contain addresses
 *   limits.c   containers' maximum number of entries
 *   objects.c  all other objects, and the reader of each type
 *   cycles.c   objects that only hold each other
 *   roots.c    modules, frames of threads, exceptions
 *
 * Invariants: those of owners/. Readers read only through vt_owners_read, so a wrong pointer only ends a branch. They
 * report only strong references of live objects.
 */
#ifndef VT_PRELOAD_PYOBJECTS_H
#define VT_PRELOAD_PYOBJECTS_H

#include "layout.h"
#include "owners/reader.h"
#include "stack/stack.h"

/* Which reader reads a type's objects; vt_owners_type.reader. */
enum vt_pyreader {
    VT_PYREAD_PLAIN = 0, /* only slots and a dict, which any object may have */
    VT_PYREAD_NOTHING,
    VT_PYREAD_NUMBER,
    VT_PYREAD_MODULE, /* not followed if it was imported */
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
    VT_PYREAD_FIELDS, /* only references at fixed offsets */
    VT_PYREAD_TEE,
    VT_PYREAD_VARIABLE, /* context variables, and the trees in which contexts store their values */
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
    VT_PYSPARE_MEMBERS,  /* 1: the type or a base has members that refer to objects */
    VT_PYSPARE_REGISTRY, /* 1: an allocator's registry, whose dicts of live objects are not owners */
    /* for a type found by name: its row (VT_PYREAD_FIELDS), or the known type's size in bytes */
    VT_PYSPARE_KNOWN,
    VT_PYSPARE_QUEUE /* enum vt_pyqueue */
};

/* Queues of the standard library that can have a maximum size. */
enum vt_pyqueue { VT_PYQUEUE_NONE, VT_PYQUEUE_THREADS, VT_PYQUEUE_ASYNC };

/* --- for the walk --- */

/* Fills in a new type. Called once per type. */
void vt_py_type(struct vt_owners *w, struct vt_owners_type *type);
void vt_py_read(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type);
/* The value of an object whose type has `number`; 0: none. Its reader reports it as VT_AS_NUMBER. */
uint64_t vt_py_number(struct vt_owners *w, uintptr_t object);
/* Reports the roots of the current level with their edges. */
void vt_py_roots(struct vt_owners *w);
/* Whether the type's tp_name is `name`. */
bool vt_py_type_is(struct vt_owners *w, uintptr_t type, const char *name);
/* A type's name, such as "collections.deque"; the module is omitted if it is builtins. Returns its length, at most
 * `room`; 0: not readable. */
uint32_t vt_py_type_name(struct vt_owners *w, uintptr_t type, char *to, uint32_t room);

/* --- inside pyobjects/ --- */

/* The interpreter's layout, set before any reader is called; NULL: unknown. */
extern const struct vt_pylayout *vt_py;

/* If set, readers report no edges, but pass to this function each object to which the object being read refers
 * directly: an instance's dict, for example, but not the dict's contents. */
typedef void vt_pyraw(struct vt_owners *w, uintptr_t to);
extern vt_pyraw *vt_py_raw;

/* Prefetches objects that will be read soon: every `stride`th of these words. */
static inline void vt_py_expect(const uint64_t *objects, uint64_t count, unsigned stride) {
    for (uint64_t i = 0; i < count; i++)
        __builtin_prefetch((const void *)objects[i * stride]);
}

static inline int32_t vt_owners_int(struct vt_owners *w, uintptr_t from) {
    int32_t v;
    return vt_owners_read(w, &v, from, sizeof v) ? v : 0;
}

/* --- text.c --- */

/* A str as UTF-8, cut between characters. Returns its length; 0: empty, or not a str. */
uint32_t vt_py_str(struct vt_owners *w, uintptr_t str, char *to, uint32_t room);
/* A C string, terminated, and cut at `room` - 1 bytes or at the first unreadable byte. Returns its length. */
uint32_t vt_py_string(struct vt_owners *w, uintptr_t from, char *to, uint32_t room);
/* Whether a str is this ASCII text. */
bool vt_py_is(struct vt_owners *w, uintptr_t str, const char *text);
/* A type's name as its own program writes it, without "__main__.". */
struct vt_owners_text vt_py_class(struct vt_owners *w, uintptr_t type, char *to, uint32_t room);

/* Reports an edge. Edges to objects that hold nothing are skipped. */
void vt_py_edge(struct vt_owners *w, enum vt_step kind, struct vt_owners_text name, uintptr_t to);
/* The same without a step, because the target is a part of the object. */
void vt_py_part(struct vt_owners *w, uintptr_t to);
/* An edge without a name. `apart`: the target, a dict's key, does not inherit the dict's roles. */
void vt_py_item(struct vt_owners *w, uintptr_t to, bool apart);
/* The same; the name is a Python str. */
void vt_py_edge_str(struct vt_owners *w, enum vt_step kind, uintptr_t name, uintptr_t to);
/* The same; the name is an index. */
void vt_py_edge_at(struct vt_owners *w, enum vt_step kind, int64_t index, uintptr_t to);
/* The same; the name is a dict's key as Python shows it. Key 0: one of many. */
void vt_py_edge_key(struct vt_owners *w, uintptr_t key, uintptr_t to);

/* --- dict.c --- */

typedef void vt_pyvisit(struct vt_owners *w, uintptr_t key, uintptr_t value, void *data);
void vt_py_each(struct vt_owners *w, uintptr_t dict, vt_pyvisit *visit, void *data);
/* The value of a str key; 0: none. */
uintptr_t vt_py_look_up(struct vt_owners *w, uintptr_t dict, const char *key);
/* Reports edges of one kind, named by the dict's str keys. */
void vt_py_names(struct vt_owners *w, uintptr_t dict, enum vt_step kind);
/* Reports KEY edges. */
void vt_py_keys(struct vt_owners *w, uintptr_t dict);
/* Reports the attributes of an instance: in its dict, in inline values and in slots. */
void vt_py_attributes(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type);
/* The value of such an attribute, unless it is in a slot; 0: none. */
uintptr_t vt_py_attribute(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type,
                          const char *name);
/* Excluded registries list all live objects, so they are not reported as owners. */
void vt_py_exclude(uintptr_t registry);
bool vt_py_is_excluded(uintptr_t object);
/* Call at the start of a walk: the last walk may have died at any instruction, in a child that shared our memory. */
void vt_py_forget_excluded(void);
void vt_py_forget_cycles(void); /* cycles.c */
/* Whether a type or one of its bases has members that refer to objects. */
bool vt_py_has_members(struct vt_owners *w, uintptr_t type);

/* --- frame.c --- */

/* The position of a frame in its code. */
struct vt_pyposition {
    uintptr_t code;
    uint32_t line;
    char name[VT_OWNERS_TEXT_MOST + 1], file[VT_OWNERS_TEXT_MOST + 1];
};
/* Fills in `place`. False: not a frame of Python code. */
bool vt_py_position(struct vt_owners *w, uintptr_t frame, struct vt_pyposition *place);
/* Reports a frame's local variables and evaluation stack. `frame`: a frame object up to 3.10, an interpreter frame from
 * 3.11 on. */
void vt_py_frame(struct vt_owners *w, uintptr_t frame);
void vt_py_frame_names(struct vt_owners *w, uintptr_t frame); /* only the variables */
void vt_py_frame_stack(struct vt_owners *w, uintptr_t frame); /* only the evaluation stack */
uintptr_t vt_py_frame_in(struct vt_owners *w, uintptr_t object);
void vt_py_traceback(struct vt_owners *w, uintptr_t traceback);
void vt_py_generator(struct vt_owners *w, uintptr_t generator);
void vt_py_function(struct vt_owners *w, uintptr_t function);
/* The value of a function's free variable; 0: none, or not a function. */
uintptr_t vt_py_free_variable(struct vt_owners *w, uintptr_t function, const char *name);

/* --- limits.c --- */

/* Reports a container's maximum number of entries, if it has one. */
void vt_py_limit(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type);

/* --- cycles.c --- */

/* Reports cycles of an interpreter's objects as roots. Call only after all other levels were walked. */
void vt_py_cycles(struct vt_owners *w, uintptr_t interpreter);

/* --- buffer.c --- */

void vt_py_ctypes(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type);
void vt_py_numpy(struct vt_owners *w, uintptr_t array);
void vt_py_array(struct vt_owners *w, uintptr_t array);

#endif
