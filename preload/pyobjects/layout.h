/* SPDX-License-Identifier: MIT */
/*
 * Where CPython keeps the references that an object holds.
 * Fields that are at the same place in every version from 3.8 to 3.14 are constants below; the rest
 * is one row per minor version (layout.c). For builds with the GIL only.
 */
#ifndef VT_PRELOAD_PYOBJECTS_LAYOUT_H
#define VT_PRELOAD_PYOBJECTS_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    VT_PY_TYPE = 8, /* PyObject.ob_type */
    VT_PY_SIZE = 16 /* PyVarObject.ob_size */
};

/* PyTypeObject */
enum {
    VT_PYTYPE_NAME = 24,
    VT_PYTYPE_BASICSIZE = 32,
    VT_PYTYPE_ITEMSIZE = 40,
    VT_PYTYPE_FLAGS = 168,
    VT_PYTYPE_MEMBERS = 240,
    VT_PYTYPE_BASE = 256,
    VT_PYTYPE_DICT = 264,
    VT_PYTYPE_DICTOFFSET = 288,
    VT_PYTYPE_BYTES = 296 /* as far as it is read */
};

/* tp_flags */
#define VT_PYFLAG_INLINE    (1ul << 2) /* from 3.13 on: attributes' values lie behind the object */
#define VT_PYFLAG_MANAGED   (1ul << 4) /* from 3.11 on: words before the object lead to its dict */
#define VT_PYFLAG_HEAP      (1ul << 9)
#define VT_PYFLAG_LONG      (1ul << 24)
#define VT_PYFLAG_LIST      (1ul << 25)
#define VT_PYFLAG_TUPLE     (1ul << 26)
#define VT_PYFLAG_BYTES     (1ul << 27)
#define VT_PYFLAG_UNICODE   (1ul << 28)
#define VT_PYFLAG_DICT      (1ul << 29)
#define VT_PYFLAG_EXCEPTION (1ul << 30)
#define VT_PYFLAG_TYPE      (1ul << 31)

/* Objects whose fields have not moved */
enum {
    VT_PYDICT_USED = 16,
    VT_PYDICT_KEYS = 32,
    VT_PYDICT_VALUES = 40,
    VT_PYLIST_ITEMS = 24,
    VT_PYSET_MASK = 32,
    VT_PYSET_TABLE = 40,
    VT_PYMODULE_DICT = 16,
    VT_PYCELL_CONTENTS = 16,
    VT_PYMETHOD_FUNCTION = 16,
    VT_PYMETHOD_SELF = 24,
    VT_PYBUILTIN_SELF = 24,
    VT_PYVIEW_DICT = 16,
    VT_PYPROXY_MAPPING = 16,
    VT_PYITERATOR_SEQUENCE = 24,
    VT_PYTRACEBACK_NEXT = 16,
    VT_PYTRACEBACK_FRAME = 24,
    VT_PYEXCEPTION_DICT = 16,
    VT_PYEXCEPTION_ARGS = 24,
    VT_PYLONG_DIGITS = 24,
    VT_PYTHREAD_NEXT = 8,
    VT_PYTHREAD_INTERPRETER = 16,
    /* Modules/_collectionsmodule.c */
    VT_PYDEQUE_LEFT = 24,
    VT_PYDEQUE_INDEX = 40,
    VT_PYDEQUE_BLOCK = 64, /* objects per block, between the links to the left and to the right */
    /* Modules/_functoolsmodule.c */
    VT_PYLRU_CACHE = 72,
    VT_PYLRU_FUNCTION = 88,
    VT_PYLRU_LINK_RESULT = 48,
    VT_PYWRAPPER_FUNCTION = 16,
    /* Modules/_asynciomodule.c */
    VT_PYFUTURE_EXCEPTION = 48,
    /* Modules/_queuemodule.c; from 3.13 on with words of a ring */
    VT_PYQUEUE_LIST = 32,
    VT_PYQUEUE_RING = 24,
    VT_PYRING_GET = 1,
    VT_PYRING_ITEMS = 2,
    VT_PYRING_ROOM = 3,
    VT_PYRING_COUNT = 4,
    /* Modules/_ctypes/ctypes.h */
    VT_PYCDATA_POINTER = 16,
    VT_PYCDATA_BASE = 32,
    VT_PYCDATA_BYTES = 40,
    VT_PYCDATA_LENGTH = 48,
    VT_PYCDATA_OBJECTS = 64,
    VT_PYCFIELD_OFFSET = 16,
    VT_PYCFIELD_BYTES = 24,
    /* Modules/arraymodule.c */
    VT_PYARRAY_ITEMS = 24,
    VT_PYARRAY_DESCRIPTION = 40,
    /* NumPy's ndarraytypes.h, 1 and 2 */
    VT_NUMPY_DATA = 16,
    VT_NUMPY_DIMENSIONS = 24, /* how many */
    VT_NUMPY_SHAPE = 32,
    VT_NUMPY_STRIDES = 40,
    VT_NUMPY_BASE = 48,
    VT_NUMPY_DESCRIPTION = 56,
    VT_NUMPY_DESCRIPTION_CHAR = 25,
};

/* How a dict's keys are laid out. */
enum vt_pykeys {
    VT_PYKEYS_SIZE, /* 3.8-3.10: dk_size in bytes 8 to 15; header 40 bytes */
    VT_PYKEYS_LOG2, /* 3.11 on: dk_log2_index_bytes in byte 9, dk_kind in byte 10; header 32 */
};

/* How an instance leads to its attributes when its type has VT_PYFLAG_MANAGED. */
enum vt_pymanaged {
    VT_PYMANAGED_NONE,   /* 3.8-3.10 */
    VT_PYMANAGED_TWO,    /* 3.11: a pointer to values at -32, the dict at -24 */
    VT_PYMANAGED_TAGGED, /* 3.12: at -24 the dict, or the address of the values less one */
    VT_PYMANAGED_INLINE  /* 3.13 on: the dict at -24, values behind the object */
};

/* Offsets in bytes. A field that a version does not have is 0. */
struct vt_owners_pylayout {
    uint8_t minor, keys, managed;
    uint8_t values; /* struct _dictvalues: where the pointers begin */
    uint8_t tuple_items;
    bool frame_objects;   /* 3.8-3.10: a frame is an object, and nothing else */
    bool long_tag;        /* 3.12 on: lv_tag, in place of a signed number of digits */
    bool tagged;          /* 3.14 on: a frame's slots have tags in their low bits */
    uint16_t cached_keys; /* PyHeapTypeObject.ht_cached_keys */
    /* PyFunctionObject */
    uint16_t function_code, defaults, keyword_defaults, closure, function_dict;
    /* PyCodeObject */
    uint16_t arguments, keyword_arguments, code_flags;
    uint16_t locals, variables, cells, frees;  /* 3.8-3.10: the number, and tuples of names */
    uint16_t slots, slot_names, slot_kinds;    /* 3.11 on */
    uint16_t cause, context, traceback, notes; /* PyBaseExceptionObject */
    /* PyGenObject */
    uint16_t generator_frame, generator_state, generator_exception;
    int8_t generator_created; /* 3.11 on: the lowest state; 0 is running, above 0 ended */
    uint16_t exception_value, exception_previous; /* _PyErr_StackItem */
    /* A frame: PyFrameObject to 3.10, _PyInterpreterFrame from 3.11 on */
    uint16_t frame_locals, frame_slots, frame_top, frame_stack, frame_function;
    uint16_t frame_of_object;               /* 3.11 on: PyFrameObject.f_frame */
    uint16_t future_result, task_coroutine; /* asyncio */
    uint16_t local_dicts;                   /* threading.local */
    /* PyThreadState */
    uint16_t thread_exceptions, thread_raised, thread_dict;
    /* _PyRuntime and PyInterpreterState */
    uint32_t interpreters, interpreter_next, interpreter_threads, interpreter_modules,
        interpreter_sys;
    uint32_t interpreter_generations; /* of the collector; 0: not known */
};

/* The layout of the interpreter in this process, or NULL if it is not known. Reads what 3.13 and
 * later publish, so it is called when a snapshot begins, not while one is taken. */
const struct vt_owners_pylayout *vt_owners_python_layout(void);

#endif
