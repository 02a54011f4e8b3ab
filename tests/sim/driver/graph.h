/* SPDX-License-Identifier: MIT */
/*
 * Graphs of the simulated driver. graph.c builds them, graph_params.c changes their nodes,
 * graph_condition.c has conditional nodes, graph_exec.c runs graphs and owns the memory of their
 * allocation nodes, capture.c records streams into graphs.
 *
 * An allocation node has an address from the start, but memory only from a launch until the next
 * free, from whatever source. The device's graph reserve grows with use and
 * shrinks only by cuDeviceGraphMemTrim.
 */
#ifndef SIM_GRAPH_H
#define SIM_GRAPH_H

#include "driver.h"

struct sim_graph_memory {
    unsigned references; /* the node, every executable made of it, and the live block */
    uintptr_t start;
    size_t bytes, span;
    struct sim_device *device;
    struct sim_block *live; /* NULL: no memory behind the address now */
    CUmemPoolProps props;
};

struct sim_fill {
    CUdeviceptr to;
    size_t pitch, element, width, height;
    unsigned value;
};

/* What decides whether a conditional node's bodies run. Only kernels could change it, and none runs:
 * it is what the program's handle said when the node was made. */
struct sim_condition {
    CUgraphConditionalNodeType type;
    bool assigned; /* each launch begins with `value`; else it is never set */
    unsigned value;
};

struct sim_node {
    struct sim_object object;
    unsigned long long origin; /* the id of the node that this is a copy of; 0: of none */
    struct sim_graph *graph;
    CUgraphNodeType type;
    struct sim_node **before; /* the nodes it depends on */
    size_t before_count;
    /* what it does, by type */
    struct sim_graph_memory *memory; /* alloc */
    CUdeviceptr freed;               /* free */
    CUDA_MEMCPY3D copy;
    struct sim_fill fill;
    CUDA_HOST_NODE_PARAMS host;
    CUDA_KERNEL_NODE_PARAMS kernel;
    struct sim_graph *child;
    CUevent event;
    struct sim_condition condition;
    struct sim_graph **bodies; /* of a conditional node */
    size_t body_count;
};

struct sim_graph {
    struct sim_object object;
    struct sim_node **nodes; /* in the order of their making: a topological one */
    size_t count, room;
    bool is_child;
    bool is_body; /* for a conditional node, at any depth: it must not contain memory */
    struct sim_handle *handles; /* its conditions' */
};

struct sim_exec {
    struct sim_object object;
    struct sim_graph *graph; /* its own copy: the program may change or destroy the original */
    cuuint64_t flags;
};

/* ---- graph.c ---- */

struct sim_graph *sim_graph_new(void);
/* A node at the end of the graph; NULL when there is no memory. */
struct sim_node *sim_graph_add(struct sim_graph *graph, CUgraphNodeType type,
                               struct sim_node *const *before, size_t before_count);
bool sim_graph_copy_into(struct sim_graph *to, const struct sim_graph *from);
/* Whether nodes of a type may be in the graph: bodies have only what runs on the device. */
bool sim_graph_takes(const struct sim_graph *graph, CUgraphNodeType type);
/* What every cuGraphAdd*Node begins with: checks the arguments and adds a node of the type. */
CUresult sim_graph_add_checked(CUgraphNode *out, CUgraph handle, const CUgraphNode *before,
                               size_t count, CUgraphNodeType type, struct sim_node **node);
void sim_graph_remove(struct sim_node *node);
CUresult sim_graph_fill_of(const CUDA_MEMSET_NODE_PARAMS *params, struct sim_fill *fill);

/* ---- graph_condition.c ---- */

CUresult sim_graph_add_condition(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                                 size_t count, CUDA_CONDITIONAL_NODE_PARAMS *params);
bool sim_graph_copy_bodies(struct sim_node *to, const struct sim_node *from);
void sim_graph_drop_bodies(struct sim_node *node);
void sim_graph_drop_handles(struct sim_graph *graph);
/* The body that a launch runs, or NULL. */
struct sim_graph *sim_graph_chosen(const struct sim_node *node);

/* ---- graph_exec.c ---- */

/* An address for a node that allocates, one reference held; NULL: no space. */
struct sim_graph_memory *sim_graph_memory_new(struct sim_device *device, size_t bytes);
void sim_graph_memory_put(struct sim_graph_memory *memory);
/* Frees a live block of a graph (cuMemFree, cuMemFreeAsync, a free node). */
CUresult sim_graph_free_block(struct sim_block *block);
CUresult sim_graph_alloc_node(struct sim_node *node, CUDA_MEM_ALLOC_NODE_PARAMS *params);

/* ---- capture.c ---- */

/* Calls on a stream that is being captured become nodes. */
CUresult sim_graph_capture_alloc(CUdeviceptr *out, size_t bytes, struct sim_stream *stream);
CUresult sim_graph_capture_free(CUdeviceptr address, struct sim_stream *stream);
CUresult sim_graph_capture_copy(struct sim_stream *stream, const CUDA_MEMCPY3D *copy);
CUresult sim_graph_capture_fill(struct sim_stream *stream, const struct sim_fill *fill);
CUresult sim_graph_capture_host(struct sim_stream *stream, CUhostFn function, void *data);
CUresult sim_graph_capture_kernel(struct sim_stream *stream);
/* The stream joins the capture with this id, if that is still under way. */
void sim_graph_join_capture(struct sim_stream *stream, unsigned long long id);
/* The stream goes away in the middle. */
void sim_graph_abandon_capture(struct sim_stream *stream);

/* ---- copy_shape.c, fill.c ---- */

CUresult sim_copy_shape(const CUDA_MEMCPY3D *copy);
CUresult sim_fill(const struct sim_fill *fill);

#endif /* SIM_GRAPH_H */
