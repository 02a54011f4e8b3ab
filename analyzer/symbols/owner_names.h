/* SPDX-License-Identifier: MIT */
/*
 * The paths to memory, named as the program's author would write them:
 * `history[*]`, `self.cache['k']`, `model.layers[*].weight`. For analysis/owners.c.
 *
 * Many paths of the log share one name: all items of a list, all layers of a model, all nodes of a
 * linked list, everything in an autograd graph.
 */
#ifndef VRAMTRACE_ANALYZER_OWNER_NAMES_H
#define VRAMTRACE_ANALYZER_OWNER_NAMES_H

#include "symbols/symbolize.h"

struct vt_owner_names;

/* Never NULL. The arguments must live while vt_owner_names_fill may be called; the names live until
 * vt_owner_names_close. */
struct vt_owner_names *vt_owner_names_open(const struct vt_log *log, struct vt_symbols *symbols);
void vt_owner_names_close(struct vt_owner_names *names);

/* A number for the name of a step's path, equal for all paths with that name. VT_MAP_NONE: no root, and therefore no
 * name. */
uint32_t vt_owner_names_of(const struct vt_owner_names *names, uint32_t step);

/* Whether a step's path may go through a weak_ptr. */
bool vt_owner_names_in_doubt(const struct vt_owner_names *names, uint32_t step);
/* The path that holds an allocation: the first that is not in doubt, or one that the variables' types prove.
 * VT_MAP_NONE: unknown. */
uint32_t vt_owner_names_settle(const struct vt_owner_names *names, uint32_t first,
                               const uint32_t others[VT_OWNED_OTHERS]);

/* The purpose of the memory that this step holds in these roles (enum vt_role). */
enum vt_purpose vt_owner_names_purpose(const struct vt_owner_names *names, uint32_t step,
                                       unsigned roles);

/* Fills the owner's name, root, path and container, as of this step and purpose. */
void vt_owner_names_fill(struct vt_owner_names *names, uint32_t step,
                         struct vt_memory_owner *owner);

#endif
