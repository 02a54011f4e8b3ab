/* SPDX-License-Identifier: MIT */
/*
 * Public header of state/: the state that follows from the calls so far, so that a wrapper can interpret a call without
 * asking the driver. Live allocations (live.c), contexts (context.c), physical memory and its mappings (vmm.c), pools
 * and streams (pool.c), graphs (graph.c), other processes' memory (share.c), peaks (peak.c), growth
 * (growth_trigger.c), limits (limit.c), open phases (phases.c, declared in phases.h).
 *
 * Invariants: no locks, no malloc: the tables of table.c. A handle whose creation we did not see is unknown, and we
 * assume nothing about it. Uses base/ and log/.
 */
#ifndef VT_PRELOAD_STATE_H
#define VT_PRELOAD_STATE_H

#include "base/base.h"
#include "log/log.h"
#include "phases.h"

/* The call being wrapped; every wrapper begins with VT_CALL, which creates it. */
struct vt_call {
    unsigned hook;
    uint8_t refused;         /* enum vt_fail_flag: we refused, not the driver (limit.c) */
    uint8_t reserved_device; /* the device whose limit holds `reserved` */
    struct vt_caller caller;
    uint64_t reserved; /* bytes reserved under the limit before the call */
};

/* One live allocation, as live.c keeps it. */
struct vt_live {
    uint64_t address, size;
    uint32_t stack;
    uint16_t context, hook;
    uint8_t kind, device;
};

/* live.c: live allocations, a lock-free table (address space, address) -> allocation. `kind`
 * selects the address space (device, host). */
bool vt_live_insert(const struct vt_live *what); /* false: no space; the caller counts it */
/* The same, but replaces a live allocation at the address, whose free we missed. */
bool vt_live_put(const struct vt_live *what, struct vt_live *was, bool *replaced);
bool vt_live_remove(uint64_t address, unsigned kind, struct vt_live *taken); /* false: unknown */
void vt_live_ahead(uint64_t address,
                   unsigned kind); /* Call early: prefetches the slot for an insert or remove. */
bool vt_live_known(uint64_t address, unsigned kind); /* of this kind */
/* Call before the first context ends: from then on, the driver may reuse addresses before we remove their entries. */
void vt_live_contexts_end(void);
/* Removes all allocations that end with a context; returns their bytes. */
uint64_t vt_live_remove_context(unsigned context);
/* Sums the live device memory (driver layer). */
void vt_live_total(uint64_t *bytes, uint64_t *count);
uint64_t vt_live_on_device(int device); /* bytes; -1: all devices */
/* Calls `visit` for every live allocation; `visit` may free it. Walks the whole table. */
void vt_live_each(void (*visit)(const struct vt_live *what, void *data), void *data);
void vt_live_forked(void);

/* peak.c: decides which questions to ask the driver about a device after an allocation; interpose/ask_driver.c asks
 * them. */
enum { VT_ASK_MEMORY = 1 /* free and total bytes */, VT_ASK_DEVICE = 2 /* name, size, UUID */ };
#define VT_PEAK_DEVICES 256u               /* one per value of a record's device byte */
#define VT_PEAK_STEP    (int64_t)(1 << 20) /* bytes that a thread may keep in its part */
extern struct vt_peak_device {
    uint64_t bytes; /* atomic: this process's driver memory, without the threads' parts */
    uint64_t asked; /* atomic: `bytes` at the last question */
    uint32_t known; /* atomic: we have asked for its name and size */
} vt_peak_devices[VT_PEAK_DEVICES];
unsigned vt_peak_allocated_(const struct vt_live *what);
void vt_peak_freed_(const struct vt_live *was);

static inline bool vt_peak_counts(const struct vt_live *what) {
    return vt_kind_layer(what->kind) == VT_LAYER_DRIVER && what->device < VT_DEVICE_UNKNOWN;
}
/* Adds to the thread's part. False: vt_peak_allocated_ or vt_peak_freed_ must be called. */
static inline bool vt_peak_moved(unsigned device, int64_t by) {
    int64_t part = vt_tls.peak_part + by;
    if (VT_UNLIKELY(vt_tls.peak_device != device || part >= VT_PEAK_STEP || part <= -VT_PEAK_STEP))
        return false;
    vt_tls.peak_part = part;
    return true;
}
static inline unsigned vt_peak_allocated(const struct vt_live *what) { /* VT_ASK_* or 0 */
    return !vt_peak_counts(what) || (VT_LIKELY(vt_get(&vt_peak_devices[what->device].known)) &&
                                     vt_peak_moved(what->device, (int64_t)what->size))
               ? 0
               : vt_peak_allocated_(what);
}
static inline void vt_peak_freed(const struct vt_live *was) {
    if (vt_peak_counts(was) && !vt_peak_moved(was->device, -(int64_t)was->size))
        vt_peak_freed_(was);
}
/* Call if the question failed: after the next allocation on the device, everything is asked again. */
void vt_peak_unasked(unsigned device);
void vt_peak_forked(void);

/* growth_trigger.c: sets VT_DUE_GROWTH when memory has grown so much that we should look for its owners. Off until
 * vt_growth_trigger_start. */
extern bool vt_growth_trigger_on;
void vt_growth_trigger_start(void);
void vt_growth_trigger_allocated_(const struct vt_live *what);
void vt_growth_trigger_freed_(uint32_t stack); /* an allocation with this stack was freed */
void vt_growth_trigger_device_(unsigned device, uint64_t bytes); /* the device now holds `bytes` */
/* Call when a snapshot begins. */
void vt_growth_trigger_reset(void);
void vt_growth_trigger_forked(void);

static inline void vt_growth_trigger_allocated(const struct vt_live *what) {
    if (VT_UNLIKELY(vt_growth_trigger_on))
        vt_growth_trigger_allocated_(what);
}
static inline void vt_growth_trigger_freed(uint32_t stack) {
    if (VT_UNLIKELY(vt_growth_trigger_on))
        vt_growth_trigger_freed_(stack);
}
static inline void vt_growth_trigger_device(unsigned device, uint64_t bytes) {
    if (VT_UNLIKELY(vt_growth_trigger_on))
        vt_growth_trigger_device_(device, bytes);
}

/* limit.c: whether VRAMTRACE_LIMIT, VRAMTRACE_INJECT or VRAMTRACE_ALARM is set. If not, the functions below only check
 * this variable. */
extern bool vt_limit_on;
void vt_limit_arm(void); /* called when the options are read */

/* Call before an allocation: reserves device memory under the device's limit. False: do not allocate; call->refused is
 * the reason. */
bool vt_limit_reserve(struct vt_call *call, unsigned kind, unsigned device, uint64_t bytes);

/* Call after the allocation: turns the reservation into live memory, or returns it. `now` NULL: the call failed, or its
 * record was lost. */
void vt_limit_finalize_(const struct vt_call *call, const struct vt_live *now);
/* Call after a free that the driver accepted. */
void vt_limit_freed_(const struct vt_live *was);

static inline void vt_limit_finalize(const struct vt_call *call, const struct vt_live *now) {
    if (VT_UNLIKELY(vt_limit_on))
        vt_limit_finalize_(call, now);
}
static inline void vt_limit_freed(const struct vt_live *was) {
    if (VT_UNLIKELY(vt_limit_on))
        vt_limit_freed_(was);
}

/* Device memory as shown to the program, at most the limit. `total` is the driver's figure, to which a percentage in
 * VRAMTRACE_ALARM refers. */
uint64_t vt_limit_total(unsigned device, uint64_t total);
uint64_t vt_limit_free(unsigned device, uint64_t free_bytes);
void vt_limit_forked(void);

/* context.c: gives numbers to contexts. It follows the program's calls and never asks the driver. */
unsigned vt_context_made(CUcontext handle, unsigned device,
                         bool primary);       /* its number; VT_CONTEXT_UNKNOWN when full */
unsigned vt_context_number(CUcontext handle); /* a new one has no known device */
unsigned vt_context_primary(unsigned device); /* VT_CONTEXT_UNKNOWN: none seen */
/* Call before the driver destroys a context: from then on its handle may name another context. Returns the handle, for
 * vt_context_stays() if the driver refuses. */
uint64_t vt_context_ends(unsigned number);
void vt_context_stays(unsigned number, uint64_t handle); /* the driver refused */
void vt_context_gone(unsigned number);                   /* its number is free for reuse */
unsigned vt_context_device(unsigned number);             /* VT_DEVICE_UNKNOWN: unknown */
void vt_context_set_device(unsigned number, unsigned device);
/* A green context is a part of its device's primary context, which owns the allocations. These functions return and
 * take the primary context's number. */
unsigned vt_context_green_made(CUgreenCtx handle, unsigned device);
unsigned vt_context_green(CUgreenCtx handle);
void vt_context_green_gone(CUgreenCtx handle);
void vt_context_alias(CUcontext handle, unsigned owner); /* `owner` owns allocations made in it */
/* Calls `see` with the handle of each live context. */
void vt_context_each(void (*see)(uint64_t handle, void *data), void *data);
/* The calling thread's stack of current contexts, from the calls that we saw. */
void vt_context_push(CUcontext handle);
void vt_context_pop(void);
void vt_context_replace(CUcontext handle);
/* The current context's number. If we saw none become current: the only existing context's, else VT_CONTEXT_UNKNOWN. */
#define VT_CONTEXT_DEPTH_MAX (sizeof vt_tls.contexts / sizeof vt_tls.contexts[0])
unsigned vt_context_only_(void);
static inline unsigned vt_context_current(void) {
    uint32_t depth = vt_tls.context_depth;
    return VT_LIKELY(depth - 1 < VT_CONTEXT_DEPTH_MAX) ? vt_tls.contexts[depth - 1]
                                                       : vt_context_only_();
}
void vt_context_forked(void);

/* vmm.c: we number physical memory ourselves, because the driver reuses handles. A number is valid while a handle or a
 * mapping refers to the memory. */

/* Returns the number. `kind` 0: not this process's memory (imported, multicast). */
uint64_t vt_vmm_made(uint64_t handle, unsigned kind, unsigned device);
/* Call before a release. False: the handle is unknown, or was already released too often. */
bool vt_vmm_release(uint64_t handle, uint64_t *number);
/* Call after a successful retain, and after a failed release: the handle refers to `number`. */
void vt_vmm_handle(uint64_t handle, uint64_t number);

/* Adds a reference to memory, given by a handle or by an address where it is mapped. Call before the driver's call that
 * adds it. Returns the number; 0: unknown. */
uint64_t vt_vmm_hold_handle(uint64_t handle);
uint64_t vt_vmm_hold_address(uint64_t address);
/* Drops a reference. True when it was the last: `kind` and `device` then describe the memory. */
bool vt_vmm_drop(uint64_t number, unsigned *kind, unsigned *device);

void vt_vmm_mapped(uint64_t address, uint64_t size, uint64_t number);
/* Removes the first mapping between *address and `end`, and moves *address past it. False: none
 * left. Cheap while mappings are adjacent, as they are within one range. */
bool vt_vmm_unmapped(uint64_t *address, uint64_t end, uint64_t *number);
unsigned vt_vmm_device(uint64_t number); /* VT_DEVICE_UNKNOWN: unknown */
void vt_vmm_forked(void);

/* pool.c: the memory of a pool. */
struct vt_pool {
    unsigned kind;   /* VT_KIND_POOL, _POOL_MANAGED, _POOL_HOST */
    unsigned device; /* VT_DEVICE_UNKNOWN: the stream's device */
};

/* The kind and device of memory with this type and location. */
struct vt_pool vt_pool_of(CUmemAllocationType type, const CUmemLocation *location);
void vt_pool_seen(CUmemoryPool pool, struct vt_pool what);
void vt_pool_gone(CUmemoryPool pool);
/* An unknown pool counts as a device pool on the stream's device. */
struct vt_pool vt_pool_find(CUmemoryPool pool);

void vt_pool_stream_made(CUstream stream, unsigned device);
void vt_pool_stream_gone(CUstream stream);
void vt_pool_streams_each(void (*see)(uint64_t handle, void *data), void *data);
/* The device of a stream; for an unknown stream, the current context's device. */
unsigned vt_pool_stream_device(CUstream stream);
void vt_pool_forked(void);

/* graph.c: captures in progress, in all threads. While this is 0, stream operations skip the look-up. */
extern uint32_t vt_graph_captures;
/* Whether any graph ever had memory nodes. While this is 0, launches skip the look-up. */
extern uint32_t vt_graph_any;

/* Graphs launched so far, by all threads, and the number last written to the log. */
extern struct vt_graph_launches { uint64_t count, written; /* atomic */ } vt_graph_launches;

/* Our key for a stream. Each thread's own default stream has a separate key. */
uint64_t vt_graph_stream(CUstream stream, bool per_thread);

void vt_graph_capture_begin(uint64_t stream, CUgraph into);
void vt_graph_capture_end(uint64_t stream, CUgraph graph); /* NULL: the capture failed */
bool vt_graph_captured(uint64_t stream);
void vt_graph_event_recorded(CUevent event, uint64_t stream);
void vt_graph_event_waited(uint64_t stream, CUevent event);

/* A node was added to a graph, or to the graph that a stream is being captured into. */
void vt_graph_alloc_node(CUgraph graph, const struct vt_live *what);
void vt_graph_free_node(CUgraph graph, uint64_t address);
void vt_graph_alloc_captured(uint64_t stream, const struct vt_live *what);
void vt_graph_free_captured(uint64_t stream, uint64_t address);
/* The child graph's nodes move to the parent. */
void vt_graph_child_moved(CUgraph parent, CUgraph child);

void vt_graph_instantiated(CUgraphExec exec, CUgraph graph);
/* When a handle is destroyed, the driver may give the same handle to another thread before the call returns. So we
 * remove its entry before the call, and restore it if the driver refuses. */
struct vt_graph_end {
    uint64_t words[3]; /* the table entry's */
    bool known;
};
struct vt_graph_end vt_graph_exec_ends(CUgraphExec exec);
void vt_graph_exec_ended(CUgraphExec exec, const struct vt_graph_end *end, bool refused);
struct vt_graph_end vt_graph_ends(CUgraph graph);
void vt_graph_ended(CUgraph graph, const struct vt_graph_end *end, bool refused);

/* Calls `alloc` for each allocation that a launch leaves live, and `freed` for each earlier one that the launch
 * frees. */
void vt_graph_launch(CUgraphExec exec, void (*alloc)(const struct vt_live *what, void *data),
                     void (*freed)(uint64_t address, void *data), void *data);
void vt_graph_forked(void);

/* share.c: device addresses of other processes' memory, which cuMemFree also accepts. */
void vt_share_seen(uint64_t address);
bool vt_share_remove(uint64_t address); /* false: not imported */
void vt_share_back(uint64_t address);   /* the free failed */
void vt_share_forked(void);

#endif
