/* SPDX-License-Identifier: MIT */
/*
 * Live allocations: (address space, address) -> size, device, stack, kind, in a table of table.c.
 *
 * Only one thread at a time can insert or remove an address: the driver does not return an address again until it is
 * freed, and a free removes the entry here before the driver's call. So a published key is stable until its own
 * removal. The exception is memory that ends with its context: we remove its entries after the driver has destroyed the
 * context, and by then the driver may have reused the addresses. So from the first context's end on, an insertion
 * replaces an existing entry.
 *
 * Called by event.c on each event; the exit line reads the totals.
 */
#include "state.h"
#include "base/base.h"

static struct vt_table live;
static uint32_t ends; /* atomic: some context may have ended */

#define ADDRESS_BITS 58 /* addresses have at most 57 bits */

/* A key is the address, three bits for its space, and two bits that are always set, so that no key is 0, 1 or 2.
 * Returns 0 for an invalid address, because a program may pass any number to a free. */
static uint64_t key_of(uint64_t address, unsigned kind) {
    return address >> ADDRESS_BITS ? 0 : address << 5 | (uint64_t)vt_kind_space(kind) << 2 | 3;
}

/* Word 0: size. Word 1: stack, context, hook. Word 2: kind, device. */

static void pack(const struct vt_live *what, uint64_t words[VT_TABLE_WORDS]) {
    words[0] = what->size;
    words[1] = (uint64_t)what->stack << 32 | (uint64_t)what->context << 16 | what->hook;
    words[2] = (uint64_t)what->kind << 8 | what->device;
}

static struct vt_live unpack(uint64_t key, const uint64_t words[VT_TABLE_WORDS]) {
    return (struct vt_live){.address = key >> 5,
                            .size = words[0],
                            .stack = (uint32_t)(words[1] >> 32),
                            .context = (uint16_t)(words[1] >> 16),
                            .hook = (uint16_t)words[1],
                            .kind = (uint8_t)(words[2] >> 8),
                            .device = (uint8_t)words[2]};
}

VT_HOT void vt_live_ahead(uint64_t address, unsigned kind) {
    vt_table_ahead(&live, key_of(address, kind));
}

VT_HOT bool vt_live_put(const struct vt_live *what, struct vt_live *was, bool *replaced) {
    uint64_t words[VT_TABLE_WORDS], had[VT_TABLE_WORDS];
    uint64_t key = key_of(what->address, what->kind);
    pack(what, words);
    vt_growth_trigger_allocated(what);
    enum vt_table_put put = vt_table_put(&live, key, words, had);
    *replaced = put == VT_TABLE_REPLACED;
    if (VT_UNLIKELY(*replaced)) {
        *was = unpack(key, had);
        vt_growth_trigger_freed(was->stack);
    }
    return put != VT_TABLE_FULL;
}

VT_HOT bool vt_live_insert(const struct vt_live *what) {
    if (VT_UNLIKELY(vt_get(&ends))) {
        struct vt_live was;
        bool replaced, put = vt_live_put(what, &was, &replaced);
        if (replaced)
            vt_limit_freed(&was);
        return put;
    }
    uint64_t words[VT_TABLE_WORDS];
    pack(what, words);
    vt_growth_trigger_allocated(what);
    return vt_table_insert(&live, key_of(what->address, what->kind), words);
}

void vt_live_contexts_end(void) {
    if (!vt_get(&ends))
        vt_put(&ends, 1);
}

VT_HOT bool vt_live_remove(uint64_t address, unsigned kind, struct vt_live *taken) {
    uint64_t words[VT_TABLE_WORDS], key = key_of(address, kind);
    if (!vt_table_take(&live, key, words))
        return false;
    *taken = unpack(key, words);
    vt_growth_trigger_freed(taken->stack);
    return true;
}

bool vt_live_known(uint64_t address, unsigned kind) {
    uint64_t words[VT_TABLE_WORDS], key = key_of(address, kind);
    return vt_table_find(&live, key, words) && unpack(key, words).kind == kind;
}

struct visitor {
    void (*visit)(const struct vt_live *what, void *data);
    void *data;
};

static bool show(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data) {
    const struct visitor *visitor = data;
    struct vt_live what = unpack(key, words);
    visitor->visit(&what, visitor->data);
    return false;
}

void vt_live_each(void (*visit)(const struct vt_live *what, void *data), void *data) {
    struct visitor visitor = {visit, data};
    vt_table_each(&live, show, NULL, &visitor);
}

struct context_sum {
    unsigned context;
    uint64_t bytes;
};

static bool in_context(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data) {
    const struct context_sum *sum = data;
    struct vt_live what = unpack(key, words);
    return what.context == sum->context && vt_kind_owner(what.kind) == VT_OWNER_CONTEXT;
}

static void ended_with_context(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data) {
    struct context_sum *sum = data;
    struct vt_live what = unpack(key, words);
    sum->bytes += what.size;
    vt_growth_trigger_freed(what.stack);
    vt_limit_freed(&what);
    vt_peak_freed(&what);
}

uint64_t vt_live_remove_context(unsigned context) {
    struct context_sum sum = {.context = context};
    vt_table_each(&live, in_context, ended_with_context, &sum);
    return sum.bytes;
}

struct total {
    int device; /* -1: all */
    uint64_t bytes, count;
};

static bool on_device(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data) {
    struct total *total = data;
    struct vt_live what = unpack(key, words);
    if (vt_kind_layer(what.kind) == VT_LAYER_DRIVER &&
        (total->device < 0 || total->device == what.device)) {
        total->bytes += what.size;
        total->count += what.size > 0;
    }
    return false;
}

void vt_live_total(uint64_t *bytes, uint64_t *count) {
    struct total total = {.device = -1};
    vt_table_each(&live, on_device, NULL, &total);
    *bytes = total.bytes;
    *count = total.count;
}

uint64_t vt_live_on_device(int device) {
    struct total total = {.device = device};
    vt_table_each(&live, on_device, NULL, &total);
    return total.bytes;
}

/* The parent's memory is not the child's. */
void vt_live_forked(void) {
    vt_table_forget(&live);
}
