/* SPDX-License-Identifier: MIT */
/*
 * Conditional nodes of the simulated driver. Kernels set a condition, and no kernel runs here, so
 * the default value of the handle decides; without a default no body runs. A WHILE body runs once,
 * because nothing would end it.
 */
#include "graph.h"

#include <stdlib.h>

struct sim_handle {
    struct sim_object object;
    struct sim_handle *next;
    struct sim_graph *graph;
    bool assigned;
    unsigned value;
};

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *out, CUgraph graph_handle,
                                        CUcontext context, unsigned int value, unsigned int flags) {
    SIM_ENTER();
    struct sim_graph *graph = sim_object_get(graph_handle, SIM_OBJECT_GRAPH);
    if (out == NULL || graph == NULL || (flags & ~(unsigned)CU_GRAPH_COND_ASSIGN_DEFAULT) != 0 ||
        sim_context_or_current(context) == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_handle *made = sim_object_new(sizeof *made, SIM_OBJECT_HANDLE, NULL, NULL);
    if (made == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->graph = graph;
    made->assigned = flags != 0;
    made->value = value;
    made->next = graph->handles;
    graph->handles = made;
    *out = (uintptr_t)made;
    return CUDA_SUCCESS;
}

void sim_graph_drop_handles(struct sim_graph *graph) {
    while (graph->handles != NULL) {
        struct sim_handle *gone = graph->handles;
        graph->handles = gone->next;
        sim_object_free(&gone->object);
    }
}

/* ---- nodes ---- */

static bool make_bodies(struct sim_node *node, size_t count) {
    node->bodies = calloc(count, sizeof(struct sim_graph *));
    if (node->bodies == NULL)
        return false;
    node->body_count = count;
    for (size_t i = 0; i < count; i++) {
        node->bodies[i] = sim_graph_new();
        if (node->bodies[i] == NULL)
            return false;
        node->bodies[i]->is_child = node->bodies[i]->is_body = true;
    }
    return true;
}

void sim_graph_drop_bodies(struct sim_node *node) {
    for (size_t i = 0; node->bodies != NULL && i < node->body_count; i++) {
        if (node->bodies[i] != NULL)
            sim_object_drop(node->bodies[i]);
    }
    free(node->bodies);
}

bool sim_graph_copy_bodies(struct sim_node *to, const struct sim_node *from) {
    if (from->bodies == NULL)
        return true;
    if (!make_bodies(to, from->body_count))
        return false;
    for (size_t i = 0; i < from->body_count; i++) {
        if (!sim_graph_copy_into(to->bodies[i], from->bodies[i]))
            return false;
    }
    return true;
}

/* A handle of the graph. A body may also use those of the enclosing graphs; any is accepted there. */
static struct sim_handle *handle_of(CUgraphConditionalHandle value, CUgraph graph_handle) {
    struct sim_graph *graph = sim_object_get(graph_handle, SIM_OBJECT_GRAPH);
    struct sim_handle *handle = sim_object_get((const void *)(uintptr_t)value, SIM_OBJECT_HANDLE);
    return handle != NULL && graph != NULL && (handle->graph == graph || graph->is_body) ? handle
                                                                                         : NULL;
}

CUresult sim_graph_add_condition(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                                 size_t count, CUDA_CONDITIONAL_NODE_PARAMS *params) {
    SIM_ENTER();
    static const unsigned most[] = {[CU_GRAPH_COND_TYPE_IF] = 2,
                                    [CU_GRAPH_COND_TYPE_WHILE] = 1,
                                    [CU_GRAPH_COND_TYPE_SWITCH] = 1 << 16};
    struct sim_handle *handle = handle_of(params->handle, graph);
    struct sim_node *node;
    if (handle == NULL || (size_t)params->type >= sizeof most / sizeof *most || params->size == 0 ||
        params->size > most[params->type])
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result =
        sim_graph_add_checked(out, graph, before, count, CU_GRAPH_NODE_TYPE_CONDITIONAL, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!make_bodies(node, params->size)) {
        sim_graph_remove(node);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    node->condition = (struct sim_condition){
        .type = params->type, .assigned = handle->assigned, .value = handle->value};
    params->phGraph_out = (CUgraph *)(void *)node->bodies;
    return CUDA_SUCCESS;
}

struct sim_graph *sim_graph_chosen(const struct sim_node *node) {
    const struct sim_condition *condition = &node->condition;
    size_t body = condition->type == CU_GRAPH_COND_TYPE_SWITCH ? condition->value
                  : condition->value != 0                      ? 0
                                                               : 1;
    return condition->assigned && body < node->body_count ? node->bodies[body] : NULL;
}
