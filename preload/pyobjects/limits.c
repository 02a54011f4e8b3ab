/* SPDX-License-Identifier: MIT */
/*
 * The maximum number of entries of Python containers, where it is certain: such a container stops growing when it is
 * full. If only the program's own code limits a dict, the limit is unknown.
 *
 * Used by objects.c.
 */
#include "pyobjects.h"

/* Modules/_functoolsmodule.c of Python 3.8 */
enum { LRU_TYPED = 64, LRU_HITS = 80, LRU_MAXSIZE = 96, LRU_MISSES = 104 };

/* The value of an int that is a count; 0: not one. */
static uint64_t count_of(struct vt_owners *w, uintptr_t object) {
    const struct vt_owners_type *type = object ? vt_owners_type_of(w, object) : NULL;
    return type && type->reader == VT_PYREAD_NUMBER ? vt_py_number(w, object) : 0;
}

/* Up to 3.8, only the cache object itself has the limit. Its fields are used if they are consistent. */
static uint64_t lru_maxsize_checked(struct vt_owners *w, uintptr_t lru, uint64_t entries) {
    uint64_t typed = (uint32_t)vt_owners_int(w, lru + LRU_TYPED),
             hits = vt_owners_word(w, lru + LRU_HITS),
             maxsize = vt_owners_word(w, lru + LRU_MAXSIZE),
             misses = vt_owners_word(w, lru + LRU_MISSES);
    bool fits = typed <= 1 && hits <= INT64_MAX && misses <= INT64_MAX && entries <= misses;
    return fits && maxsize <= INT64_MAX ? maxsize : 0;
}

static void limit_lru(struct vt_owners *w, uintptr_t lru, const struct vt_owners_type *type) {
    uint64_t entries = vt_owners_word(w, vt_owners_word(w, lru + VT_PYLRU_CACHE) + VT_PYDICT_USED);
    uint64_t most =
        vt_py->minor > 8
            ? count_of(w, vt_py_free_variable(w, vt_py_attribute(w, lru, type, "cache_parameters"),
                                              "maxsize"))
            : lru_maxsize_checked(w, lru, entries);
    if (most)
        vt_owners_capacity(w, entries, most);
}

static void limit_deque(struct vt_owners *w, uintptr_t deque) {
    uint64_t most = vt_owners_word(w, deque + VT_PYDEQUE_MAXLEN);
    if (most <= INT64_MAX) /* -1: no limit */
        vt_owners_capacity(w, vt_owners_word(w, deque + VT_PY_SIZE), most);
}

/* Queues of the standard library, whose put() waits or fails when the queue is full. */
static void limit_queue(struct vt_owners *w, uintptr_t queue, const struct vt_owners_type *type) {
    bool async = type->spare[VT_PYSPARE_QUEUE] == VT_PYQUEUE_ASYNC;
    uintptr_t items = vt_py_attribute(w, queue, type, async ? "_queue" : "queue");
    const struct vt_owners_type *of = items ? vt_owners_type_of(w, items) : NULL;
    uint64_t most = count_of(w, vt_py_attribute(w, queue, type, async ? "_maxsize" : "maxsize"));
    if (most && of && (of->reader == VT_PYREAD_DEQUE || of->reader == VT_PYREAD_LIST))
        vt_owners_capacity(w, vt_owners_word(w, items + VT_PY_SIZE), most);
}

/* A list that was made at its full length, `[None] * n`, and is filled from the front. A list that grows by append
 * rarely ends with None. */
static void limit_list(struct vt_owners *w, uintptr_t list) {
    uint64_t count = vt_owners_word(w, list + VT_PY_SIZE), used = 0, word;
    uintptr_t items = vt_owners_word(w, list + VT_PYLIST_ITEMS), last;
    if (count < 2 || !(last = vt_owners_word(w, items + (count - 1) * 8)) ||
        !vt_py_type_is(w, vt_owners_word(w, last + VT_PY_TYPE), "NoneType"))
        return;
    while ((word = vt_owners_word(w, items + used * 8)) && word != last &&
           vt_owners_may_continue(w))
        used++;
    for (uint64_t i = used; i < count; i++)
        if (vt_owners_word(w, items + i * 8) != last || !vt_owners_may_continue(w))
            return;
    if (used && used < count - 1)
        vt_owners_capacity(w, used, count);
}

void vt_py_limit(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type) {
    if (vt_py_raw)
        return;
    if (type->reader == VT_PYREAD_LRU)
        limit_lru(w, object, type);
    else if (type->reader == VT_PYREAD_DEQUE)
        limit_deque(w, object);
    else if (type->reader == VT_PYREAD_LIST)
        limit_list(w, object);
    else if (type->spare[VT_PYSPARE_QUEUE])
        limit_queue(w, object, type);
}
