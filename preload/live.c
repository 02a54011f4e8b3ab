/* SPDX-License-Identifier: MIT */
/*
 * What is live now: (address space, address) -> size, device, stack, kind. Lock-free, no malloc,
 * nobody waits.
 *
 * A row of tables, each four times the one before, mapped when the last is full. A slot is found by
 * hash and a bounded probe; its key is EMPTY, GONE (was used), BUSY (being written) or an address.
 * Only one thread can insert or remove an address at a time, because the driver hands out an
 * address once until it is freed, and a free is taken out here before the driver sees it; so a key
 * once published is stable until its own removal.
 *
 * Called by event.c on each event; read by the exit line.
 */
#include "preload.h"
#include "atomic.h"
#include "sys.h"

#include <sys/mman.h>

#define TABLES_MAX  12u
#define FIRST_SLOTS (1u << 14)
#define PROBES      64u

enum { EMPTY = 0, GONE = 1, BUSY = 2 };
#define HOST_SPACE  4ull /* bit 2 of a key: the address is the host's; bit 3: a framework's block  \
                          */
#define BLOCK_SPACE 8ull

struct slot {
    uint64_t key; /* atomic; address << 4 | space | 0, or one of the three above */
    uint64_t size;
    uint32_t stack;
    uint16_t context, hook;
    uint8_t kind, device, zero[6];
};
static_assert(sizeof(struct slot) == 32, "two to a cache line");

static struct slot *tables[TABLES_MAX]; /* atomic */

static uint64_t table_slots(unsigned table) {
    return (uint64_t)FIRST_SLOTS << 2 * table;
}

/* Addresses have at most 57 bits, so four are free for the address space; a bit always set keeps it
 * apart from 0..2. */
static uint64_t key_of(uint64_t address, unsigned kind) {
    enum vt_layer layer = vt_kind_layer(kind);
    return address << 4 |
           (layer == VT_LAYER_HOST        ? HOST_SPACE
            : layer == VT_LAYER_FRAMEWORK ? BLOCK_SPACE
                                          : 0) |
           3;
}

static uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0x9e3779b97f4a7c15ull;
    return x ^ x >> 29;
}

static struct slot *table_get(unsigned table, bool make) {
    struct slot *t = vt_see(&tables[table]);
    if (t || !make)
        return t;
    size_t bytes = table_slots(table) * sizeof(struct slot);
    struct slot *fresh = vt_sys_mmap(bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!fresh)
        return NULL;
    if (vt_claim(&tables[table], NULL, fresh))
        return fresh;
    VT_SYS2(SYS_munmap, fresh, bytes);
    return vt_see(&tables[table]);
}

bool vt_live_insert(const struct vt_live *what) {
    uint64_t key = key_of(what->address, what->kind), hash = mix(key);
    for (unsigned table = 0; table < TABLES_MAX; table++) {
        struct slot *t = table_get(table, true);
        if (!t)
            return false;
        uint64_t mask = table_slots(table) - 1;
        for (unsigned i = 0; i < PROBES; i++) {
            struct slot *s = &t[(hash + i) & mask];
            uint64_t has = vt_get(&s->key);
            if ((has != EMPTY && has != GONE) || !vt_claim(&s->key, has, BUSY))
                continue;
            s->size = what->size;
            s->stack = what->stack;
            s->context = what->context;
            s->hook = what->hook;
            s->kind = what->kind;
            s->device = what->device;
            vt_publish(&s->key, key);
            return true;
        }
    }
    return false;
}

static void read_slot(const struct slot *s, uint64_t key, struct vt_live *out) {
    *out = (struct vt_live){.address = key >> 4,
                            .size = s->size,
                            .stack = s->stack,
                            .context = s->context,
                            .hook = s->hook,
                            .kind = s->kind,
                            .device = s->device};
}

bool vt_live_remove(uint64_t address, unsigned kind, struct vt_live *taken) {
    uint64_t key = key_of(address, kind), hash = mix(key);
    for (unsigned table = 0; table < TABLES_MAX; table++) {
        struct slot *t = table_get(table, false);
        if (!t)
            return false;
        uint64_t mask = table_slots(table) - 1;
        for (unsigned i = 0; i < PROBES; i++) {
            struct slot *s = &t[(hash + i) & mask];
            uint64_t has = vt_see(&s->key);
            if (has == EMPTY)
                break;
            if (has != key)
                continue;
            read_slot(s, key, taken);
            if (vt_claim(&s->key, key, GONE))
                return true;
        }
    }
    return false;
}

/* Calls `visit` for each live one; it may ask for the slot to be taken out by answering true. */
static void each(bool (*visit)(const struct vt_live *what, void *data), void *data) {
    for (unsigned table = 0; table < TABLES_MAX; table++) {
        struct slot *t = table_get(table, false);
        if (!t)
            return;
        for (uint64_t i = 0, n = table_slots(table); i < n; i++) {
            uint64_t key = vt_see(&t[i].key);
            struct vt_live what;
            if (key <= BUSY)
                continue;
            read_slot(&t[i], key, &what);
            if (visit(&what, data))
                vt_claim(&t[i].key, key, GONE);
        }
    }
}

struct context_sum {
    unsigned context;
    uint64_t bytes;
};

static bool in_context(const struct vt_live *what, void *data) {
    struct context_sum *sum = data;
    if (what->context != sum->context || vt_kind_owner(what->kind) != VT_OWNER_CONTEXT)
        return false;
    sum->bytes += what->size;
    return true;
}

uint64_t vt_live_remove_context(unsigned context) {
    struct context_sum sum = {.context = context};
    each(in_context, &sum);
    return sum.bytes;
}

struct total {
    uint64_t bytes, count;
};

static bool on_device(const struct vt_live *what, void *data) {
    struct total *total = data;
    if (vt_kind_layer(what->kind) == VT_LAYER_DRIVER) {
        total->bytes += what->size;
        total->count++;
    }
    return false;
}

void vt_live_total(uint64_t *bytes, uint64_t *count) {
    struct total total = {0, 0};
    each(on_device, &total);
    *bytes = total.bytes;
    *count = total.count;
}

/* The parent's memory is not the child's: start empty. The old tables stay mapped: copies that
 * nobody touches. */
void vt_live_forked(void) {
    for (unsigned table = 0; table < TABLES_MAX; table++)
        vt_put(&tables[table], NULL);
}
