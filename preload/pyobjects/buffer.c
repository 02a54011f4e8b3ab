/* SPDX-License-Identifier: MIT */
/*
 * Memory of Python objects that may contain addresses of allocations: ctypes values, and elements of NumPy arrays and
 * array.array that are objects or unsigned 64-bit numbers. Other numbers are data, and are not read. Used by objects.c.
 */
#include "pyobjects.h"

#include <string.h>

#define BATCH      64u
#define MOST_ITEMS (1u << 24)
#define MOST_BASES 64u
#define MOST_DEPTH 32

/* Reports an edge by a number, which may be an address. */
static void name_number(struct vt_owners *w, struct vt_edge edge, uint64_t value) {
    edge.as = VT_AS_NUMBER;
    edge.to = value;
    if (value && !vt_py_raw)
        vt_owners_edge(w, &edge);
}

static void name_attribute(struct vt_owners *w, struct vt_owners_text name, uint64_t value) {
    name_number(w, (struct vt_edge){.kind = VT_STEP_ATTRIBUTE, .name = name}, value);
}

static void name_element(struct vt_owners *w, uint64_t index, uint64_t value) {
    name_number(w,
                (struct vt_edge){.kind = VT_STEP_INDEX, .indexed = true, .index = (int64_t)index},
                value);
}

/* Reports edges by consecutive numbers. */
static void name_elements(struct vt_owners *w, uintptr_t at, uint64_t count) {
    for (uint64_t i = 0; i < count && i < MOST_ITEMS && !vt_py_raw && vt_owners_may_continue(w);
         i += BATCH) {
        uint64_t words[BATCH], n = count - i < BATCH ? count - i : BATCH;
        if (!vt_owners_read(w, words, at + i * 8, n * 8))
            return;
        for (uint64_t k = 0; k < n; k++)
            name_element(w, i + k, words[k]);
    }
}

static bool is_a(struct vt_owners *w, uintptr_t type, const char *name) {
    for (unsigned i = 0; type && i < MOST_BASES; i++) {
        if (vt_py_type_is(w, type, name))
            return true;
        type = vt_owners_word(w, type + VT_PYTYPE_BASE);
    }
    return false;
}

struct structure {
    uintptr_t memory;
    uint64_t bytes;
};

/* Reports a structure's field that has the size of an address or contains such fields. */
static void name_field(struct vt_owners *w, uintptr_t key, uintptr_t value, void *data) {
    const struct structure *s = data;
    const struct vt_owners_type *type = vt_owners_type_of(w, value);
    uint64_t place[2];
    char name[VT_OWNERS_TEXT_MOST];
    if (!type ||
        (!vt_py_type_is(w, type->address, "_ctypes.CField") &&
         !vt_py_type_is(w, type->address, "ctypes.CField")) || /* from 3.14 on */
        !vt_owners_read(w, place, value + VT_PYCFIELD_OFFSET, sizeof place))
        return;
    uint64_t offset = place[0], bytes = place[1];
    if (bytes & 7 || bytes > s->bytes || offset > s->bytes - bytes || offset & 7)
        return;
    uint32_t n = vt_py_str(w, key, name, sizeof name);
    for (uint64_t i = 0; i < bytes / 8 && i < MOST_ITEMS; i++)
        name_attribute(w, (struct vt_owners_text){name, n},
                       vt_owners_word(w, s->memory + offset + i * 8));
}

void vt_py_ctypes(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type) {
    uint64_t head[VT_PYCDATA_OBJECTS / 8 + 1];
    if (!vt_owners_read(w, head, object, sizeof head))
        return;
    uintptr_t memory = head[VT_PYCDATA_POINTER / 8];
    uint64_t bytes = head[VT_PYCDATA_BYTES / 8], length = head[VT_PYCDATA_LENGTH / 8];
    vt_py_edge(w, VT_STEP_ATTRIBUTE, VT_OWNERS_LITERAL("_b_base_"), head[VT_PYCDATA_BASE / 8]);
    vt_py_part(w, head[VT_PYCDATA_OBJECTS / 8]);
    if (!memory || bytes < 8 || bytes >> 40)
        return;
    if (is_a(w, type->address, "_ctypes._SimpleCData")) {
        if (bytes == 8)
            name_attribute(w, VT_OWNERS_LITERAL("value"), vt_owners_word(w, memory));
    } else if (is_a(w, type->address, "_ctypes._Pointer")) {
        name_attribute(w, VT_OWNERS_LITERAL("contents"), vt_owners_word(w, memory));
    } else if (is_a(w, type->address, "_ctypes.Array")) {
        if (length && bytes % length == 0 && bytes / length % 8 == 0)
            name_elements(w, memory, bytes / 8);
    } else {
        struct structure s = {memory, bytes};
        uintptr_t base = type->address;
        for (unsigned i = 0; base && i < MOST_BASES; i++) {
            vt_py_each(w, vt_owners_word(w, base + VT_PYTYPE_DICT), name_field, &s);
            base = vt_owners_word(w, base + VT_PYTYPE_BASE);
        }
    }
}

/* An array's elements, found by its strides. */
static void name_strided(struct vt_owners *w, const uint64_t *shape, const uint64_t *strides,
                         int nd, uintptr_t data, bool objects) {
    uint64_t at[MOST_DEPTH] = {0}, total = 1;
    for (int i = 0; i < nd; i++)
        if (__builtin_mul_overflow(total, shape[i], &total) || total > MOST_ITEMS)
            return;
    for (uint64_t n = 0; n < total && vt_owners_may_continue(w); n++) {
        uintptr_t place = data;
        for (int i = 0; i < nd; i++)
            place += at[i] * strides[i];
        uint64_t word = vt_owners_word(w, place);
        if (objects)
            vt_py_edge_at(w, VT_STEP_INDEX, (int64_t)n, word);
        else
            name_element(w, n, word);
        for (int i = nd - 1; i >= 0 && ++at[i] == shape[i]; i--)
            at[i] = 0;
    }
}

void vt_py_numpy(struct vt_owners *w, uintptr_t array) {
    uint64_t shape[MOST_DEPTH], strides[MOST_DEPTH];
    char letter = 0;
    int32_t nd = vt_owners_int(w, array + VT_NUMPY_DIMENSIONS);
    uintptr_t description = vt_owners_word(w, array + VT_NUMPY_DESCRIPTION);
    vt_py_edge(w, VT_STEP_ATTRIBUTE, VT_OWNERS_LITERAL("base"),
               vt_owners_word(w, array + VT_NUMPY_BASE));
    if (nd < 0 || nd > MOST_DEPTH ||
        !vt_owners_read(w, &letter, description + VT_NUMPY_DESCRIPTION_CHAR, 1) ||
        (letter != 'O' && letter != 'L' && letter != 'Q') ||
        (nd &&
         (!vt_owners_read(w, shape, vt_owners_word(w, array + VT_NUMPY_SHAPE), (size_t)nd * 8) ||
          !vt_owners_read(w, strides, vt_owners_word(w, array + VT_NUMPY_STRIDES),
                          (size_t)nd * 8))))
        return;
    name_strided(w, shape, strides, nd, vt_owners_word(w, array + VT_NUMPY_DATA), letter == 'O');
}

void vt_py_array(struct vt_owners *w, uintptr_t array) {
    char letter = 0;
    uint64_t count = vt_owners_word(w, array + VT_PY_SIZE);
    uintptr_t description = vt_owners_word(w, array + VT_PYARRAY_DESCRIPTION);
    /* struct arraydescr begins with the type code. */
    if (vt_owners_read(w, &letter, description, 1) && (letter == 'Q' || letter == 'L'))
        name_elements(w, vt_owners_word(w, array + VT_PYARRAY_ITEMS), count);
}
