/* SPDX-License-Identifier: MIT */
/*
 * The kind and device of each pool's memory, and the device of each stream. We learn them when the program makes or
 * gets a pool, or makes a stream.
 *
 * Called by wrap_pool.c, wrap_stream.c and wrap_graph.c.
 */
#include "state.h"
#include "base/base.h"

/* CU_MEM_ALLOCATION_TYPE_MANAGED, which headers before CUDA 13 do not define. */
#define TYPE_MANAGED 2

static struct vt_table pools;   /* handle -> kind << 8 | device */
static struct vt_table streams; /* handle -> device */

struct vt_pool vt_pool_of(CUmemAllocationType type, const CUmemLocation *location) {
    bool on_device = location && location->type == CU_MEM_LOCATION_TYPE_DEVICE;
    unsigned device = on_device ? (unsigned)location->id & 0xff : VT_DEVICE_UNKNOWN;
    if ((int)type == TYPE_MANAGED)
        return (struct vt_pool){VT_KIND_POOL_MANAGED, device};
    if (location && !on_device && location->type != CU_MEM_LOCATION_TYPE_INVALID)
        return (struct vt_pool){VT_KIND_POOL_HOST, VT_DEVICE_HOST};
    return (struct vt_pool){VT_KIND_POOL, device};
}

void vt_pool_seen(CUmemoryPool pool, struct vt_pool what) {
    const uint64_t words[VT_TABLE_WORDS] = {(uint64_t)what.kind << 8 | what.device};
    uint64_t was[VT_TABLE_WORDS];
    uint64_t key = (uint64_t)(uintptr_t)pool;
    if (vt_table_find(&pools, key, was) && was[0] == words[0])
        return;
    vt_table_replace(&pools, key, words);
}

void vt_pool_gone(CUmemoryPool pool) {
    uint64_t words[VT_TABLE_WORDS];
    vt_table_take(&pools, (uint64_t)(uintptr_t)pool, words);
}

struct vt_pool vt_pool_find(CUmemoryPool pool) {
    uint64_t words[VT_TABLE_WORDS];
    if (!vt_table_find(&pools, (uint64_t)(uintptr_t)pool, words))
        return (struct vt_pool){VT_KIND_POOL, VT_DEVICE_UNKNOWN};
    return (struct vt_pool){(unsigned)words[0] >> 8, words[0] & 0xff};
}

void vt_pool_stream_made(CUstream stream, unsigned device) {
    const uint64_t words[VT_TABLE_WORDS] = {device};
    vt_table_replace(&streams, (uint64_t)(uintptr_t)stream, words);
}

void vt_pool_stream_gone(CUstream stream) {
    uint64_t words[VT_TABLE_WORDS];
    vt_table_take(&streams, (uint64_t)(uintptr_t)stream, words);
}

struct visitor {
    void (*see)(uint64_t handle, void *data);
    void *data;
};

static bool see_stream(uint64_t handle, const uint64_t words[VT_TABLE_WORDS], void *data) {
    const struct visitor *v = data;
    (void)words;
    v->see(handle, v->data);
    return false;
}

void vt_pool_streams_each(void (*see)(uint64_t handle, void *data), void *data) {
    struct visitor v = {see, data};
    vt_table_each(&streams, see_stream, NULL, &v);
}

/* Handles 0, 1 and 2 are the current context's default streams, which are never in the table. */
unsigned vt_pool_stream_device(CUstream stream) {
    uint64_t words[VT_TABLE_WORDS];
    return vt_table_find(&streams, (uint64_t)(uintptr_t)stream, words)
               ? (unsigned)words[0]
               : vt_context_device(vt_context_current());
}

void vt_pool_forked(void) {
    vt_table_forget(&pools);
    vt_table_forget(&streams);
}
