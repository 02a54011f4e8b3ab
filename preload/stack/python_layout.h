/* SPDX-License-Identifier: MIT */
/*
 * The interpreter that was found, and the offsets of its fields. Only for python*.c, and for the readers of Python's
 * objects (pyobjects/).
 */
#ifndef VT_PRELOAD_PYTHON_LAYOUT_H
#define VT_PRELOAD_PYTHON_LAYOUT_H

#include "base/mappings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a thread's frames are linked, which determines where a call of the interpreter's loop ends. */
enum vt_pychain {
    VT_CHAIN_OBJECTS, /* 3.8-3.10: frame objects, one per call of the loop */
    VT_CHAIN_ENTRY,   /* 3.11: frames; a call's last has is_entry; one _PyCFrame per call */
    VT_CHAIN_SHIM,    /* 3.12 on: frames; each call ends with a frame inside its C frame */
};

enum vt_pylines {
    VT_LINES_LNOTAB,    /* 3.8, 3.9: (address delta, signed line delta) */
    VT_LINES_RANGES,    /* 3.10: the same with ranges, -128 for no line */
    VT_LINES_LOCATIONS, /* 3.11 on: location table */
};

/* How an instance's attributes are found if its type has a managed dict (tp_flags). */
enum vt_pymanaged {
    VT_PYMANAGED_NONE,   /* 3.8-3.10 */
    VT_PYMANAGED_TWO,    /* 3.11: at -32 a pointer to values, at -24 the dict */
    VT_PYMANAGED_TAGGED, /* 3.12: at -24 the dict, or the address of the values minus one */
    VT_PYMANAGED_INLINE, /* 3.13 on: at -24 the dict; the values follow the object */
};

/* A version's layout. FIELDs are offsets in bytes; a field that a version lacks is 0 and unused. */
struct vt_pylayout {
    uint8_t minor;
    uint8_t chain, lines, managed;
    bool anchors;       /* each call of the loop leaves a stack address in the chain */
    bool one_state;     /* 3.8-3.11: this_state() always returns the thread's first state */
    uint8_t lasti_unit; /* frame objects: bytes per unit of f_lasti */
    bool objects;       /* the fields that only pyobjects/ reads are also known */
#define FIELD(name, ...) uint32_t name;
#include "python_layout.def"
#undef FIELD
};

/* The functions of Python's C interface that python_end.c calls, found by name. */
struct vt_pycalls {
#define VT_PYCALLS(X)                                                                              \
    X(int, Py_AddPendingCall, (int (*)(void *), void *))                                           \
    X(void *, PyImport_GetModuleDict, (void))                                                      \
    X(void *, PyDict_GetItemString, (void *, const char *))                                        \
    X(void *, PyImport_ImportModuleLevel, (const char *, void *, void *, void *, int))             \
    X(void *, PyObject_GetAttrString, (void *, const char *))                                      \
    X(void *, PyObject_CallFunctionObjArgs, (void *, ...))                                         \
    X(void *, PyCFunction_NewEx, (void *, void *, void *))                                         \
    X(void *, PyCapsule_New, (void *, const char *, void (*)(void *)))                             \
    X(void *, PyEval_GetGlobals, (void))                                                           \
    X(int, Py_AtExit, (void (*)(void)))                                                            \
    X(void *, PyTuple_GetItem, (void *, long))                                                     \
    X(void *, PyList_GetItem, (void *, long))                                                      \
    X(void *, PyLong_FromLong, (long))                                                             \
    X(long, PyLong_AsLong, (void *))                                                               \
    X(void, PyErr_Fetch, (void **, void **, void **))                                              \
    X(void, PyErr_Restore, (void *, void *, void *))                                               \
    X(void, PyErr_Clear, (void))                                                                   \
    X(void *, PyEval_SaveThread, (void))                                                           \
    X(void, PyEval_RestoreThread, (void *))                                                        \
    X(void, Py_IncRef, (void *))                                                                   \
    X(void, Py_DecRef, (void *))
#define X(result, name, arguments) result(*name) arguments;
    VT_PYCALLS(X)
#undef X
};

/* The interpreter that was found. Written once before the state becomes ACTIVE;
 * constant afterwards. */
struct vt_pyimage {
    struct vt_pylayout at;
    char version[24]; /* "3.11.7" */
    uintptr_t code_type;
    uintptr_t runtime; /* _PyRuntime; 0: not exported */
    int (*is_initialized)(void);
    int (*is_finalizing)(void);
    void *(*this_state)(void); /* PyGILState_GetThisThreadState */
    void *(*newest_interpreter)(void);
    void *(*main_interpreter)(void);
    void *(*this_interpreter)(void); /* that of the thread that holds the GIL; NULL: unknown */
    /* 3.9-3.11, whose Py_AddPendingCall adds to the calling thread's interpreter; NULL: not exported */
    int (*add_pending_to)(void *interpreter, int (*function)(void *), void *data);
    bool is_program; /* the program is the interpreter; else it embeds one */
    struct vt_pycalls calls;
    struct vt_range text;    /* the interpreter's code */
    struct vt_range eval;    /* _PyEval_EvalFrameDefault; without anchors */
    struct vt_range ends[2]; /* Py_Exit and Py_FinalizeEx */
};
extern struct vt_pyimage vt_pyimage;

/* PyMemberDef: describes a member of a type's objects. */
struct vt_pymember {
    uintptr_t name;
    uint32_t type, unused;
    int64_t offset;
    uintptr_t flags, doc;
};

/* Copies `bytes` bytes from `address`, without faulting at a bad address. True: all were copied. We trust an
 * interpreter's structures only after such reads. Takes about 2 us. */
bool vt_python_peek(void *to, uintptr_t address, size_t bytes);
/* Whether memory can be read in place until someone unmaps it. Only for memory that its owner is using now, if we have
 * identified it correctly. Takes a sixth of vt_python_peek's time. */
bool vt_python_readable(uintptr_t address, size_t bytes);

/* Fills in `at` for a version. `runtime` is the address of _PyRuntime, or 0. Returns NULL, or the
 * reason for a failure (static memory). */
const char *vt_python_layout(struct vt_pylayout *at, unsigned minor, uintptr_t runtime);

/* Compares `at` with the code type's own member table. Returns NULL, or the reason for
 * a mismatch. */
const char *vt_python_layout_check(const struct vt_pylayout *at, uintptr_t code_type);

/* Whether frames may be read without checks, because a first walk with safe reads succeeded. */
bool vt_python_is_trusted(void);
/* The calling thread's interpreter state. 0: the thread runs no Python, or Python is not running.
 * `others` is set if another interpreter's frames are further out on this thread. */
uintptr_t vt_python_own_state(bool *others);
/* Identifies a code object, in addition to its address. */
uint64_t vt_python_tag(uintptr_t code);
/* Begins to count freed code objects (python_chain.c). Called once, when an interpreter is found. */
void vt_python_watch_code(void);

/* Whether two Python objects have the same type. False if one is missing. */
bool vt_python_is_like(const void *object, const void *other);
/* A str object's text as UTF-8, at most `room` bytes. False: not a string in a known form. */
bool vt_python_text(uintptr_t text, char *to, uint32_t room, uint32_t *bytes);

/* In a forked child: drops requests of the parent (python_end.c). */
void vt_python_end_forked(void);

/* Finds an interpreter and fills vt_pyimage. False: not found. `why` is set if an interpreter was found but cannot be
 * read. */
bool vt_python_find(const char **why);

#endif
