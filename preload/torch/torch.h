/* SPDX-License-Identifier: MIT */
/*
 * Public header of torch/: reads PyTorch's objects.
 *
 *   torch.c   tensors, storages, and which Python types are PyTorch's
 *   graph.c   nodes of the autograd graph
 *   pybind.c  objects that Python sees through pybind11
 *   casts.c   the cache of torch.autocast
 *
 * Invariants: those of owners/; an object is read only if its run-time class identifies it. Uses owners/ and
 * pyobjects/.
 */
#ifndef VT_PRELOAD_TORCH_H
#define VT_PRELOAD_TORCH_H

#include "memory/memory.h"
#include "owners/owners.h"
#include "pyobjects/pyobjects.h"

/* --- for the walk --- */

/* Sets type->family, after pyobjects/ has filled in the rest. A type with a family is never a leaf. */
void vt_torch_type(struct vt_owners *w, struct vt_owners_type *type);
/* Reports the edges of an object of such a type that are not in Python's own fields. */
void vt_torch_python(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type);
/* The roles (enum vt_role) that an attribute of the object being read gives to its target. `type` NULL: the attribute
 * is a key of an optimizer's group of parameters. */
uint16_t vt_torch_roles(const struct vt_owners *w, const struct vt_owners_type *type,
                        struct vt_owners_text attribute);
/* How an object that was reached in these roles is deferred (enum vt_later); -1: it is not. `type` is NULL for a C++
 * object. */
int vt_torch_later(const struct vt_owners_type *type, uint16_t class_, uint16_t roles);
void vt_torch_class(struct vt_owners *w, uintptr_t object, uint16_t class_);

/* casts.c: reports the cache of torch.autocast as a root. */
void vt_torch_casts(struct vt_owners *w, const struct vt_scan *scan);

/* --- inside torch/ --- */

/* torch.c */

/* Reports an edge to `tensor`, if it is a tensor. */
void vt_torch_tensor(struct vt_owners *w, struct vt_edge edge, uintptr_t tensor);
/* Reports a part of the object being read: an edge without a name. */
void vt_torch_part(struct vt_owners *w, uintptr_t to, enum vt_class class_, uint16_t roles);

/* graph.c */

void vt_torch_node(struct vt_owners *w, uintptr_t node);
/* Reports the edge to `node`, if it is a node. */
void vt_torch_edge_to_node(struct vt_owners *w, uintptr_t node);
/* Reads the context of a torch.autograd.Function: the vector of its saved tensors, and its node's references to
 * others. */
void vt_torch_function(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type);
/* torch._C._autograd.SavedTensor */
void vt_torch_saved_alone(struct vt_owners *w, uintptr_t object);
/* Reports a C++ object's Python dict at this offset. False: there is none, so the object is of another version. */
bool vt_torch_dict(struct vt_owners *w, uintptr_t object, enum vt_class class_, uint32_t offset,
                   const char *name);
/* Reads a vector of hooks. A hook written in Python has a dict of functions. */
void vt_torch_hooks(struct vt_owners *w, uintptr_t vector, enum vt_class class_, const char *name);
/* The end of a block of the C library's heap, by its size; 0: not a block. The next block must mark this one as
 * used. */
uintptr_t vt_torch_block_end(struct vt_owners *w, uintptr_t object);

/* pybind.c */

/* The full names of the Python types that pybind.c reads, by number; NULL: no more. */
const char *vt_torch_bound_name(unsigned number);
void vt_torch_bound(struct vt_owners *w, uintptr_t object, unsigned number);
/* Reports the edges of a c10::ivalue::Object. */
void vt_torch_script(struct vt_owners *w, uintptr_t object);
void vt_torch_list(struct vt_owners *w, uintptr_t list);
void vt_torch_script_dict(struct vt_owners *w, uintptr_t dict);
void vt_torch_tuple(struct vt_owners *w, uintptr_t tuple);

#endif
