/* SPDX-License-Identifier: MIT */
/*
 * Fields of CPython's objects whose offsets are the same in every version from 3.8 to 3.14; fields that moved are in
 * stack/python_layout.def. For builds with the GIL only.
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
    VT_PYTYPE_BYTES = 296 /* bytes that we read */
};

/* tp_flags */
#define VT_PYFLAG_INLINE    (1ul << 2) /* from 3.13 on: attribute values follow the object */
#define VT_PYFLAG_MANAGED   (1ul << 4) /* from 3.11 on: words before the object lead to its dict */
#define VT_PYFLAG_HEAP      (1ul << 9)
#define VT_PYFLAG_LONG      (1ul << 24)
#define VT_PYFLAG_LIST      (1ul << 25)
#define VT_PYFLAG_TUPLE     (1ul << 26)
#define VT_PYFLAG_UNICODE   (1ul << 28)
#define VT_PYFLAG_DICT      (1ul << 29)
#define VT_PYFLAG_EXCEPTION (1ul << 30)
#define VT_PYFLAG_TYPE      (1ul << 31)

/* Objects whose fields never moved */
enum {
    VT_PYDICT_USED = 16,
    VT_PYDICT_KEYS = 32,
    VT_PYDICT_VALUES = 40,
    VT_PYLIST_ITEMS = 24,
    VT_PYSET_MASK = 32,
    VT_PYSET_TABLE = 40,
    VT_PYMODULE_DICT = 16,
    VT_PYCELL_CONTENTS = 16,
    VT_PYTRACEBACK_NEXT = 16,
    VT_PYTRACEBACK_FRAME = 24,
    VT_PYEXCEPTION_ARGS = 24,
    VT_PYLONG_DIGITS = 24,
    /* Modules/_collectionsmodule.c */
    VT_PYDEQUE_LEFT = 24,
    VT_PYDEQUE_INDEX = 40,
    VT_PYDEQUE_MAXLEN = 64,
    VT_PYDEQUE_BLOCK = 64, /* objects per block, between the links to the left and to the right */
    /* Modules/_functoolsmodule.c */
    VT_PYLRU_LINK_RESULT = 48,
    VT_PYLRU_CACHE = 72,
    VT_PYLRU_WRAPPED = 88,
    /* Modules/_asynciomodule.c */
    VT_PYFUTURE_CALLBACK = 24,
    VT_PYFUTURE_CALLBACKS = 40,
    VT_PYFUTURE_EXCEPTION = 48,
    VT_PYTASK_WAITER = -8, /* relative to the task's coroutine */
    VT_PYTASK_CONTEXT = 16,
    /* Modules/itertoolsmodule.c */
    VT_PYTEE_SOURCE = 16,
    VT_PYTEE_COUNT = 24,
    VT_PYTEE_NEXT = 32,
    VT_PYTEE_VALUES = 40,
    /* Python/context.c, Python/hamt.c */
    VT_PYVARIABLE_NAME = 16,
    VT_PYVARIABLE_DEFAULT = 24,
    VT_PYTREE_FIRST = 16,
    VT_PYTREE_COUNT = 32,
    VT_PYTREE_NODES = 16,
    VT_PYTREE_PAIRS = 32,
    VT_PYTREE_MOST = 32, /* nodes, or pairs */
    VT_PYTREE_DEEP = 8,
    /* Modules/_queuemodule.c; from 3.13 on: words of a ring */
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
    /* Modules/arraymodule.c */
    VT_PYARRAY_ITEMS = 24,
    VT_PYARRAY_DESCRIPTION = 40,
    /* NumPy's ndarraytypes.h, 1 and 2 */
    VT_NUMPY_DATA = 16,
    VT_NUMPY_DIMENSIONS = 24, /* their number */
    VT_NUMPY_SHAPE = 32,
    VT_NUMPY_STRIDES = 40,
    VT_NUMPY_BASE = 48,
    VT_NUMPY_DESCRIPTION = 56,
    VT_NUMPY_DESCRIPTION_CHAR = 25,
    /* pandas/_libs/internals.pyx */
    VT_PANDAS_FIRST = 24,
};

#endif
