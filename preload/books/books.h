/* SPDX-License-Identifier: MIT */
/*
 * What is kept beside the live table, so that a wrapper can tell what a call means without asking
 * the driver: which physical memory a handle and a mapping stand for (vmm.c), what kind of memory a
 * pool gives and whose a stream is (pool.c), what the nodes of a graph will allocate (graph.c), and
 * which addresses are another process's (share.c). For the wrappers of those families.
 *
 * All of it is made of table.c's tables: no locks, no malloc. A handle that was not seen made is
 * unknown, and then nothing is claimed about it.
 */
#ifndef VT_PRELOAD_BOOKS_H
#define VT_PRELOAD_BOOKS_H

#include "preload.h"

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
