/* SPDX-License-Identifier: MIT */
/*
 * Python's dicts, and the attributes of instances. An instance has its attributes in a dict, in inline values (3.11 and
 * later, without a dict), or in slots. Used by all files of pyobjects/.
 *
 * A dict has a table of keys. A combined table has each value beside its key. A split table has only the keys, and is
 * shared by a class's instances; each of their dicts has its own array of values.
 */
#include "pyobjects.h"

#include <string.h>

#define BATCH      32u /* entries read at a time */
#define MOST_LOG2  40u
#define MOST_BASES 64u
#define MOST_SLOTS 4096u

/* Kinds of tables from 3.11 on: dk_kind. */
enum { GENERAL, UNICODE, SPLIT };

struct keys {
    uintptr_t entries;
    uint64_t count;
    unsigned entry_words;
    unsigned key, value; /* positions in an entry */
};

static bool read_keys(struct vt_owners *w, uintptr_t table, struct keys *keys) {
    uint64_t head[5];
    if (!table || table & 7 || !vt_owners_read(w, head, table, sizeof head))
        return false;
    *keys = (struct keys){.entry_words = 3, .key = 1, .value = 2};
    uint64_t size, index_bytes;
    if (vt_py->minor < 11) {
        size = head[1];
        if (!size || size & (size - 1) || size >> MOST_LOG2)
            return false;
        keys->count = head[4];
        index_bytes = size * (size <= 0xff ? 1 : size <= 0xffff ? 2 : size <= 0xffffffff ? 4 : 8);
        keys->entries = table + 40 + index_bytes;
    } else {
        unsigned log2 = head[1] & 0xff, log2_index = head[1] >> 8 & 0xff;
        unsigned kind = head[1] >> 16 & 0xff;
        if (log2 > MOST_LOG2 || log2_index > MOST_LOG2 + 3 || log2_index < log2 || kind > SPLIT)
            return false;
        size = 1ull << log2;
        keys->count = head[3];
        keys->entries = table + 32 + (1ull << log2_index);
        if (kind != GENERAL) {
            keys->entry_words = 2;
            keys->key = 0;
            keys->value = 1;
        }
    }
    return keys->count <= size;
}

/* Visits the entries of a table. `values`: a split table's array of values, else 0. */
static void each_entry(struct vt_owners *w, const struct keys *keys, uintptr_t values,
                       vt_pyvisit *visit, void *data) {
    for (uint64_t i = 0; i < keys->count && vt_owners_may_continue(w); i += BATCH) {
        uint64_t entries[BATCH * 3], apart[BATCH];
        uint64_t n = keys->count - i < BATCH ? keys->count - i : BATCH;
        if (!vt_owners_read(w, entries, keys->entries + i * keys->entry_words * 8,
                            n * keys->entry_words * 8) ||
            (values && !vt_owners_read(w, apart, values + i * 8, n * 8))) {
            vt_owners_in_doubt(w);
            return;
        }
        vt_py_expect(values ? apart : entries + keys->value, n, values ? 1 : keys->entry_words);
        for (uint64_t k = 0; k < n; k++) {
            const uint64_t *entry = entries + k * keys->entry_words;
            uintptr_t key = entry[keys->key], value = values ? apart[k] : entry[keys->value];
            if (key && value)
                visit(w, key, value, data);
        }
    }
}

/* Reads the words of a dict, from its start. False: not a dict. */
static bool read_dict(struct vt_owners *w, uintptr_t dict, uint64_t *words) {
    const struct vt_owners_type *type = vt_owners_type_of(w, dict);
    return type && type->flags & VT_PYFLAG_DICT &&
           vt_owners_read(w, words, dict, VT_PYDICT_VALUES + 8);
}

void vt_py_each(struct vt_owners *w, uintptr_t dict, vt_pyvisit *visit, void *data) {
    uint64_t words[VT_PYDICT_VALUES / 8 + 1];
    struct keys keys;
    if (!read_dict(w, dict, words) || !words[VT_PYDICT_USED / 8] ||
        !read_keys(w, words[VT_PYDICT_KEYS / 8], &keys))
        return;
    uintptr_t values = words[VT_PYDICT_VALUES / 8];
    each_entry(w, &keys, values ? values + vt_py->values : 0, visit, data);
}

struct look_up {
    const char *key;
    uintptr_t value;
};

static void compare_key(struct vt_owners *w, uintptr_t key, uintptr_t value, void *data) {
    struct look_up *l = data;
    if (!l->value && vt_py_is(w, key, l->key))
        l->value = value;
}

uintptr_t vt_py_look_up(struct vt_owners *w, uintptr_t dict, const char *key) {
    struct look_up l = {.key = key};
    vt_py_each(w, dict, compare_key, &l);
    return l.value;
}

static void name_entry(struct vt_owners *w, uintptr_t key, uintptr_t value, void *data) {
    vt_py_edge_str(w, *(const enum vt_step *)data, key, value);
}

void vt_py_names(struct vt_owners *w, uintptr_t dict, enum vt_step kind) {
    vt_py_each(w, dict, name_entry, &kind);
}

static void key_entry(struct vt_owners *w, uintptr_t key, uintptr_t value, void *data) {
    vt_py_edge_key(w, data ? 0 : key, value);
    /* A key may hold something as well, but has no name of its own. */
    vt_py_item(w, key, true);
}

void vt_py_keys(struct vt_owners *w, uintptr_t dict) {
    uint64_t used = vt_owners_word(w, dict + VT_PYDICT_USED);
    vt_owners_keys(w, used);
    vt_py_each(w, dict, key_entry, used > VT_OWNERS_KEYS ? w : NULL);
}

/* --- attributes of instances --- */

/* The dict of an instance, or 0. Sets `values` if the instance stores its values without a dict. */
static uintptr_t dict_of(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type,
                         uintptr_t *values) {
    uint64_t before[2]; /* the words at -32 and -24 */
    *values = 0;
    if (vt_py->managed != VT_PYMANAGED_NONE && type->flags & VT_PYFLAG_MANAGED) {
        if (!vt_owners_read(w, before, object - 32, sizeof before))
            return 0;
        switch ((enum vt_pymanaged)vt_py->managed) {
        case VT_PYMANAGED_TWO:
            *values = before[0];
            break;
        case VT_PYMANAGED_TAGGED:
            if (before[1] & 1) {
                *values = before[1] + 1;
                return 0;
            }
            break;
        case VT_PYMANAGED_INLINE: {
            uintptr_t behind = object + (uintptr_t)type->basic_size;
            unsigned char head[4]; /* capacity, size, embedded, valid */
            if (type->flags & VT_PYFLAG_INLINE && vt_owners_read(w, head, behind, sizeof head) &&
                head[3] == 1)
                *values = behind;
            break;
        }
        case VT_PYMANAGED_NONE:
            break;
        }
        return *values ? 0 : before[1];
    }
    int64_t offset = type->dict_offset;
    if (offset < 0) {
        int64_t n = (int64_t)vt_owners_word(w, object + VT_PY_SIZE);
        if (type->flags & VT_PYFLAG_LONG || n > INT32_MAX || n < -INT32_MAX)
            return 0;
        int64_t size = type->basic_size + (n < 0 ? -n : n) * type->item_size;
        offset += (size + 7) & ~(int64_t)7;
    }
    return offset > 0 && !(offset & 7) ? vt_owners_word(w, object + (uintptr_t)offset) : 0;
}

static void each_in_dict(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type,
                         vt_pyvisit *visit, void *data) {
    uintptr_t values, dict = dict_of(w, object, type, &values);
    struct keys keys;
    if (dict && vt_py_raw) {
        vt_py_part(w, dict);
        return;
    }
    if (dict) {
        vt_py_each(w, dict, visit, data);
        return;
    }
    if (!values || !read_keys(w, vt_owners_word(w, type->address + vt_py->cached_keys), &keys))
        return;
    if (vt_py->managed == VT_PYMANAGED_INLINE) {
        unsigned char capacity = 0;
        vt_owners_read(w, &capacity, values, 1);
        if (keys.count > capacity)
            keys.count = capacity;
    }
    each_entry(w, &keys, values + vt_py->values, visit, data);
}

uintptr_t vt_py_attribute(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type,
                          const char *name) {
    struct look_up l = {.key = name};
    each_in_dict(w, object, type, compare_key, &l);
    return l.value;
}

/* vt_pymember.type */
enum { OBJECT = 6, OBJECT_EX = 16 };

/* Members that all objects of a type share with their class or module, or that must not be followed. */
static bool is_barrier(const char *name) {
    static const char *const names[] = {"__dict__",     "__weakref__",   "__objclass__",
                                        "__doc__",      "__module__",    "__globals__",
                                        "__builtins__", "__thisclass__", "__self_class__"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

typedef bool visit_member(struct vt_owners *w, const char *name, int64_t offset, void *data);

/* Visits the members of a type and its bases that refer to objects, until a visit returns false. */
static void each_member(struct vt_owners *w, uintptr_t type, visit_member *visit, void *data) {
    for (unsigned base = 0; type && base < MOST_BASES; base++) {
        uintptr_t members = vt_owners_word(w, type + VT_PYTYPE_MEMBERS);
        int64_t size = (int64_t)vt_owners_word(w, type + VT_PYTYPE_BASICSIZE);
        for (unsigned i = 0; members && i < MOST_SLOTS; i++) {
            struct vt_pymember m;
            char name[128];
            if (!vt_owners_read(w, &m, members + i * sizeof m, sizeof m) || !m.name)
                break;
            uint32_t length = vt_py_string(w, m.name, name, sizeof name);
            if ((m.type != OBJECT && m.type != OBJECT_EX) || m.offset < 16 || m.offset + 8 > size ||
                m.offset & 7 || !length || length == sizeof name - 1 || is_barrier(name))
                continue;
            if (!visit(w, name, m.offset, data))
                return;
        }
        type = vt_owners_word(w, type + VT_PYTYPE_BASE);
    }
}

static bool found_member(struct vt_owners *w, const char *name, int64_t offset, void *data) {
    (void)w, (void)name, (void)offset;
    *(bool *)data = true;
    return false;
}

bool vt_py_has_members(struct vt_owners *w, uintptr_t type) {
    bool found = false;
    each_member(w, type, found_member, &found);
    return found;
}

static bool name_member(struct vt_owners *w, const char *name, int64_t offset, void *data) {
    uintptr_t object = *(const uintptr_t *)data;
    vt_py_edge(w, VT_STEP_ATTRIBUTE, vt_owners_text_of(name),
               vt_owners_word(w, object + (uintptr_t)offset));
    return true;
}

/* The target of a weak proxy; else the object itself. */
static uintptr_t behind_proxy(struct vt_owners *w, uintptr_t object) {
    enum { REFERENT = 16 }; /* PyWeakReference.wr_object, since Python 3.8 */
    static const char *const proxies[] = {"weakproxy", "weakref.ProxyType"};
    char name[32] = "";
    uint32_t n = vt_py_type_name(w, vt_owners_word(w, object + VT_PY_TYPE), name, sizeof name - 1);
    for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++)
        if (n == strlen(proxies[i]) && memcmp(name, proxies[i], n) == 0)
            return vt_owners_word(w, object + REFERENT);
    return object;
}

static struct {
    uintptr_t objects[64];
    unsigned count;
} excluded; /* static: only one snapshot runs at a time */

bool vt_py_is_excluded(uintptr_t object) {
    for (unsigned i = 0; i < excluded.count; i++)
        if (excluded.objects[i] == object)
            return true;
    return false;
}

void vt_py_exclude(uintptr_t registry) {
    if (registry && excluded.count < sizeof excluded.objects / sizeof *excluded.objects &&
        !vt_py_is_excluded(registry))
        excluded.objects[excluded.count++] = registry;
}

void vt_py_forget_excluded(void) {
    excluded.count = 0;
}

/* Numba's OwnedPointer counts the references to its memory itself, and refers to the memory by a weak proxy. The strong
 * reference is in the excluded registry. */
static void name_unless_registry(struct vt_owners *w, uintptr_t key, uintptr_t value, void *data) {
    (void)data;
    if (vt_py_is(w, key, "allocations") || vt_py_is(w, key, "deallocations"))
        vt_py_exclude(value);
    else
        vt_py_edge_str(w, VT_STEP_ATTRIBUTE, key,
                       vt_py_is(w, key, "_mem") ? behind_proxy(w, value) : value);
}

void vt_py_attributes(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type) {
    enum vt_step kind = VT_STEP_ATTRIBUTE;
    if (type->spare[VT_PYSPARE_REGISTRY])
        each_in_dict(w, object, type, name_unless_registry, NULL);
    else
        each_in_dict(w, object, type, name_entry, &kind);
    if (type->spare[VT_PYSPARE_MEMBERS])
        each_member(w, type->address, name_member, &object);
}
