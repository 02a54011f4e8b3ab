/* SPDX-License-Identifier: MIT */
/*
 * Reads PyTorch's objects that Python sees through pybind11: DistributedDataParallel's reducer holds buckets of
 * gradients; torch.jit modules hold parameters; running collectives hold tensors.
 *
 * A Python object of pybind11 has the address of its C++ object after the header (struct instance in
 * pybind11/detail/common.h, the same from 2.2 on). Objects of non-polymorphic C++ classes lack a run-time class: the
 * Python type identifies them.
 *
 * Members are found by their expected contents, because they have moved between versions: PyTorch 2.6 to 2.15
 * (c10d/reducer.hpp, ATen/core/ivalue_inl.h, ATen/core/class_type.h). If nothing matches, nothing is reported.
 *
 * Called by torch.c.
 */
#define _GNU_SOURCE
#include "torch.h"

#include <string.h>

/* The C++ object that a pybind11 object owns, alone or shared; 0: none. Instances with several bound base classes or a
 * large holder have another layout: 0. */
static uintptr_t bound_object(struct vt_owners *w, uintptr_t object) {
    enum { VALUE = 16, FLAGS = 48 };                /* value, holder (two words), weak references */
    enum { SIMPLE = 1 << 1, HOLDER_MADE = 1 << 2 }; /* bit fields, from the lowest bit */
    uint64_t flags = vt_owners_word(w, object + FLAGS);
    return (flags & (SIMPLE | HOLDER_MADE)) == (SIMPLE | HOLDER_MADE)
               ? vt_owners_word(w, object + VALUE)
               : 0;
}

struct vector {
    uintptr_t first, end, room;
};

/* Reads three words that may be a std::vector with at least one element of this size. */
static bool read_vector(struct vt_owners *w, uintptr_t at, uint64_t bytes, uint64_t most,
                        struct vector *v) {
    return vt_owners_read(w, v, at, sizeof *v) && v->first && !(v->first & 7) &&
           v->end > v->first && v->room >= v->end && (v->end - v->first) % bytes == 0 &&
           (v->end - v->first) / bytes <= most;
}

/* --- c10d::Reducer --- */

#define TENSORS_MOST 65536u
#define BUCKETS_MOST 4096u

/* The number of tensors in a vector; 0: none, or not such a vector. */
static uint64_t count_tensors(struct vt_owners *w, uintptr_t at) {
    struct vector v;
    if (!read_vector(w, at, 8, TENSORS_MOST, &v))
        return 0;
    for (uintptr_t p = v.first; p < v.end; p += 8)
        if (vt_class_of(w, vt_owners_word(w, p)) != VT_CLASS_TENSOR)
            return 0;
    return (v.end - v.first) / 8;
}

/* A bucket begins with its flat gradients, their views, a communication hook's views, and as many parameters as views.
 * A sparse gradient has no views. A gradient that does not exist yet is the undefined tensor. */
enum {
    GRADIENTS = 0,
    VIEWS_IN = 8,
    VIEWS_OUT = 32,
    VARIABLES = 56,
    BUCKET_LEAST = 176,
    BUCKET_MOST = 512
};

static bool is_bucket(struct vt_owners *w, uintptr_t at) {
    uint64_t n = count_tensors(w, at + VARIABLES), in = count_tensors(w, at + VIEWS_IN),
             out = count_tensors(w, at + VIEWS_OUT);
    return n && (!in || in == n) && out == in &&
           vt_class_of(w, vt_owners_word(w, at + GRADIENTS)) == VT_CLASS_TENSOR;
}

/* The size of the buckets in a vector; 0: none. */
static uint64_t bucket_bytes(struct vt_owners *w, const struct vector *v) {
    if (!is_bucket(w, v->first))
        return 0;
    for (uint64_t bytes = BUCKET_LEAST; bytes <= BUCKET_MOST; bytes += 8) {
        uintptr_t at = v->first;
        if ((v->end - v->first) % bytes)
            continue;
        while (at < v->end && is_bucket(w, at))
            at += bytes;
        if (at == v->end)
            return bytes;
    }
    return 0;
}

static void name_tensors(struct vt_owners *w, uintptr_t vector, uint16_t roles) {
    struct vector v;
    if (!count_tensors(w, vector) || !vt_owners_read(w, &v, vector, sizeof v))
        return;
    for (uintptr_t p = v.first; p < v.end; p += 8)
        vt_torch_part(w, vt_owners_word(w, p), VT_CLASS_TENSOR, roles);
}

static void read_reducer(struct vt_owners *w, uintptr_t reducer) {
    uintptr_t end = vt_torch_block_end(w, reducer);
    struct vector v;
    for (uintptr_t at = reducer; at + sizeof v <= end && vt_owners_may_continue(w); at += 8) {
        uint64_t bytes =
            read_vector(w, at, 8, BUCKETS_MOST * BUCKET_MOST / 8, &v) ? bucket_bytes(w, &v) : 0;
        if (!bytes)
            continue;
        for (uintptr_t bucket = v.first; bucket < v.end; bucket += bytes) {
            vt_torch_part(w, vt_owners_word(w, bucket + GRADIENTS), VT_CLASS_TENSOR,
                          VT_ROLE_GRADIENT);
            name_tensors(w, bucket + VIEWS_IN, VT_ROLE_GRADIENT);
            name_tensors(w, bucket + VIEWS_OUT, VT_ROLE_GRADIENT);
        }
        return;
    }
}

/* --- values of torch.jit --- */

/* A c10::IValue is a pointer or a number, and a tag. The pointer's object has a class, and begins with a vtable and
 * counts (in all one or two words). */
#define VALUE_BYTES  16u
#define COUNTS_LEAST 16u
#define COUNTS_MOST  24u
#define VALUES_MOST  (1u << 24)

/* Reports the edge to a value's object, if the object can hold anything. */
static void name_value(struct vt_owners *w, struct vt_edge edge, uintptr_t value) {
    enum vt_class class_ = vt_class_of(w, value);
    if (class_ != VT_CLASS_TENSOR && (class_ < VT_CLASS_SCRIPT || class_ > VT_CLASS_TUPLE))
        return;
    edge.as = VT_AS_CLASS;
    edge.to = value;
    edge.class_ = (uint16_t)class_;
    vt_owners_edge(w, &edge);
}

static void name_values(struct vt_owners *w, uintptr_t at, uint64_t count) {
    for (uint64_t i = 0; i < count && vt_owners_may_continue(w); i++)
        name_value(w, (struct vt_edge){.kind = VT_STEP_INDEX, .indexed = true, .index = (int64_t)i},
                   vt_owners_word(w, at + i * VALUE_BYTES));
}

void vt_torch_list(struct vt_owners *w, uintptr_t list) {
    struct vector v;
    for (uintptr_t at = list + COUNTS_LEAST; at <= list + COUNTS_MOST; at += 8)
        if (read_vector(w, at, VALUE_BYTES, VALUES_MOST, &v)) {
            name_values(w, v.first, (v.end - v.first) / VALUE_BYTES);
            return;
        }
}

/* Whether `count` consecutive values are here, judged by their tags. */
static bool are_values(struct vt_owners *w, uintptr_t at, uint64_t count) {
    enum { TAG = 8, TAGS = 64 };
    uint64_t i = 0;
    while (i < count && (uint32_t)vt_owners_word(w, at + i * VALUE_BYTES + TAG) < TAGS)
        i++;
    return i == count;
}

/* Up to three values are inline, after their number. More values are in a vector, after a 0. */
void vt_torch_tuple(struct vt_owners *w, uintptr_t tuple) {
    enum { INSIDE = 3 };
    struct vector v;
    for (uintptr_t at = tuple + COUNTS_LEAST; at <= tuple + COUNTS_MOST; at += 8) {
        uint64_t count = vt_owners_word(w, at);
        if (count && count <= INSIDE && are_values(w, at + 8, count)) {
            name_values(w, at + 8, count);
            return;
        }
        if (!count && read_vector(w, at + 8, VALUE_BYTES, VALUES_MOST, &v)) {
            name_values(w, v.first, (v.end - v.first) / VALUE_BYTES);
            return;
        }
    }
}

/* The name of a str key: a ConstantString, which contains a std::string. */
static struct vt_owners_text key_of(struct vt_owners *w, uintptr_t key,
                                    char to[VT_OWNERS_TEXT_MOST]) {
    uint64_t text[2];
    for (uintptr_t at = key + COUNTS_LEAST; at <= key + COUNTS_MOST; at += 8)
        if (vt_class_is(w, key, "N3c106ivalue14ConstantStringE") &&
            vt_owners_read(w, text, at, sizeof text) && text[1] <= VT_OWNERS_TEXT_MOST - 2 &&
            vt_owners_read(w, to + 1, text[0], text[1])) {
            to[0] = to[text[1] + 1] = '\'';
            return (struct vt_owners_text){to, (uint32_t)text[1] + 2};
        }
    return (struct vt_owners_text){0};
}

/* The entries of a hash table are a circular list in insertion order. The list's head is not an entry; the table has
 * the head's address twice (an owning and a plain pointer). An entry has a key, a value, and before them a byte whose
 * sign shows whether it is in use. */
void vt_torch_script_dict(struct vt_owners *w, uintptr_t dict) {
    enum { BYTES = 96, USED = 2, KEY = 3, VALUE = 5, WORDS = 6 };
    uintptr_t entry[WORDS], first = 0;
    for (uintptr_t at = dict + COUNTS_LEAST; at < dict + BYTES && !first; at += 8) {
        uintptr_t to = vt_owners_word(w, at);
        if (to && !(to & 7) && vt_owners_word(w, at + 8) == to &&
            vt_owners_word(w, vt_owners_word(w, to) + 8) == to)
            first = to;
    }
    uintptr_t before = first, at = first ? vt_owners_word(w, first + 8) : 0;
    for (uint64_t i = 0; at && at != first && i < VALUES_MOST && vt_owners_may_continue(w); i++) {
        char name[VT_OWNERS_TEXT_MOST];
        if (!vt_owners_read(w, entry, at, sizeof entry) || entry[0] != before ||
            (int8_t)entry[USED] < 0)
            return;
        name_value(w, (struct vt_edge){.kind = VT_STEP_KEY, .name = key_of(w, entry[KEY], name)},
                   entry[VALUE]);
        before = at;
        at = entry[1];
    }
}

/* --- modules of torch.jit --- */

#define SLOTS_MOST 65536u

/* An attribute of a class: its kind, its type (two words), and its name (a std::string). */
struct attribute {
    uint32_t kind, unused;
    uintptr_t type[2];
    uintptr_t name;
    uint64_t name_bytes;
    uint64_t short_name[2];
};
enum { BUFFER, PARAMETER, REGULAR };

/* Reads an attribute; puts its name into `to` (of VT_OWNERS_TEXT_MOST bytes). */
static bool read_attribute(struct vt_owners *w, uintptr_t at, struct attribute *a, char *to) {
    if (!vt_owners_read(w, a, at, sizeof *a) || a->kind > REGULAR || !a->name_bytes ||
        a->name_bytes > VT_OWNERS_TEXT_MOST || !vt_class_object(w, a->type[0]) ||
        !vt_owners_read(w, to, a->name, a->name_bytes))
        return false;
    for (uint64_t i = 0; i < a->name_bytes; i++)
        if ((uint8_t)to[i] <= ' ')
            return false;
    return a->name_bytes > 15 || a->name == at + offsetof(struct attribute, short_name);
}

/* Finds a class's attributes, as many as its objects have slots. */
static bool find_attributes(struct vt_owners *w, uintptr_t class_, uint64_t count,
                            struct vector *v) {
    enum { MOST = 640 }; /* at least a ClassType's size in bytes */
    struct attribute a;
    char name[VT_OWNERS_TEXT_MOST];
    for (uintptr_t at = class_ + 8; at < class_ + MOST; at += 8) {
        if (!read_vector(w, at, sizeof a, SLOTS_MOST, v) || (v->end - v->first) / sizeof a != count)
            continue;
        uintptr_t p = v->first;
        while (p < v->end && read_attribute(w, p, &a, name))
            p += sizeof a;
        if (p == v->end)
            return true;
    }
    return false;
}

/* Reports a slot, which is an IValue. An attribute with a numeric name is an item of a list of modules. */
static void name_slot(struct vt_owners *w, uintptr_t value, const struct attribute *a,
                      const char *name) {
    int64_t index = 0;
    uint64_t digits = 0;
    while (digits < a->name_bytes && digits < 9 && name[digits] >= '0' && name[digits] <= '9')
        index = index * 10 + name[digits++] - '0';
    bool indexed = digits == a->name_bytes;
    uint16_t role = vt_class_of(w, value) == VT_CLASS_SCRIPT ? VT_ROLE_MODULE
                    : a->kind == PARAMETER                   ? VT_ROLE_PARAMETER
                    : a->kind == BUFFER                      ? VT_ROLE_BUFFER
                                                             : 0;
    name_value(w,
               (struct vt_edge){.kind = indexed ? VT_STEP_INDEX : VT_STEP_ATTRIBUTE,
                                .name = {name, indexed ? 0 : (uint32_t)a->name_bytes},
                                .indexed = indexed,
                                .index = index,
                                .roles = role,
                                .apart = true},
               value);
}

/* The layout: a vtable; counts (in all one or two words); the class's owner, as a strong and a weak std::optional of
 * two words each; the class, a std::shared_ptr; and the slots. */
void vt_torch_script(struct vt_owners *w, uintptr_t object) {
    enum { CLASS = 64, SLOT = 16 };
    struct vector slots, attributes;
    struct attribute a;
    char name[VT_OWNERS_TEXT_MOST];
    for (uintptr_t at = object + CLASS; at <= object + CLASS + 8; at += 8) {
        uintptr_t class_ = vt_owners_word(w, at);
        if (!vt_class_is(w, class_, "N3c109ClassTypeE") ||
            !read_vector(w, at + 16, SLOT, SLOTS_MOST, &slots))
            continue;
        uint64_t count = (slots.end - slots.first) / SLOT;
        if (!find_attributes(w, class_, count, &attributes))
            return;
        for (uint64_t i = 0; i < count && vt_owners_may_continue(w); i++)
            if (read_attribute(w, attributes.first + i * sizeof a, &a, name))
                name_slot(w, vt_owners_word(w, slots.first + i * SLOT), &a, name);
        return;
    }
}

/* torch::jit::Module, which consists of a pointer. */
static void read_script_module(struct vt_owners *w, uintptr_t module) {
    uintptr_t object = vt_owners_word(w, module);
    if (vt_class_of(w, object) == VT_CLASS_SCRIPT)
        vt_torch_part(w, object, VT_CLASS_SCRIPT, VT_ROLE_MODULE);
}

/* torch::jit::ScriptList and ScriptDict, which consist of a value. */
static void read_script_value(struct vt_owners *w, uintptr_t value) {
    name_value(w, (struct vt_edge){.kind = VT_STEP_NONE}, vt_owners_word(w, value));
}

/* --- communication --- */

/* Reads a c10d::Work. Each backend has its own classes, with vectors of the tensors that it sends and receives. With
 * several receivers, they are vectors of vectors. */
static void read_work(struct vt_owners *w, uintptr_t work) {
    uintptr_t end = vt_class_object(w, work) ? vt_torch_block_end(w, work) : 0;
    struct vector v;
    for (uintptr_t at = work + 8; at + sizeof v <= end && vt_owners_may_continue(w); at += 8) {
        name_tensors(w, at, 0);
        if (!read_vector(w, at, sizeof v, TENSORS_MOST, &v))
            continue;
        uintptr_t p = v.first;
        while (p < v.end && count_tensors(w, p))
            p += sizeof v;
        for (uintptr_t q = v.first; p == v.end && q < p; q += sizeof v)
            name_tensors(w, q, 0);
    }
}

/* A PythonFutureWrapper has std::enable_shared_from_this, and the ivalue::Future. The future's value is a tensor, or
 * the holder of a Python object. The future's storages are weak references. */
static void read_future(struct vt_owners *w, uintptr_t wrapper) {
    enum { WRAPPED = 16, COUNTS = 8 };
    uintptr_t future = vt_owners_word(w, wrapper + WRAPPED);
    uintptr_t end =
        vt_class_is(w, future, "N3c106ivalue6FutureE") ? vt_torch_block_end(w, future) : 0;
    for (uintptr_t at = future + 8; at + 8 <= end; at += 8) {
        uintptr_t value = vt_owners_word(w, at);
        name_value(w, (struct vt_edge){.kind = VT_STEP_NONE}, value);
        if (!vt_class_is(w, value, "N3c106ivalue22ConcretePyObjectHolderE"))
            continue;
        uintptr_t python = vt_owners_word(w, value + 8 + COUNTS);
        python = vt_owners_type_of(w, python) ? python : vt_owners_word(w, value + 16 + COUNTS);
        vt_owners_edge(w, &(struct vt_edge){.as = VT_AS_PYTHON, .to = python});
    }
}

static const struct {
    const char *name; /* full name of the Python type */
    void (*read)(struct vt_owners *w, uintptr_t value);
} known[] = {
    {"torch._C._distributed_c10d.Reducer", read_reducer},
    {"torch._C.ScriptModule", read_script_module},
    {"torch._C.ScriptList", read_script_value},
    {"torch._C.ScriptDict", read_script_value},
    {"torch._C._distributed_c10d.Work", read_work},
    {"torch._C.Future", read_future},
};

const char *vt_torch_bound_name(unsigned number) {
    return number < sizeof known / sizeof *known ? known[number].name : NULL;
}

void vt_torch_bound(struct vt_owners *w, uintptr_t object, unsigned number) {
    uintptr_t value = bound_object(w, object);
    if (value)
        known[number].read(w, value);
}
