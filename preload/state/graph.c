/* SPDX-License-Identifier: MIT */
/*
 * Remembers the effects of a graph's memory nodes, so that a launch can be recorded without asking the driver.
 *
 * An allocation node has an address from the start. It has memory only from a launch until a free: by a free node (of
 * this or another graph), by cuMemFree or cuMemFreeAsync, or by the next launch of the graph, if it was instantiated
 * with automatic freeing. Memory that one launch both allocates and frees is transient and never counts as live.
 * Source: cuda.h 13.0, graph memory nodes; a graph with memory nodes has one executable at a time, cannot be cloned,
 * and cannot lose nodes.
 *
 * A capture works the same way: while a stream is captured, its stream-ordered calls become nodes. Other streams join
 * the capture through events.
 *
 * Graphs without memory nodes are not stored. Called by wrap_graph.c, wrap_stream.c and wrap_pool.c.
 */
#include "state.h"
#include "base/base.h"

struct node {
    struct vt_item item;
    uint32_t order;       /* position in its graph, from 0 */
    uint32_t freed_order; /* atomic; order of the node in this graph that frees this one */
    uint32_t stack;
    uint16_t hook;
    uint8_t device;
    bool frees;
    uint64_t address, size;
};
#define NEVER UINT32_MAX

struct graph {
    struct vt_item item;
    uint32_t references; /* atomic: one for its handle or capture, one per executable */
    uint32_t nodes;      /* atomic: the newest node; 0: none */
    uint32_t count;      /* atomic: nodes ever added */
};

uint32_t vt_graph_captures, vt_graph_any; /* atomic */
struct vt_graph_launches vt_graph_launches;

static struct vt_arena nodes = {.bytes = sizeof(struct node)};
static struct vt_arena graph_items = {.bytes = sizeof(struct graph)};
static struct vt_table graphs;    /* handle -> graph */
static struct vt_table execs;     /* handle -> graph, its node count at instantiation */
static struct vt_table addresses; /* an allocation node's address -> node, graph */
static struct vt_table captures;  /* number -> graph */
static struct vt_table capturing; /* stream -> capture; 1 if it began here */
static struct vt_table events;    /* event -> the capture in which it was recorded */
static uint64_t last_capture;     /* atomic */

#define FIRST_CAPTURE 16u /* table keys start at 3 */

static uint64_t key(const void *handle) {
    return (uint64_t)(uintptr_t)handle;
}

static uint32_t graph_new(void) {
    uint32_t number = vt_arena_take(&graph_items);
    struct graph *g = vt_arena_get(&graph_items, number);
    if (!g) {
        vt_log_drop(VT_DROP_NO_MEMORY);
        return 0;
    }
    vt_put(&g->references, 1);
    vt_put(&g->nodes, 0);
    vt_put(&g->count, 0);
    return number;
}

static void graph_put(uint32_t number) {
    struct graph *g = vt_arena_get(&graph_items, number);
    if (!g || vt_add(&g->references, -1) != 1)
        return;
    for (uint32_t n = vt_see(&g->nodes), next; n; n = next) {
        const struct node *node = vt_arena_get(&nodes, n);
        next = vt_get(&node->item.next);
        /* The driver may already have given the address to another thread's graph. */
        if (!node->frees)
            vt_table_take_own(&addresses, node->address, n);
        vt_arena_give(&nodes, n);
    }
    vt_arena_give(&graph_items, number);
}

static uint32_t graph_find(CUgraph handle) {
    uint64_t words[VT_TABLE_WORDS];
    return vt_table_find(&graphs, key(handle), words) ? (uint32_t)words[0] : 0;
}

static uint32_t graph_get(CUgraph handle) {
    uint32_t number = graph_find(handle);
    if (number || !(number = graph_new()))
        return number;
    const uint64_t words[VT_TABLE_WORDS] = {number};
    vt_table_insert(&graphs, key(handle), words);
    return number;
}

static void graph_gone(CUgraph handle) {
    uint64_t words[VT_TABLE_WORDS];
    if (vt_table_take(&graphs, key(handle), words))
        graph_put((uint32_t)words[0]);
}

static struct vt_graph_end ends(struct vt_table *table, uint64_t key) {
    struct vt_graph_end end;
    end.known = vt_table_take(table, key, end.words);
    return end;
}

static void ended(struct vt_table *table, uint64_t key, const struct vt_graph_end *end,
                  bool refused) {
    if (end->known && refused)
        vt_table_insert(table, key, end->words);
    else if (end->known)
        graph_put((uint32_t)end->words[0]);
}

struct vt_graph_end vt_graph_ends(CUgraph handle) {
    return ends(&graphs, key(handle));
}

void vt_graph_ended(CUgraph handle, const struct vt_graph_end *end, bool refused) {
    ended(&graphs, key(handle), end, refused);
}

static void push(struct graph *g, uint32_t n) {
    struct node *node = vt_arena_get(&nodes, n);
    uint32_t head;
    do
        vt_put(&node->item.next, head = vt_see(&g->nodes));
    while (!vt_claim(&g->nodes, head, n));
    vt_put(&vt_graph_any, 1);
}

static void add(uint32_t number, const struct vt_live *what, uint64_t address, bool frees) {
    struct graph *g = vt_arena_get(&graph_items, number);
    uint64_t words[VT_TABLE_WORDS];
    if (!g)
        return;
    uint32_t order = vt_add(&g->count, 1);
    if (frees && vt_table_find(&addresses, address, words) && words[1] == number) {
        struct node *allocation = vt_arena_get(&nodes, (uint32_t)words[0]);
        vt_put(&allocation->freed_order, order);
        return;
    }
    uint32_t n = vt_arena_take(&nodes);
    struct node *node = vt_arena_get(&nodes, n);
    if (!node) {
        vt_log_drop(VT_DROP_NO_MEMORY);
        return;
    }
    node->order = order;
    node->freed_order = NEVER;
    node->frees = frees;
    node->address = address;
    if (!frees) {
        node->size = what->size;
        node->stack = what->stack;
        node->hook = what->hook;
        node->device = what->device;
        words[0] = n;
        words[1] = number;
        words[2] = 0;
        vt_table_replace(&addresses, address, words);
    }
    push(g, n);
}

void vt_graph_alloc_node(CUgraph graph, const struct vt_live *what) {
    add(graph_get(graph), what, what->address, false);
}

void vt_graph_free_node(CUgraph graph, uint64_t address) {
    add(graph_get(graph), NULL, address, true);
}

void vt_graph_child_moved(CUgraph parent, CUgraph child) {
    struct graph *from = vt_arena_get(&graph_items, graph_find(child));
    if (!from || !vt_see(&from->nodes))
        return;
    uint32_t number = graph_get(parent);
    struct graph *to = vt_arena_get(&graph_items, number);
    if (!to)
        return;
    uint32_t first = vt_add(&to->count, vt_get(&from->count));
    for (uint32_t n = vt_see(&from->nodes), next; n; n = next) {
        struct node *node = vt_arena_get(&nodes, n);
        next = vt_get(&node->item.next);
        node->order += first;
        if (node->freed_order != NEVER)
            node->freed_order += first;
        if (!node->frees) {
            const uint64_t words[VT_TABLE_WORDS] = {n, number};
            vt_table_replace(&addresses, node->address, words);
        }
        push(to, n);
    }
    vt_put(&from->nodes, 0);
}

void vt_graph_instantiated(CUgraphExec exec, CUgraph handle) {
    uint32_t number = graph_find(handle);
    struct graph *g = vt_arena_get(&graph_items, number);
    if (!g || !vt_see(&g->nodes))
        return;
    const uint64_t words[VT_TABLE_WORDS] = {number, vt_get(&g->count)};
    vt_add(&g->references, 1);
    /* Removes an old entry with the same handle. */
    const struct vt_graph_end unseen = vt_graph_exec_ends(exec);
    vt_graph_exec_ended(exec, &unseen, false);
    vt_table_insert(&execs, key(exec), words);
}

struct vt_graph_end vt_graph_exec_ends(CUgraphExec exec) {
    return ends(&execs, key(exec));
}

void vt_graph_exec_ended(CUgraphExec exec, const struct vt_graph_end *end, bool refused) {
    ended(&execs, key(exec), end, refused);
}

void vt_graph_launch(CUgraphExec exec, void (*alloc)(const struct vt_live *what, void *data),
                     void (*freed)(uint64_t address, void *data), void *data) {
    uint64_t words[VT_TABLE_WORDS];
    if (!vt_table_find(&execs, key(exec), words))
        return;
    const struct graph *g = vt_arena_get(&graph_items, (uint32_t)words[0]);
    const struct node *node;
    for (uint32_t n = g ? vt_see(&g->nodes) : 0; n; n = vt_get(&node->item.next)) {
        node = vt_arena_get(&nodes, n);
        if (node->order >= words[1] || vt_get(&node->freed_order) < words[1])
            continue; /* added later, or freed in the same launch */
        if (node->frees)
            freed(node->address, data);
        else
            alloc(&(struct vt_live){.address = node->address,
                                    .size = node->size,
                                    .stack = node->stack,
                                    .context = VT_CONTEXT_UNKNOWN,
                                    .hook = node->hook,
                                    .kind = VT_KIND_GRAPH,
                                    .device = node->device},
                  data);
    }
}

uint64_t vt_graph_stream(CUstream stream, bool per_thread) {
    if (stream == CU_STREAM_PER_THREAD || (per_thread && !stream))
        return key(&vt_tls) | 1; /* odd, so it is not a stream handle */
    return key(stream);
}

static uint64_t capture_of(uint64_t stream) {
    uint64_t words[VT_TABLE_WORDS];
    return vt_table_find(&capturing, stream, words) ? words[0] : 0;
}

static uint32_t graph_captured(uint64_t stream) {
    uint64_t words[VT_TABLE_WORDS];
    uint64_t capture = capture_of(stream);
    return capture && vt_table_find(&captures, capture, words) ? (uint32_t)words[0] : 0;
}

bool vt_graph_captured(uint64_t stream) {
    return capture_of(stream) != 0;
}

void vt_graph_capture_begin(uint64_t stream, CUgraph into) {
    uint32_t number = into ? graph_get(into) : graph_new();
    struct graph *g = vt_arena_get(&graph_items, number);
    if (!g)
        return;
    if (into)
        vt_add(&g->references, 1);
    uint64_t capture = vt_add(&last_capture, 1) + FIRST_CAPTURE;
    const uint64_t words[VT_TABLE_WORDS] = {number}, origin[VT_TABLE_WORDS] = {capture, 1};
    vt_table_insert(&captures, capture, words);
    vt_table_replace(&capturing, stream, origin);
    vt_add(&vt_graph_captures, 1);
}

static bool of_capture(uint64_t key_, const uint64_t words[VT_TABLE_WORDS], void *data) {
    (void)key_;
    return words[0] == *(const uint64_t *)data;
}

void vt_graph_capture_end(uint64_t stream, CUgraph handle) {
    uint64_t words[VT_TABLE_WORDS], graph[VT_TABLE_WORDS];
    if (!vt_table_find(&capturing, stream, words) || !words[1]) {
        vt_table_take(&capturing, stream, words); /* it had joined a capture that has ended */
        return;
    }
    uint64_t capture = words[0];
    vt_table_each(&capturing, of_capture, NULL, &capture);
    vt_table_each(&events, of_capture, NULL, &capture);
    vt_add(&vt_graph_captures, -1);
    if (!vt_table_take(&captures, capture, graph))
        return;
    const struct graph *g = vt_arena_get(&graph_items, (uint32_t)graph[0]);
    if (handle && g && vt_see(&g->nodes) && graph_find(handle) != graph[0]) {
        graph_gone(handle); /* an old graph with the same handle, whose end we did not see */
        vt_table_insert(&graphs, key(handle), graph);
        return; /* the handle takes over the capture's reference */
    }
    graph_put((uint32_t)graph[0]);
}

void vt_graph_event_recorded(CUevent event, uint64_t stream) {
    uint64_t capture = capture_of(stream), was[VT_TABLE_WORDS];
    const uint64_t words[VT_TABLE_WORDS] = {capture};
    if (capture)
        vt_table_replace(&events, key(event), words);
    else
        vt_table_take(&events, key(event), was);
}

void vt_graph_event_waited(uint64_t stream, CUevent event) {
    uint64_t words[VT_TABLE_WORDS], unused[VT_TABLE_WORDS];
    if (!vt_table_find(&events, key(event), words) || vt_graph_captured(stream) ||
        !vt_table_find(&captures, words[0], unused))
        return;
    const uint64_t joined[VT_TABLE_WORDS] = {words[0], 0};
    vt_table_insert(&capturing, stream, joined);
}

void vt_graph_alloc_captured(uint64_t stream, const struct vt_live *what) {
    add(graph_captured(stream), what, what->address, false);
}

void vt_graph_free_captured(uint64_t stream, uint64_t address) {
    add(graph_captured(stream), NULL, address, true);
}

/* A child cannot use its parent's graphs. */
void vt_graph_forked(void) {
    vt_put(&vt_graph_captures, 0);
    vt_put(&vt_graph_any, 0);
    vt_put(&vt_graph_launches.count, 0);
    vt_put(&vt_graph_launches.written, 0);
    vt_arena_forget(&nodes);
    vt_arena_forget(&graph_items);
    vt_table_forget(&graphs);
    vt_table_forget(&execs);
    vt_table_forget(&addresses);
    vt_table_forget(&captures);
    vt_table_forget(&capturing);
    vt_table_forget(&events);
}
