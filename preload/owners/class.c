/* SPDX-License-Identifier: MIT */
/*
 * Finds the class of a C++ object.
 *
 * A polymorphic object begins with a pointer to its vtable, which is preceded by a pointer to type information: the
 * class's mangled name and its base classes. An object is recognized only if its class or a base class has the full
 * name of a known class.
 *
 * Called by walk.c and torch/torch.c.
 */
#define _GNU_SOURCE
#include "owners.h"
#include "memory/memory.h"

#include <string.h>

#define SLOTS      4096u
#define BASES_MOST 12u

static const char *const names[VT_CLASSES] = {
    [VT_CLASS_TENSOR] = "N3c1010TensorImplE",
    [VT_CLASS_STORAGE] = "N3c1011StorageImplE",
    [VT_CLASS_NODE] = "N5torch8autograd4NodeE",
    [VT_CLASS_META] = "N5torch8autograd12AutogradMetaE",
    [VT_CLASS_HOOKS] = "N5torch8autograd20PySavedVariableHooksE",
    [VT_CLASS_TENSOR_PRE_HOOK] = "N5torch8autograd23PyFunctionTensorPreHookE",
    [VT_CLASS_PRE_HOOK] = "N5torch8autograd17PyFunctionPreHookE",
    [VT_CLASS_POST_HOOK] = "N5torch8autograd18PyFunctionPostHookE",
    [VT_CLASS_GRADIENT_HOOK] = "N5torch8autograd32PyFunctionTensorPostAccGradHooksE",
    [VT_CLASS_ANOMALY] = "N5torch8autograd17PyAnomalyMetadataE",
    [VT_CLASS_SCRIPT] = "N3c106ivalue6ObjectE",
    [VT_CLASS_LIST] = "N3c106detail8ListImplE",
    [VT_CLASS_DICT] = "N3c106detail8DictImplE",
    [VT_CLASS_TUPLE] = "N3c106ivalue5TupleE",
};

/* Properties of a vtable. */
struct known {
    uint64_t vtable;
    uintptr_t name; /* the mangled name of its class */
    enum vt_class class_;
    bool derived; /* from `class_` */
    bool named;   /* `name` is a valid class name */
    bool shared;  /* a control block of std::shared_ptr: gcc's library and clang's */
};

/* Reads as much of a mangled name as fits; false: not a name. An asterisk precedes the name of a class in an anonymous
 * namespace. */
static bool read_name(struct vt_owners *w, uintptr_t at, char to[VT_OWNERS_TEXT_MOST + 1]) {
    size_t n = 0;
    char first;
    at += vt_owners_read(w, &first, at, 1) && first == '*';
    for (; n < VT_OWNERS_TEXT_MOST && vt_owners_read(w, to + n, at + n, 1) && to[n]; n++)
        if ((uint8_t)to[n] <= ' ' || (uint8_t)to[n] > '~')
            return false;
    to[n] = 0;
    return n > 0;
}

/* Type information contains the class's name, and then its base class, if it has exactly one. Otherwise any word may
 * follow the name, but it leads to none of the names that we search for. */
static void find_class(struct vt_owners *w, uintptr_t info, struct known *k) {
    char text[VT_OWNERS_TEXT_MOST + 1];
    for (unsigned i = 0; i < BASES_MOST && info && !(info & 7); i++) {
        uintptr_t at = vt_owners_word(w, info + 8);
        if (!at || !read_name(w, at, text))
            break;
        if (i == 0)
            k->name = at;
        for (enum vt_class c = 1; c < VT_CLASSES && !k->class_; c++)
            if (names[c] && strcmp(text, names[c]) == 0)
                k->class_ = c;
        if (k->class_) {
            k->derived = i > 0;
            return;
        }
        info = vt_owners_word(w, info + 16);
    }
}

/* Reads the length that precedes each part of a mangled name. Returns the start of the part. */
static const char *read_length(const char *at, size_t *length) {
    *length = 0;
    for (; *at >= '0' && *at <= '9' && *length < 1000; at++)
        *length = *length * 10 + (size_t)(*at - '0');
    return at;
}

static bool is_class_name(const char *text) {
    size_t n;
    const char *at = read_length(text + (*text == 'N'), &n);
    return n && n <= strlen(at) && (text[0] != 'N' || text[strlen(text) - 1] == 'E');
}

static void find_kind(struct vt_owners *w, struct known *k) {
    char text[VT_OWNERS_TEXT_MOST + 1];
    if (!k->name || !read_name(w, k->name, text))
        return;
    k->named = is_class_name(text);
    k->shared = vt_maps_begins(text, "St15_Sp_counted_ptr") ||
                vt_maps_begins(text, "St19_Sp_counted_deleter") ||
                vt_maps_begins(text, "St23_Sp_counted_ptr_inplace") ||
                vt_maps_begins(text, "NSt3__120__shared_ptr_pointer") ||
                vt_maps_begins(text, "NSt3__120__shared_ptr_emplace");
}

static const struct known *known_of(struct vt_owners *w, uintptr_t object) {
    if (!w->classes && !(w->classes = vt_owners_map(w, SLOTS * sizeof(struct known))))
        return NULL;
    uint64_t vtable = object && !(object & 7) ? vt_owners_word(w, object) : 0;
    if (!vtable || vtable & 7)
        return NULL;
    uint32_t i = (uint32_t)((vtable >> 3) * 0x9e3779b1u) % SLOTS;
    struct known *k = (struct known *)(void *)w->classes + i;
    if (k->vtable == vtable)
        return k;
    /* Replaces an older entry. */
    *k = (struct known){.vtable = vtable};
    find_class(w, vt_owners_word(w, vtable - 8), k);
    find_kind(w, k);
    return k;
}

enum vt_class vt_class_of(struct vt_owners *w, uintptr_t object) {
    const struct known *k = known_of(w, object);
    return k ? k->class_ : VT_CLASS_NONE;
}

bool vt_class_is_derived(struct vt_owners *w, uintptr_t object) {
    const struct known *k = known_of(w, object);
    return k && k->derived;
}

bool vt_class_is(struct vt_owners *w, uintptr_t object, const char *mangled) {
    char text[VT_OWNERS_TEXT_MOST + 1];
    const struct known *k = known_of(w, object);
    return k && k->name && read_name(w, k->name, text) && strcmp(text, mangled) == 0;
}

bool vt_class_is_shared(struct vt_owners *w, uintptr_t object) {
    const struct known *k = known_of(w, object);
    return k && k->shared;
}

uintptr_t vt_class_object(struct vt_owners *w, uintptr_t object) {
    const struct known *k = known_of(w, object);
    return k && k->named ? k->vtable : 0;
}

uint64_t vt_class_key(struct vt_owners *w, uintptr_t object, uint16_t class_) {
    return class_ == VT_CLASS_NODE ? vt_owners_word(w, object) : 1;
}

/* The last part of a nested name: of "N5torch8autograd9generated12MulBackward0E", "MulBackward0". A name with template
 * arguments stays unchanged. */
static uint32_t last_part(const char *mangled, char *to, uint32_t room) {
    const char *at = mangled + (*mangled == 'N'), *part = mangled;
    size_t bytes = strlen(mangled);
    while (*at >= '1' && *at <= '9') {
        size_t n;
        at = read_length(at, &n);
        if (n > strlen(at))
            break;
        part = at;
        bytes = n;
        at += n;
    }
    if (*at && *at != 'E') {
        part = mangled;
        bytes = strlen(mangled);
    }
    bytes = bytes < room ? bytes : room;
    memcpy(to, part, bytes);
    return (uint32_t)bytes;
}

uint32_t vt_class_name(struct vt_owners *w, uint64_t key, uint16_t class_, char *to,
                       uint32_t room) {
    static const char *const plain[VT_CLASSES] = {
        [VT_CLASS_TENSOR] = "Tensor",       [VT_CLASS_STORAGE] = "Storage",
        [VT_CLASS_SCRIPT] = "ScriptObject", [VT_CLASS_LIST] = "List",
        [VT_CLASS_DICT] = "Dict",           [VT_CLASS_TUPLE] = "Tuple"};
    char text[VT_OWNERS_TEXT_MOST + 1];
    if (class_ < VT_CLASSES && plain[class_])
        return last_part(plain[class_], to, room);
    uintptr_t info = vt_owners_word(w, key - 8), name = info ? vt_owners_word(w, info + 8) : 0;
    return name && read_name(w, name, text) ? last_part(text, to, room) : 0;
}
