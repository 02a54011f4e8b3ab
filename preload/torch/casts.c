/* SPDX-License-Identifier: MIT */
/*
 * Finds the cache of torch.autocast. While autocast is entered, the cache has the weights in the lower precision, in a
 * static variable of libtorch_cpu.so. No exported symbol leads to it, so we search the library's data for a table of
 * this shape: a ska::flat_hash_map (c10/util/flat_hash_map.h) from a weight's address to a weak reference to the
 * weight, and its cast (aten/src/ATen/autocast_mode.cpp, of PyTorch 2.6 to 2.15).
 *
 * Called by native/native.c.
 */
#define _GNU_SOURCE
#include "torch.h"

#define SLOTS_MOST (1u << 20)

struct table {
    uintptr_t entries;
    uint64_t last_slot;
    uint8_t shift;   /* shifts a hash to its slot: see is_table */
    uint8_t lookups; /* number of entries after the last slot; the last one is an end mark */
    uint8_t unused[2];
    uint32_t load; /* a float */
    uint64_t count;
};
_Static_assert(sizeof(struct table) == 32, "as sherwood_v3_table");

struct entry {
    int8_t distance; /* negative: empty */
    uintptr_t key, value[2];
};

static bool is_table(const struct table *t) {
    const uint32_t half = 0x3f000000; /* .5f */
    uint64_t slots = t->last_slot + 1;
    return t->load == half && t->entries && !(t->entries & 7) && slots >= 2 &&
           slots <= SLOTS_MOST && !(slots & t->last_slot) &&
           t->shift == 64 - __builtin_ctzll(slots) && t->lookups >= 1 && t->lookups < 64 &&
           t->count && t->count <= slots;
}

/* The cast of an entry's weight; 0: not such an entry. The order of a std::tuple's members depends on the library. */
static uintptr_t cast_in(struct vt_owners *w, const struct entry *e) {
    unsigned cast = e->value[0] == e->key;
    return e->value[!cast] == e->key && e->value[cast] != e->key &&
                   vt_class_of(w, e->key) == VT_CLASS_TENSOR &&
                   vt_class_of(w, e->value[cast]) == VT_CLASS_TENSOR
               ? e->value[cast]
               : 0;
}

/* Checks the entries; `emit`: also reports them. False: they do not match the table. */
static bool read_entries(struct vt_owners *w, const struct table *t, bool emit) {
    uint64_t count = 0;
    struct entry e;
    for (uint64_t i = 0; i < t->last_slot + t->lookups && vt_owners_may_continue(w); i++) {
        if (!vt_owners_read(w, &e, t->entries + i * sizeof e, sizeof e))
            return false;
        uintptr_t cast = e.distance < 0 ? 0 : cast_in(w, &e);
        if (e.distance >= 0 && (!cast || ++count > t->count))
            return false;
        if (emit)
            vt_torch_tensor(w, (struct vt_edge){.kind = VT_STEP_CLASS}, cast);
    }
    return count == t->count;
}

static void look_for_table(struct vt_owners *w, uintptr_t at, const struct table *t) {
    if (is_table(t) && read_entries(w, t, false) &&
        vt_owners_root(w,
                       &(struct vt_root){.level = w->level, .kind = VT_STEP_GLOBAL, .address = at}))
        read_entries(w, t, true);
}

void vt_torch_casts(struct vt_owners *w, const struct vt_scan *scan) {
    enum { WORDS = 512, TABLE = sizeof(struct table) / 8 };
    static uint64_t words[WORDS]; /* static: the stack may be small */
    for (uint32_t i = 0; i < scan->module_count; i++) {
        const struct vt_module_data *m = &scan->modules[i];
        for (uintptr_t at = m->start; m->torch && at + sizeof(struct table) <= m->end;
             at += (WORDS - TABLE + 1) * 8) {
            size_t n = (m->end - at) / 8 < WORDS ? (m->end - at) / 8 : WORDS;
            w->work += n / 16;
            if (!vt_owners_may_continue(w) || !vt_owners_read(w, words, at, n * 8))
                continue;
            for (size_t k = 0; k + TABLE <= n; k++)
                look_for_table(w, at + 8 * k, (const struct table *)(const void *)(words + k));
        }
    }
}
