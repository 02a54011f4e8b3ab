/* SPDX-License-Identifier: MIT */
/*
 * NVTX's memory extension: a pool reports which heap it manages and which regions of the heap it hands out. Regions
 * inside device memory become blocks of the framework layer.
 *
 * Each NVTX extension asks the injected library for one more function. If we replaced another tool, we pass each
 * extension on to it. We also fill the memory extension's slots.
 *
 * A region is recorded if its heap lies in a driver allocation; the heap is on the allocation's device. Heaps in host
 * memory and regions without a heap are ignored.
 *
 * The layout is NVTX's tool interface: module 1, compatibility 0x0102.
 */
#include "nvtx.h"
#include "event.h"
#include "stack/stack.h"
#include "base/base.h"

#define MODULE_MEMORY 1
#define COMPATIBLE    0x0102
#define HEAPS         256u

struct segment {
    size_t id, count;
    intptr_t *slots; /* 0: not filled; 1: no tool */
};

struct module_info {
    uint16_t version, bytes, module, compatible;
    size_t segments_count;
    struct segment *segments;
    void *get_export;
    const void *private_info;
};

struct heap_description {
    uint16_t compatible, bytes;
    uint32_t reserved, usage, type;
    size_t specific_bytes;
    const void *specific;
};

struct range {
    size_t bytes;
    const void *start;
};

/* A batch to register has `heap`. A batch to resize has no `heap`, so its fields move up: see struct resize_batch. */
struct register_batch {
    uint16_t compatible, bytes;
    uint32_t type;
    void *heap;
    size_t count, element_bytes;
    const void *elements; /* struct range each */
    void **handles;       /* out; may be NULL */
};

struct resize_batch {
    uint16_t compatible, bytes;
    uint32_t type;
    size_t count, element_bytes;
    const void *elements;
};

struct unregister_batch {
    uint16_t compatible, bytes;
    uint32_t reference; /* 1: the region's start, 2: its handle */
    size_t count, element_bytes;
    const void *elements; /* void * each */
};

enum { USAGE_SUB_ALLOCATOR = 1, TYPE_VIRTUAL = 1, BY_START = 1, BY_HANDLE = 2 };
#define NO_TOOL ((void *)(intptr_t)-1) /* result of heap_register if there is no tool */

/* The other tool's functions for the slots that we fill, in slot order. */
static struct {
    void *(*heap_register)(void *domain, const struct heap_description *);
    void (*heap_unregister)(void *domain, void *heap);
    void (*heap_reset)(void *domain, void *heap);
    void (*regions_register)(void *domain, const struct register_batch *);
    void (*regions_resize)(void *domain, const struct resize_batch *);
    void (*regions_unregister)(void *domain, const struct unregister_batch *);
} next;
#define SLOTS 6u
static_assert(sizeof next == SLOTS * sizeof(intptr_t), "one pointer a slot");

struct heap {
    uint64_t start; /* atomic; 0: free, BUSY: being written */
    uint64_t end;
    uint8_t device;
};
#define BUSY UINT64_MAX
static struct heap heaps[HEAPS];

/* Handles made by the other tool -> heap's index, region's start. */
static struct vt_table heap_handles, region_handles;

struct search {
    uint64_t address;
    unsigned device;
    bool found;
};

static void holds(const struct vt_live *what, void *data) {
    struct search *s = data;
    enum vt_layer layer = vt_kind_layer(what->kind);
    if ((layer != VT_LAYER_DRIVER && layer != VT_LAYER_MANAGED) ||
        vt_kind_space(what->kind) != VT_SPACE_DEVICE || s->address - what->address >= what->size)
        return;
    s->device = what->device;
    s->found = true;
}

/* A pool registers few heaps, each once, so a walk of the live table is cheap enough. */
static struct heap *new_heap(const struct heap_description *d) {
    const struct range *r = d->specific;
    if (d->compatible != COMPATIBLE || d->bytes < sizeof *d || d->usage != USAGE_SUB_ALLOCATOR ||
        d->type != TYPE_VIRTUAL || !r || d->specific_bytes < sizeof *r || !vt_process_is_armed() ||
        !vt_settings.framework)
        return NULL;
    struct search s = {.address = (uint64_t)(uintptr_t)r->start};
    vt_live_each(holds, &s);
    for (unsigned i = 0; s.found && i < HEAPS; i++) {
        if (vt_see(&heaps[i].start) || !vt_claim(&heaps[i].start, 0, BUSY))
            continue;
        heaps[i].end = s.address + r->bytes;
        heaps[i].device = (uint8_t)s.device;
        vt_publish(&heaps[i].start, s.address);
        return &heaps[i];
    }
    return NULL;
}

static struct heap *heap_of(void *handle) {
    uint64_t words[VT_TABLE_WORDS];
    if ((uintptr_t)handle - (uintptr_t)heaps < sizeof heaps)
        return handle;
    return vt_table_find(&heap_handles, (uint64_t)(uintptr_t)handle, words) ? &heaps[words[0]]
                                                                            : NULL;
}

struct freeing {
    const struct vt_call *call;
    uint64_t start, end;
};

static void free_within(const struct vt_live *what, void *data) {
    const struct freeing *f = data;
    if (what->hook == VT_HOOK_nvtx_memory && what->kind == VT_KIND_BLOCK &&
        what->address >= f->start && what->address < f->end)
        vt_event_freed(f->call, 0, what->address, VT_KIND_BLOCK);
}

static void free_all(const struct vt_call *call, const struct heap *heap) {
    struct freeing f = {call, vt_see(&heap->start), heap->end};
    if (f.start && f.start != BUSY)
        vt_live_each(free_within, &f);
}

static void *heap_register(void *domain, const struct heap_description *d) {
    void *theirs = next.heap_register ? next.heap_register(domain, d) : NULL;
    struct heap *heap = d ? new_heap(d) : NULL;
    if (!next.heap_register)
        return heap ? heap : NO_TOOL;
    const uint64_t words[VT_TABLE_WORDS] = {heap ? (uint64_t)(heap - heaps) : 0};
    if (heap && !vt_table_replace(&heap_handles, (uint64_t)(uintptr_t)theirs, words))
        vt_log_drop(VT_DROP_LIVE);
    return theirs;
}

static void heap_reset(void *domain, void *handle) {
    const struct vt_call call = VT_CALL(nvtx_memory);
    struct heap *heap = heap_of(handle);
    if (heap)
        free_all(&call, heap);
    if (next.heap_reset)
        next.heap_reset(domain, handle);
}

static void heap_unregister(void *domain, void *handle) {
    const struct vt_call call = VT_CALL(nvtx_memory);
    uint64_t words[VT_TABLE_WORDS];
    struct heap *heap = heap_of(handle);
    if (heap) {
        free_all(&call, heap);
        vt_table_take(&heap_handles, (uint64_t)(uintptr_t)handle, words);
        vt_publish(&heap->start, 0);
    }
    if (next.heap_unregister)
        next.heap_unregister(domain, handle);
}

static void region_allocated(const struct vt_call *call, unsigned device, const struct range *r) {
    uint64_t address = (uint64_t)(uintptr_t)r->start;
    if (!address || !r->bytes)
        return;
    /* The region may be registered already, and is then replaced. */
    if (vt_live_known(address, VT_KIND_BLOCK))
        vt_event_freed(call, 0, address, VT_KIND_BLOCK);
    vt_event_allocated(call, 0,
                       (struct vt_live){.address = address,
                                        .size = r->bytes,
                                        .context = VT_CONTEXT_UNKNOWN,
                                        .hook = VT_HOOK_nvtx_memory,
                                        .kind = VT_KIND_BLOCK,
                                        .device = (uint8_t)device});
}

static const void *element(const void *elements, size_t bytes, size_t i) {
    return (const char *)elements + i * bytes;
}

static void regions_register(void *domain, const struct register_batch *b) {
    const struct vt_call call = VT_CALL(nvtx_memory);
    if (next.regions_register)
        next.regions_register(domain, b);
    struct heap *heap = b && b->compatible == COMPATIBLE ? heap_of(b->heap) : NULL;
    if (!heap || b->type != TYPE_VIRTUAL || b->element_bytes < sizeof(struct range))
        return;
    for (size_t i = 0; i < b->count; i++) {
        const struct range *r = element(b->elements, b->element_bytes, i);
        region_allocated(&call, heap->device, r);
        if (!b->handles)
            continue;
        const uint64_t words[VT_TABLE_WORDS] = {(uint64_t)(uintptr_t)r->start};
        if (!next.regions_register) /* the start serves as the handle */
            __extension__ b->handles[i] = (void *)(uintptr_t)r->start;
        else if (!vt_table_replace(&region_handles, (uint64_t)(uintptr_t)b->handles[i], words))
            vt_log_drop(VT_DROP_LIVE);
    }
}

static void regions_resize(void *domain, const struct resize_batch *b) {
    const struct vt_call call = VT_CALL(nvtx_memory);
    if (next.regions_resize)
        next.regions_resize(domain, b);
    if (!b || b->compatible != COMPATIBLE || b->type != TYPE_VIRTUAL ||
        b->element_bytes < sizeof(struct range))
        return;
    for (size_t i = 0; i < b->count; i++) {
        const struct range *r = element(b->elements, b->element_bytes, i);
        uint64_t address = (uint64_t)(uintptr_t)r->start;
        for (unsigned h = 0; h < HEAPS; h++) {
            uint64_t start = vt_see(&heaps[h].start);
            if (start && start != BUSY && address >= start && address < heaps[h].end &&
                vt_live_known(address, VT_KIND_BLOCK)) {
                region_allocated(&call, heaps[h].device, r);
                break;
            }
        }
    }
}

static void regions_unregister(void *domain, const struct unregister_batch *b) {
    const struct vt_call call = VT_CALL(nvtx_memory);
    size_t count =
        b && b->compatible == COMPATIBLE && b->element_bytes >= sizeof(void *) ? b->count : 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t words[VT_TABLE_WORDS];
        uint64_t address = *(const uint64_t *)element(b->elements, b->element_bytes, i);
        if (b->reference == BY_HANDLE && next.regions_register)
            address = vt_table_take(&region_handles, address, words) ? words[0] : 0;
        else if (b->reference != BY_START && b->reference != BY_HANDLE)
            address = 0;
        if (address && vt_live_known(address, VT_KIND_BLOCK))
            vt_event_freed(&call, 0, address, VT_KIND_BLOCK);
    }
    if (next.regions_unregister)
        next.regions_unregister(domain, b);
}

/* Each extension of each copy of NVTX calls this at its first use. A result of 0 is a failure: the program then treats
 * the whole domain as unobserved and reports no more ranges. So for an extension that we do not support, we return 1
 * and fill no slot. */
VT_EXPORT int InitializeInjectionNvtxExtension(struct module_info *info) {
    const intptr_t functions[SLOTS] = {(intptr_t)heap_register,  (intptr_t)heap_unregister,
                                       (intptr_t)heap_reset,     (intptr_t)regions_register,
                                       (intptr_t)regions_resize, (intptr_t)regions_unregister};
    const char *tool = vt_settings_env("VRAMTRACE_NVTX_NEXT");
    int (*theirs)(struct module_info *) = __extension__(int (*)(struct module_info *))
        vt_nvtx_next("InitializeInjectionNvtxExtension");
    bool attached = theirs && theirs(info);
    if (!vt_nvtx_wanted())
        return theirs ? attached : tool && *tool;
    if (!info || info->module != MODULE_MEMORY || info->compatible != COMPATIBLE ||
        info->bytes < sizeof *info || !info->segments_count || !info->segments ||
        info->segments->count < SLOTS || !info->segments->slots)
        return 1;
    for (size_t i = 0; i < SLOTS; i++) {
        intptr_t *slot = &info->segments->slots[i], *other = (intptr_t *)&next + i;
        bool filled = attached && *slot != 0 && *slot != 1;
        /* As in nvtx.c: if a tool's functions differ between copies of NVTX, it keeps the slot. */
        if (filled && !vt_claim(other, 0, *slot) && vt_get(other) != *slot)
            continue;
        *slot = functions[i];
    }
    return 1;
}
