/* SPDX-License-Identifier: MIT */
/*
 * The edges of Python objects: which reader a type has, and the readers of containers. The walk (owners/walk.c) calls
 * them for one object at a time.
 *
 * A type is recognized by its flags (int, list, dict, ...), or, if it is or inherits from a type written in C, by that
 * type's name. A class statement cannot make such a type, so a user's class is never mistaken for one. For any other
 * type, only slots (__slots__ and members written in C) and the instance's attributes are read. Not followed: weak
 * references, modules, functions' globals, types' bases and subclasses.
 */
#include "pyobjects.h"

#include <string.h>

#define MOST_BASES 64u
#define MOST_ITEMS (1u << 26)
#define BATCH      64u
#define NAME_BYTES 40u
/* Py_TPFLAGS_IMMUTABLETYPE: types made from a specification in C (3.10 and later) */
#define IMMUTABLE  (1u << 8)

/* Types by tp_name. `bytes`: smallest size of an object; we read up to there. */
static const struct known {
    const char *name;
    uint8_t reader;
    uint8_t bytes;
} known[] = {
    {"set", VT_PYREAD_SET, 48},
    {"frozenset", VT_PYREAD_SET, 48},
    {"collections.deque", VT_PYREAD_DEQUE, 72},
    {"cell", VT_PYREAD_CELL, 24},
    {"function", VT_PYREAD_FUNCTION, 104},
    {"generator", VT_PYREAD_GENERATOR, 80},
    {"coroutine", VT_PYREAD_GENERATOR, 80},
    {"async_generator", VT_PYREAD_GENERATOR, 80},
    {"frame", VT_PYREAD_FRAME, 32},
    {"traceback", VT_PYREAD_TRACEBACK, 32},
    {"functools._lru_cache_wrapper", VT_PYREAD_LRU, 96},
    {"functools._lru_list_elem", VT_PYREAD_LRU_LINK, 56},
    {"_thread._local", VT_PYREAD_LOCAL, 56},
    {"_ctypes._CData", VT_PYREAD_CTYPES, 72},
    {"numpy.ndarray", VT_PYREAD_NUMPY, 72},
    {"array.array", VT_PYREAD_ARRAY, 48},
    {"pandas._libs.internals.BlockManager", VT_PYREAD_PANDAS, 40},
    {"pandas._libs.internals.Block", VT_PYREAD_PANDAS, 40},
    {"pandas._libs.internals.NumpyBlock", VT_PYREAD_PANDAS, 40},
    {"_asyncio.Future", VT_PYREAD_FUTURE, 72},
    {"_asyncio.Task", VT_PYREAD_TASK, 128},
    {"_queue.SimpleQueue", VT_PYREAD_QUEUE, 48},
    {"itertools._tee_dataobject", VT_PYREAD_TEE, 48},
    /* Contexts and their variables. The first of two names is used in 3.8 and 3.9. */
    {"ContextVar", VT_PYREAD_VARIABLE, 32},
    {"_contextvars.ContextVar", VT_PYREAD_VARIABLE, 32},
    {"hamt", VT_PYREAD_TREE, 24},
    {"hamt_array_node", VT_PYREAD_TREE_NODE, 24},
    {"hamt_bitmap_node", VT_PYREAD_TREE_NODE, 32},
    {"hamt_collision_node", VT_PYREAD_TREE_NODE, 32},
    /* These types hold nothing of their own, or must not be followed. */
    {"module", VT_PYREAD_MODULE, 24},
    {"weakref", VT_PYREAD_NOTHING, 16},
    {"weakref.ReferenceType", VT_PYREAD_NOTHING, 16},
    {"weakproxy", VT_PYREAD_NOTHING, 16},
    {"weakref.ProxyType", VT_PYREAD_NOTHING, 16},
    {"weakcallableproxy", VT_PYREAD_NOTHING, 16},
    {"weakref.CallableProxyType", VT_PYREAD_NOTHING, 16},
    {"code", VT_PYREAD_NOTHING, 16},
    {"bool", VT_PYREAD_NOTHING, 16},
    {"getset_descriptor", VT_PYREAD_NOTHING, 16},
    {"member_descriptor", VT_PYREAD_NOTHING, 16},
    {"method_descriptor", VT_PYREAD_NOTHING, 16},
    {"classmethod_descriptor", VT_PYREAD_NOTHING, 16},
    {"wrapper_descriptor", VT_PYREAD_NOTHING, 16},
};

/* Types whose objects only refer to others, at fixed offsets. The targets are attributes, or parts without a name.
 * `each`: a tuple's items are parts. */
static const struct {
    const char *name;
    uint8_t bytes;
    struct content {
        uint8_t at;
        bool each;
        const char *name;
    } contents[3];
} field_types[] = {
    {"method", 32, {{24, false, "__self__"}, {16, false, "__func__"}}},
    {"builtin_function_or_method", 32, {{24, false, "__self__"}}},
    {"staticmethod", 24, {{16, false, NULL}}},
    {"classmethod", 24, {{16, false, NULL}}},
    {"dict_keys", 24, {{16, false, "mapping"}}},
    {"dict_values", 24, {{16, false, "mapping"}}},
    {"dict_items", 24, {{16, false, "mapping"}}},
    {"mappingproxy", 24, {{16, false, "mapping"}}},
    /* Iterators: the object that they iterate over, and the last result. */
    {"list_iterator", 32, {{24, false, NULL}}},
    {"list_reverseiterator", 32, {{24, false, NULL}}},
    {"tuple_iterator", 32, {{24, false, NULL}}},
    {"reversed", 32, {{24, false, NULL}}},
    {"iterator", 32, {{24, false, NULL}}},
    {"callable_iterator", 32, {{16, false, NULL}, {24, false, NULL}}},
    {"dict_keyiterator", 56, {{16, false, NULL}}},
    {"dict_valueiterator", 56, {{16, false, NULL}}},
    {"dict_itemiterator", 56, {{16, false, NULL}, {48, false, NULL}}},
    {"set_iterator", 48, {{16, false, NULL}}},
    {"_collections._deque_iterator", 56, {{32, false, NULL}}},
    {"collections._deque_iterator", 56, {{32, false, NULL}}}, /* from 3.12 on */
    {"enumerate", 40, {{24, false, NULL}, {32, false, NULL}}},
    {"zip", 40, {{24, true, NULL}, {32, false, NULL}}},
    {"map", 32, {{16, true, NULL}, {24, false, NULL}}},
    {"filter", 32, {{16, false, NULL}, {24, false, NULL}}},
    {"itertools._tee", 40, {{16, false, NULL}}},
    {"itertools.accumulate", 48, {{16, false, NULL}, {24, false, NULL}, {32, false, NULL}}},
    {"itertools.chain", 32, {{16, false, NULL}, {24, false, NULL}}},
    {"itertools.cycle", 32, {{16, false, NULL}, {24, false, NULL}}},
    {"itertools.islice", 32, {{16, false, NULL}}},
    {"itertools.repeat", 32, {{16, false, NULL}}},
    {"itertools.pairwise", 32, {{16, false, NULL}, {24, false, NULL}}},
    {"itertools.product", 40, {{16, true, NULL}, {32, false, NULL}}},
    {"itertools.starmap", 32, {{16, false, NULL}, {24, false, NULL}}},
    {"itertools.takewhile", 32, {{16, false, NULL}, {24, false, NULL}}},
    {"itertools.zip_longest", 56, {{32, true, NULL}, {40, false, NULL}, {48, false, NULL}}},
    /* Objects that a coroutine awaits or that an event loop calls. */
    {"coroutine_wrapper", 24, {{16, false, NULL}}},
    {"async_generator_asend", 32, {{16, false, NULL}, {24, false, NULL}}},
    {"async_generator_athrow", 32, {{16, false, NULL}, {24, false, NULL}}},
    {"_asyncio.FutureIter", 24, {{16, false, NULL}}},
    {"TaskWakeupMethWrapper", 24, {{16, false, NULL}}},
    {"TaskStepMethWrapper", 32, {{16, false, NULL}, {24, false, NULL}}},
    {"_asyncio.TaskStepMethWrapper", 32, {{16, false, NULL}, {24, false, NULL}}},
    {"Context", 32, {{24, false, NULL}}},
    {"_contextvars.Context", 32, {{24, false, NULL}}},
    {"Token", 40, {{32, false, "old_value"}}},
    {"_contextvars.Token", 40, {{32, false, "old_value"}}},
};

struct fields {
    char name[NAME_BYTES];
    uint64_t flags;
    int64_t basic_size, item_size, dict_offset;
    uintptr_t base;
};

static bool read_fields(struct vt_owners *w, uintptr_t type, struct fields *f) {
    uint64_t words[VT_PYTYPE_BYTES / 8];
    if (!type || type & 7 || !vt_owners_read(w, words, type, sizeof words))
        return false;
    *f = (struct fields){.flags = words[VT_PYTYPE_FLAGS / 8],
                         .basic_size = (int64_t)words[VT_PYTYPE_BASICSIZE / 8],
                         .item_size = (int64_t)words[VT_PYTYPE_ITEMSIZE / 8],
                         .dict_offset = (int64_t)words[VT_PYTYPE_DICTOFFSET / 8],
                         .base = words[VT_PYTYPE_BASE / 8]};
    vt_py_string(w, words[VT_PYTYPE_NAME / 8], f->name, NAME_BYTES);
    return f->basic_size >= 16 && f->basic_size < 1 << 20 && f->name[0];
}

static bool is_known(const struct fields *f, struct vt_owners_type *type) {
    /* A class statement cannot make an immutable type, or a name with a dot. */
    if (f->flags & VT_PYFLAG_HEAP && !(f->flags & IMMUTABLE) && !strchr(f->name, '.'))
        return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(f->name, known[i].name) == 0 && f->basic_size >= known[i].bytes) {
            type->reader = known[i].reader;
            type->spare[VT_PYSPARE_KNOWN] = (uint64_t)f->basic_size;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof field_types / sizeof *field_types; i++) {
        if (strcmp(f->name, field_types[i].name) == 0 && f->basic_size >= field_types[i].bytes) {
            type->reader = VT_PYREAD_FIELDS;
            type->spare[VT_PYSPARE_KNOWN] = i;
            return true;
        }
    }
    return false;
}

static uint8_t reader_by_flags(uint64_t flags) {
    return flags & VT_PYFLAG_LONG        ? VT_PYREAD_NUMBER
           : flags & VT_PYFLAG_LIST      ? VT_PYREAD_LIST
           : flags & VT_PYFLAG_TUPLE     ? VT_PYREAD_TUPLE
           : flags & VT_PYFLAG_DICT      ? VT_PYREAD_DICT
           : flags & VT_PYFLAG_EXCEPTION ? VT_PYREAD_EXCEPTION
           : flags & VT_PYFLAG_TYPE      ? VT_PYREAD_TYPE
                                         : VT_PYREAD_PLAIN;
}

/* Allocators' registries: they list live objects, and own nothing. */
static bool keeps_registry(struct vt_owners *w, uintptr_t type, bool is_type) {
    char name[128] = "";
    static const char numba[] = "numba.cuda.cudadrv.driver.";
    uint32_t n = vt_py_type_name(w, type, name, sizeof name - 1);
    name[n] = 0;
    return is_type ? strcmp(name, "weakref.finalize") == 0
                   : strncmp(name, numba, sizeof numba - 1) == 0;
}

/* Which of the standard library's queues a class is, by its full name. */
static enum vt_pyqueue queue_of(struct vt_owners *w, uintptr_t type) {
    static const char *const names[] = {
        "queue.Queue",          "queue.LifoQueue",          "queue.PriorityQueue",
        "asyncio.queues.Queue", "asyncio.queues.LifoQueue", "asyncio.queues.PriorityQueue"};
    char name[64] = "";
    uint32_t n = vt_py_type_name(w, type, name, sizeof name - 1);
    name[n] = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return name[0] == 'a' ? VT_PYQUEUE_ASYNC : VT_PYQUEUE_THREADS;
    return VT_PYQUEUE_NONE;
}

void vt_py_type(struct vt_owners *w, struct vt_owners_type *type) {
    struct fields f;
    type->leaf = true;
    type->reader = VT_PYREAD_NOTHING;
    if (!vt_py || !read_fields(w, type->address, &f))
        return;
    type->flags = (uint32_t)f.flags;
    type->dict_offset = f.dict_offset;
    type->basic_size = f.basic_size;
    type->item_size = f.item_size;
    type->reader = reader_by_flags(f.flags);
    bool attributes = f.dict_offset || f.flags & VT_PYFLAG_MANAGED;
    type->spare[VT_PYSPARE_MEMBERS] = vt_py_has_members(w, type->address);
    struct fields base = f;
    for (unsigned i = 0; i < MOST_BASES && !is_known(&base, type); i++)
        if (!read_fields(w, base.base, &base))
            break;
    type->leaf =
        type->reader == VT_PYREAD_NOTHING ||
        (type->reader == VT_PYREAD_PLAIN && !attributes && !type->spare[VT_PYSPARE_MEMBERS]);
    type->number = type->reader == VT_PYREAD_NUMBER;
    type->spare[VT_PYSPARE_QUEUE] =
        f.flags & VT_PYFLAG_HEAP && attributes ? queue_of(w, type->address) : VT_PYQUEUE_NONE;
    type->spare[VT_PYSPARE_REGISTRY] =
        f.flags & VT_PYFLAG_HEAP && attributes && keeps_registry(w, type->address, false);
}

/* --- containers --- */

static void name_number(struct vt_owners *w, uintptr_t object) {
    struct vt_edge edge = {.kind = VT_STEP_NONE, .as = VT_AS_NUMBER, .to = vt_py_number(w, object)};
    if (!vt_py_raw)
        vt_owners_edge(w, &edge);
}

static void name_items(struct vt_owners *w, uintptr_t at, uint64_t count) {
    for (uint64_t i = 0; i < count && i < MOST_ITEMS && vt_owners_may_continue(w); i += BATCH) {
        uint64_t words[BATCH], n = count - i < BATCH ? count - i : BATCH;
        if (!vt_owners_read(w, words, at + i * 8, n * 8)) {
            vt_owners_in_doubt(w);
            return;
        }
        vt_py_expect(words, n, 1);
        for (uint64_t k = 0; k < n; k++)
            vt_py_edge_at(w, VT_STEP_INDEX, (int64_t)(i + k), words[k]);
    }
}

static void name_list(struct vt_owners *w, uintptr_t object) {
    name_items(w, vt_owners_word(w, object + VT_PYLIST_ITEMS),
               vt_owners_word(w, object + VT_PY_SIZE));
}

static void name_tuple(struct vt_owners *w, uintptr_t object) {
    name_items(w, object + vt_py->tuple_items, vt_owners_word(w, object + VT_PY_SIZE));
}

static void name_set(struct vt_owners *w, uintptr_t object) {
    uint64_t mask = vt_owners_word(w, object + VT_PYSET_MASK);
    uintptr_t table = vt_owners_word(w, object + VT_PYSET_TABLE);
    if (mask & (mask + 1) || mask >= MOST_ITEMS)
        return;
    for (uint64_t i = 0; i <= mask && vt_owners_may_continue(w); i++) {
        uint64_t entry[2]; /* the key, NULL or the mark of a removed one; its hash */
        if (!vt_owners_read(w, entry, table + i * sizeof entry, sizeof entry)) {
            vt_owners_in_doubt(w);
            return;
        }
        vt_py_item(w, entry[0], false);
    }
}

static void name_deque(struct vt_owners *w, uintptr_t object) {
    uint64_t count = vt_owners_word(w, object + VT_PY_SIZE);
    uintptr_t block = vt_owners_word(w, object + VT_PYDEQUE_LEFT);
    uint64_t place = vt_owners_word(w, object + VT_PYDEQUE_INDEX);
    /* A block: the link to the left, the objects, the link to the right. */
    for (uint64_t i = 0; i < count && i < MOST_ITEMS && vt_owners_may_continue(w); i++) {
        if (place == VT_PYDEQUE_BLOCK) {
            block = vt_owners_word(w, block + 8 + VT_PYDEQUE_BLOCK * 8);
            place = 0;
        }
        if (!block || place > VT_PYDEQUE_BLOCK)
            return;
        vt_py_edge_at(w, VT_STEP_INDEX, (int64_t)i, vt_owners_word(w, block + 8 + place++ * 8));
    }
}

static void name_attribute(struct vt_owners *w, const char *name, uintptr_t from) {
    vt_py_edge(w, VT_STEP_ATTRIBUTE, vt_owners_text_of(name), vt_owners_word(w, from));
}

static void name_exception(struct vt_owners *w, uintptr_t object) {
    const struct vt_pylayout *py = vt_py;
    name_attribute(w, "args", object + VT_PYEXCEPTION_ARGS);
    name_attribute(w, "__traceback__", object + py->traceback);
    /* The cause is named first, because it is also the context. */
    name_attribute(w, "__cause__", object + py->cause);
    name_attribute(w, "__context__", object + py->context);
    if (py->notes)
        name_attribute(w, "__notes__", object + py->notes);
}

static void name_frame(struct vt_owners *w, uintptr_t object) {
    uintptr_t inner = vt_py_frame_in(w, object);
    if (inner)
        vt_py_frame(w, inner);
    name_attribute(w, "f_back", object + (vt_py->chain == VT_CHAIN_OBJECTS ? 24 : 16));
}

/* threading.local: a dict of dicts, one for each thread. */
static void local_of_thread(struct vt_owners *w, uintptr_t key, uintptr_t value, void *data) {
    (void)key, (void)data;
    if (!vt_py_raw)
        vt_py_names(w, value, VT_STEP_ATTRIBUTE);
}

static void name_local(struct vt_owners *w, uintptr_t object) {
    vt_py_each(w, vt_owners_word(w, object + vt_py->local_dicts), local_of_thread, NULL);
}

/* An enumeration's members are also attributes under their own names. */
static void class_attribute(struct vt_owners *w, uintptr_t key, uintptr_t value, void *data) {
    (void)data;
    if (!vt_py_is(w, key, "_value2member_map_") && !vt_py_is(w, key, "_member_map_") &&
        !vt_py_is(w, key, "_hashable_values_") && !vt_py_is(w, key, "_unhashable_values_") &&
        !vt_py_is(w, key, "_unhashable_values_map_"))
        vt_py_edge_str(w, VT_STEP_ATTRIBUTE, key, value);
}

static void type_object(struct vt_owners *w, uintptr_t object) {
    /* Builtin classes hold nothing of the program's. */
    uintptr_t dict = vt_owners_word(w, object + VT_PYTYPE_DICT);
    if (!(vt_owners_word(w, object + VT_PYTYPE_FLAGS) & VT_PYFLAG_HEAP))
        return;
    if (keeps_registry(w, object, true))
        vt_py_exclude(vt_py_look_up(w, dict, "_registry"));
    else
        vt_py_each(w, dict, class_attribute, NULL);
}

/* queue.SimpleQueue: a list up to 3.12, a ring from 3.13 on. */
static void name_queue(struct vt_owners *w, uintptr_t object) {
    uint64_t ring[VT_PYRING_COUNT + 1];
    if (vt_py->minor < 13) {
        vt_py_part(w, vt_owners_word(w, object + VT_PYQUEUE_LIST));
        return;
    }
    if (!vt_owners_read(w, ring, object + VT_PYQUEUE_RING, sizeof ring) ||
        ring[VT_PYRING_COUNT] > ring[VT_PYRING_ROOM] || ring[VT_PYRING_ROOM] > MOST_ITEMS)
        return;
    for (uint64_t i = 0; i < ring[VT_PYRING_COUNT] && vt_owners_may_continue(w); i++) {
        uint64_t place = (ring[VT_PYRING_GET] + i) % ring[VT_PYRING_ROOM];
        vt_py_edge_at(w, VT_STEP_INDEX, (int64_t)i,
                      vt_owners_word(w, ring[VT_PYRING_ITEMS] + place * 8));
    }
}

/* Imported modules are roots. A module that the program made without an import has no __spec__, and is read here. */
static void made_module(struct vt_owners *w, uintptr_t object) {
    uintptr_t dict = vt_owners_word(w, object + VT_PYMODULE_DICT);
    uintptr_t spec = vt_py_look_up(w, dict, "__spec__");
    char name[16];
    if (spec && vt_py_type_name(w, vt_owners_word(w, spec + VT_PY_TYPE), name, sizeof name) == 8 &&
        memcmp(name, "NoneType", 8) == 0 &&
        !vt_py_is(w, vt_py_look_up(w, dict, "__name__"), "__main__"))
        vt_py_names(w, dict, VT_STEP_ATTRIBUTE);
}

static void name_contents(struct vt_owners *w, uintptr_t object, const struct content *contents) {
    for (unsigned i = 0; i < 3 && contents[i].at; i++) {
        uintptr_t to = vt_owners_word(w, object + contents[i].at);
        uint64_t count = contents[i].each && !vt_py_raw ? vt_owners_word(w, to + VT_PY_SIZE) : 0;
        if (contents[i].name)
            vt_py_edge(w, VT_STEP_ATTRIBUTE, vt_owners_text_of(contents[i].name), to);
        else if (!count)
            vt_py_part(w, to);
        for (uint64_t k = 0; k < count && k < MOST_ITEMS && vt_owners_may_continue(w); k++)
            vt_py_part(w, vt_owners_word(w, to + vt_py->tuple_items + k * 8));
    }
}

static void name_cell(struct vt_owners *w, uintptr_t object) {
    name_attribute(w, "cell_contents", object + VT_PYCELL_CONTENTS);
}

static void name_lru(struct vt_owners *w, uintptr_t object) {
    name_attribute(w, "cache", object + VT_PYLRU_CACHE);
    name_attribute(w, "__wrapped__", object + VT_PYLRU_WRAPPED);
}

/* pandas's classes, made by Cython: a pointer to a table of functions, then references to objects, and numbers. The
 * fields have moved, so a reference is named by its target's type. */
static void name_pandas(struct vt_owners *w, uintptr_t object, uint64_t bytes) {
    for (uint64_t at = VT_PANDAS_FIRST; at + 8 <= bytes; at += 8) {
        const struct vt_owners_type *type = vt_owners_type_of(w, vt_owners_word(w, object + at));
        name_attribute(w,
                       type && type->flags & VT_PYFLAG_TUPLE  ? "blocks"
                       : type && type->flags & VT_PYFLAG_LIST ? "axes"
                                                              : "values",
                       object + at);
    }
}

/* A block of itertools.tee: its source, and the block after it. */
static void name_tee(struct vt_owners *w, uintptr_t object) {
    vt_py_part(w, vt_owners_word(w, object + VT_PYTEE_SOURCE));
    name_items(w, object + VT_PYTEE_VALUES,
               vt_owners_word(w, object + VT_PYTEE_COUNT) & UINT32_MAX);
    vt_py_part(w, vt_owners_word(w, object + VT_PYTEE_NEXT));
}

/* Nodes of the tree in which a context stores its variables have up to 32 nodes or pairs. A pair without a key has a
 * node as its value. */
static void name_tree(struct vt_owners *w, uintptr_t node, unsigned depth) {
    uint64_t words[2 * VT_PYTREE_MOST];
    const struct vt_owners_type *type = vt_owners_type_of(w, node), *key;
    bool pairs = type && type->item_size;
    uint64_t count = pairs ? vt_owners_word(w, node + VT_PY_SIZE) : VT_PYTREE_MOST;
    if (!type || type->reader != VT_PYREAD_TREE_NODE || count > 2 * VT_PYTREE_MOST ||
        depth == VT_PYTREE_DEEP ||
        !vt_owners_read(w, words, node + (pairs ? VT_PYTREE_PAIRS : VT_PYTREE_NODES), count * 8))
        return;
    for (uint64_t i = 0; i + pairs < count; i += pairs ? 2 : 1) {
        uintptr_t to = words[i + pairs];
        if (pairs && words[i] && (key = vt_owners_type_of(w, words[i])) &&
            key->reader == VT_PYREAD_VARIABLE) {
            vt_py_item(w, words[i], true);
            vt_py_edge_key(w, vt_owners_word(w, words[i] + VT_PYVARIABLE_NAME), to);
        } else if (vt_py_raw) {
            vt_py_part(w, to);
        } else if (to) {
            name_tree(w, to, depth + 1);
        }
    }
}

static void name_variables(struct vt_owners *w, uintptr_t tree) {
    uintptr_t first = vt_owners_word(w, tree + VT_PYTREE_FIRST);
    vt_owners_keys(w, vt_owners_word(w, tree + VT_PYTREE_COUNT));
    if (vt_py_raw)
        vt_py_part(w, first);
    else
        name_tree(w, first, 0);
}

static void name_node(struct vt_owners *w, uintptr_t object) {
    name_tree(w, object, 0);
}

static void name_variable(struct vt_owners *w, uintptr_t object) {
    name_attribute(w, "default", object + VT_PYVARIABLE_DEFAULT);
}

static void name_future(struct vt_owners *w, uintptr_t object) {
    vt_py_part(w, vt_owners_word(w, object + vt_py->future_result));
    name_attribute(w, "_exception", object + VT_PYFUTURE_EXCEPTION);
    /* The first callback, and a list of the other callbacks, each with a context. */
    name_attribute(w, "_callbacks", object + VT_PYFUTURE_CALLBACK);
    name_attribute(w, "_callbacks", object + VT_PYFUTURE_CALLBACKS);
}

static void name_task(struct vt_owners *w, uintptr_t object) {
    uintptr_t coroutine = object + vt_py->task_coroutine;
    name_attribute(w, "_coro", coroutine);
    name_attribute(w, "_fut_waiter", coroutine + VT_PYTASK_WAITER);
    name_attribute(w, "_context", coroutine + VT_PYTASK_CONTEXT);
    name_future(w, object);
}

/* Readers for one type each; `attributes`: its objects may also have attributes. */
static const struct {
    void (*read)(struct vt_owners *w, uintptr_t object);
    bool attributes;
} readers[] = {
    [VT_PYREAD_NUMBER] = {name_number, true},
    [VT_PYREAD_MODULE] = {made_module, false},
    [VT_PYREAD_DICT] = {vt_py_keys, true},
    [VT_PYREAD_LIST] = {name_list, true},
    [VT_PYREAD_TUPLE] = {name_tuple, true},
    [VT_PYREAD_SET] = {name_set, true},
    [VT_PYREAD_DEQUE] = {name_deque, true},
    [VT_PYREAD_CELL] = {name_cell, false},
    [VT_PYREAD_FUNCTION] = {vt_py_function, false},
    [VT_PYREAD_GENERATOR] = {vt_py_generator, false},
    [VT_PYREAD_FRAME] = {name_frame, false},
    [VT_PYREAD_TRACEBACK] = {vt_py_traceback, false},
    [VT_PYREAD_EXCEPTION] = {name_exception, true},
    [VT_PYREAD_TYPE] = {type_object, false},
    [VT_PYREAD_TEE] = {name_tee, false},
    [VT_PYREAD_VARIABLE] = {name_variable, false},
    [VT_PYREAD_TREE] = {name_variables, false},
    [VT_PYREAD_TREE_NODE] = {name_node, false},
    [VT_PYREAD_LRU] = {name_lru, true},
    [VT_PYREAD_FUTURE] = {name_future, true},
    [VT_PYREAD_TASK] = {name_task, true},
    [VT_PYREAD_QUEUE] = {name_queue, false},
    [VT_PYREAD_LOCAL] = {name_local, true},
    [VT_PYREAD_NUMPY] = {vt_py_numpy, true},
    [VT_PYREAD_ARRAY] = {vt_py_array, true},
};

static void read_object(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type) {
    bool attributes = type->reader == VT_PYREAD_PLAIN || type->reader == VT_PYREAD_CTYPES ||
                      type->reader == VT_PYREAD_PANDAS;
    if (type->reader == VT_PYREAD_CTYPES) {
        vt_py_ctypes(w, object, type);
    } else if (type->reader == VT_PYREAD_PANDAS) {
        name_pandas(w, object, type->spare[VT_PYSPARE_KNOWN]);
    } else if (type->reader == VT_PYREAD_FIELDS) {
        name_contents(w, object, field_types[type->spare[VT_PYSPARE_KNOWN]].contents);
    } else if (type->reader < sizeof readers / sizeof *readers && readers[type->reader].read) {
        readers[type->reader].read(w, object);
        attributes = readers[type->reader].attributes;
    }
    if (attributes)
        vt_py_attributes(w, object, type);
}

void vt_py_read(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type) {
    vt_py_limit(w, object, type);
    read_object(w, object, type);
}
