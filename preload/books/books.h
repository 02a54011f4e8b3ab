/* SPDX-License-Identifier: MIT */
/*
 * The door of books/: what the calls so far add up to, so that a wrapper can tell what a call means
 * without asking the driver. What is live (live.c), contexts (context.c), physical memory and its
 * mappings (vmm.c), pools and streams (pool.c), graphs (graph.c), memory of other processes
 * (share.c), limits (limit.c), open phases (phases.c, declared in phases.h).
 *
 * Law: no locks, no malloc: table.c's tables. A handle that was not seen made is unknown, and then
 * nothing is claimed about it. Uses base/ and log/.
 */
#ifndef VT_PRELOAD_BOOKS_H
#define VT_PRELOAD_BOOKS_H

#include "base/base.h"
#include "log/log.h"
#include "phases.h"

/* Who called us. Made by VT_CALL at the top of each wrapper. */
struct vt_call {
    unsigned hook;
    uint8_t refused;         /* enum vt_fail_flag: we answer in the driver's place (limit.c) */
    uint8_t reserved_device; /* where `reserved` was taken from */
    void *caller;            /* return address: where the caller's stack starts */
    uint64_t reserved;       /* bytes taken from the limit beforehand */
};

/* One live allocation, as live.c keeps it. */
struct vt_live {
    uint64_t address, size;
    uint32_t stack;
    uint16_t context, hook;
    uint8_t kind, device;
};

/* --- live.c --- */

/* What is live now: a lock-free table (address space, address) -> what it is. A kind stands for its
 * space. */
bool vt_live_insert(const struct vt_live *what); /* false: no room, counted by the caller */
bool vt_live_remove(uint64_t address, unsigned kind, struct vt_live *taken); /* false: not known */
bool vt_live_known(uint64_t address, unsigned kind);                         /* of just that kind */
/* From now on contexts may end: their addresses may be handed out again before they are taken out. */
void vt_live_contexts_end(void);
/* Takes out all that ends with a context; answers their bytes. */
uint64_t vt_live_remove_context(unsigned context);
/* Sums what is live on the devices (driver layer). */
void vt_live_total(uint64_t *bytes, uint64_t *count);
uint64_t vt_live_on_device(int device); /* -1: all */
/* Shows everything that is live; `visit` may free what it is shown. Walks the whole table. */
void vt_live_each(void (*visit)(const struct vt_live *what, void *data), void *data);
void vt_live_forked(void);

/* --- limit.c --- */

/* VRAMTRACE_LIMIT, VRAMTRACE_INJECT or VRAMTRACE_ALARM is set. Without, nothing below costs more
 * than reading this. */
extern bool vt_limit_on;
void vt_limit_arm(void); /* when the options are read */

/* Before an allocation: takes device memory from the limit of its device. False: it must not be
 * tried, and call->refused says why. */
bool vt_limit_take(struct vt_call *call, unsigned kind, unsigned device, uint64_t bytes);

/* After it: what was taken becomes what is live now, or is given back (NULL: it failed, or its
 * record was lost). */
void vt_limit_settle_(const struct vt_call *call, const struct vt_live *now);
/* After a free that the driver accepted. */
void vt_limit_freed_(const struct vt_live *was);

static inline void vt_limit_settle(const struct vt_call *call, const struct vt_live *now) {
    if (VT_UNLIKELY(vt_limit_on))
        vt_limit_settle_(call, now);
}
static inline void vt_limit_freed(const struct vt_live *was) {
    if (VT_UNLIKELY(vt_limit_on))
        vt_limit_freed_(was);
}

/* What the program may believe a device has: never more than the limit leaves. `total` is the
 * driver's figure, remembered for VRAMTRACE_ALARM's percent. */
uint64_t vt_limit_total(unsigned device, uint64_t total);
uint64_t vt_limit_free(unsigned device, uint64_t free_bytes);
void vt_limit_forked(void);

/* --- context.c --- */

/* Contexts are numbered; what the program does with them is watched, nothing is asked. */
unsigned vt_context_made(CUcontext handle, unsigned device,
                         bool primary);       /* its number, VT_CONTEXT_UNKNOWN when full */
unsigned vt_context_number(CUcontext handle); /* adds one of unknown device */
unsigned vt_context_primary(unsigned device);
/* Before the driver ends it: from now on its handle is another's. Answers the handle, to be given
 * back where the driver refuses. */
uint64_t vt_context_ends(unsigned number);
void vt_context_stays(unsigned number, uint64_t handle);
void vt_context_gone(unsigned number);
unsigned vt_context_device(unsigned number);
void vt_context_set_device(unsigned number, unsigned device);
/* A green context is a share of its device's primary one, which owns what is allocated in it: these
 * answer and take that one's number. */
unsigned vt_context_green_made(CUgreenCtx handle, unsigned device);
unsigned vt_context_green(CUgreenCtx handle);
void vt_context_green_gone(CUgreenCtx handle);
void vt_context_alias(CUcontext handle, unsigned owner); /* the context that stands for it */
/* The calling thread's stack of current contexts, as far as we saw it. */
void vt_context_push(CUcontext handle);
void vt_context_pop(void);
void vt_context_replace(CUcontext handle);
unsigned vt_context_current(
    void); /* number; with none seen: the only one there is, else VT_CONTEXT_UNKNOWN */
void vt_context_forked(void);

/* --- vmm.c --- */

/* Physical memory has a number of its own, because the driver uses a handle again. It ends when no
 * handle and no mapping refers to it. */

/* Answers the number. `kind` 0: it is another's (imported, multicast). */
uint64_t vt_vmm_made(uint64_t handle, unsigned kind, unsigned device);
/* Before a release. False: the handle is unknown, or released too often already. */
bool vt_vmm_release(uint64_t handle, uint64_t *number);
/* After a retain that succeeded, and after a release that failed: the handle stands for `number`.
 */
void vt_vmm_handle(uint64_t handle, uint64_t number);

/* One more reference, taken before the driver's call that makes it: to what a handle stands for, or
 * to what is mapped at an address. 0: unknown. */
uint64_t vt_vmm_hold_handle(uint64_t handle);
uint64_t vt_vmm_hold_address(uint64_t address);
/* One less. True when it was the last: `kind` and `device` say what is gone. */
bool vt_vmm_drop(uint64_t number, unsigned *kind, unsigned *device);

void vt_vmm_mapped(uint64_t address, uint64_t size, uint64_t number);
/* Takes out the first mapping from *address on and before `end`, and moves *address behind it.
 * False: none left. Cheap while mappings lie one behind the other, as those of one range do. */
bool vt_vmm_unmapped(uint64_t *address, uint64_t end, uint64_t *number);
unsigned vt_vmm_device(uint64_t number);
void vt_vmm_forked(void);

/* --- pool.c --- */

struct vt_pool {
    unsigned kind;   /* VT_KIND_POOL, _POOL_MANAGED, _POOL_HOST */
    unsigned device; /* VT_DEVICE_UNKNOWN: the stream's */
};

/* The kind and place of memory of that type and location. */
struct vt_pool vt_pool_of(CUmemAllocationType type, const CUmemLocation *location);
void vt_pool_seen(CUmemoryPool pool, struct vt_pool what);
void vt_pool_gone(CUmemoryPool pool);
/* Unknown: a device pool of the stream's device. */
struct vt_pool vt_pool_find(CUmemoryPool pool);

void vt_pool_stream_made(CUstream stream, unsigned device);
void vt_pool_stream_gone(CUstream stream);
/* The device of a stream: of the current context, for one that was not seen made. */
unsigned vt_pool_stream_device(CUstream stream);
void vt_pool_forked(void);

/* --- graph.c --- */

/* Captures under way, all threads'. While there is none, a stream's operations need no look. */
extern uint32_t vt_graph_captures;
/* Graphs with memory nodes, ever. While there was none, a launch needs no look. */
extern uint32_t vt_graph_any;

/* A stream as the books know it: the default stream of a thread is a stream of that thread's. */
uint64_t vt_graph_stream(CUstream stream, bool per_thread);

void vt_graph_capture_begin(uint64_t stream, CUgraph into);
void vt_graph_capture_end(uint64_t stream, CUgraph graph); /* NULL: it came to nothing */
bool vt_graph_captured(uint64_t stream);
void vt_graph_event_recorded(CUevent event, uint64_t stream);
void vt_graph_event_waited(uint64_t stream, CUevent event);

/* A node was added: to a graph, or to the graph that a stream is captured into. */
void vt_graph_alloc_node(CUgraph graph, const struct vt_live *what);
void vt_graph_free_node(CUgraph graph, uint64_t address);
void vt_graph_alloc_captured(uint64_t stream, const struct vt_live *what);
void vt_graph_free_captured(uint64_t stream, uint64_t address);
/* The child's nodes become the parent's. */
void vt_graph_child_moved(CUgraph parent, CUgraph child);

void vt_graph_instantiated(CUgraphExec exec, CUgraph graph);
/* An end: the driver may hand the handle out again, to another thread, before it answers. So what
 * is known of it is taken out before the driver is asked, and put back where it refuses. */
struct vt_graph_end {
    uint64_t words[3]; /* of the table's entry */
    bool known;
};
struct vt_graph_end vt_graph_exec_ends(CUgraphExec exec);
void vt_graph_exec_ended(CUgraphExec exec, const struct vt_graph_end *end, bool refused);
struct vt_graph_end vt_graph_ends(CUgraph graph);
void vt_graph_ended(CUgraph graph, const struct vt_graph_end *end, bool refused);

/* Calls `alloc` for what a launch leaves allocated and `freed` for what it frees of others'. */
void vt_graph_launch(CUgraphExec exec, void (*alloc)(const struct vt_live *what, void *data),
                     void (*freed)(uint64_t address, void *data), void *data);
void vt_graph_forked(void);

/* --- share.c --- */

/* Device addresses of memory that is not this process's own, though cuMemFree takes them. */
void vt_share_seen(uint64_t address);
bool vt_share_take(uint64_t address); /* false: not one of them */
void vt_share_back(uint64_t address); /* its end failed */
void vt_share_forked(void);

#endif
