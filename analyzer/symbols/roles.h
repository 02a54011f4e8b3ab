/* SPDX-License-Identifier: MIT */
/*
 * The purpose of memory, and the classes that authors call memory: reads roles.def. For owner_names.c.
 */
#ifndef VRAMTRACE_ANALYZER_ROLES_H
#define VRAMTRACE_ANALYZER_ROLES_H

#include "model/model.h"

/* The purpose by the owners' roles (enum vt_role), by the variable's name, or by a class on the path.
 * VT_PURPOSE_OTHER: no row fits. */
enum vt_purpose vt_roles_seen(unsigned roles);
enum vt_purpose vt_roles_named(const char *variable);
enum vt_purpose vt_roles_classed(const char *type);

/* The call that copies an object of this class to host memory: ".cpu()". "": unknown; NULL: authors do not call
 * objects of this class memory. */
const char *vt_roles_host_copy(const char *type);
static inline bool vt_roles_is_memory(const char *type) {
    return vt_roles_host_copy(type) != NULL;
}

/* Whether a class that a step of this kind (enum vt_step) leads to is a node of an autograd graph: MulBackward0,
 * torch::autograd::AccumulateGrad. The classes of a program's own functions have no number at the end. */
bool vt_roles_is_graph_node(unsigned kind, const char *type);

#endif
