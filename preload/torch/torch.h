/* SPDX-License-Identifier: MIT */
/*
 * Public header of torch/: what PyTorch's objects hold.
 *
 *   torch.c   tensors, storages, and which of Python's types are PyTorch's
 *   graph.c   nodes of the autograd graph
 *   pybind.c  what Python knows by pybind11
 *   casts.c   what torch.autocast keeps
 *
 * Invariants: that of owners/, and an object is read only if its run-time class says what it is. Uses owners/
 * and pyobjects/.
 */
#ifndef VT_PRELOAD_TORCH_H
#define VT_PRELOAD_TORCH_H

#include "memory/memory.h"
#include "owners/owners.h"
#include "pyobjects/pyobjects.h"

/* --- for the walk --- */

/* Sets type->family, after pyobjects/ has filled in the rest. A type with one is no leaf. */
void vt_torch_type(struct vt_owners *w, struct vt_owners_type *type);
/* Names the edges that the objects of a family have beside those that Python knows. */
void vt_torch_python(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type);
/* What an attribute of such an object, which is being read, says of what it leads to: enum vt_role. No type: a
 * key of one of an optimizer's groups of parameters. */
uint16_t vt_torch_roles(const struct vt_owners *w, const struct vt_owners_type *type,
                        struct vt_owners_text attribute);
/* Whether an object that was reached in these roles is read later than others: enum vt_later; -1: it
 * is not. `type` is NULL for a C++ object. */
int vt_torch_later(const struct vt_owners_type *type, uint16_t class_, uint16_t roles);
/* Names the edges of a C++ object. */
void vt_torch_class(struct vt_owners *w, uintptr_t object, uint16_t class_);

/* casts.c */
void vt_torch_casts(struct vt_owners *w, const struct vt_scan *scan);

/* --- for each other --- */

/* torch.c */

/* Names an edge to a tensor, if it is one. */
void vt_torch_tensor(struct vt_owners *w, struct vt_edge edge, uintptr_t tensor);
/* What the object that is read consists of, or has without a name. */
void vt_torch_part(struct vt_owners *w, uintptr_t to, enum vt_class class_, uint16_t roles);

/* graph.c */

void vt_torch_node(struct vt_owners *w, uintptr_t node);
/* The edge to a node from what is read; none if it is no node. */
void vt_torch_edge_to_node(struct vt_owners *w, uintptr_t node);
/* Within the context of a torch.autograd.Function: its node is what refers to other nodes, and its
 * saved tensors lie in a vector here. */
void vt_torch_function(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type);
/* torch._C._autograd.SavedTensor */
void vt_torch_saved_alone(struct vt_owners *w, uintptr_t object);
/* An object of C++ that has a dict of Python's: there, or it is of another version. */
bool vt_torch_dict(struct vt_owners *w, uintptr_t object, enum vt_class class_, uint32_t offset,
                   const char *name);
/* A vector of hooks. One that is Python's has a dict of functions. */
void vt_torch_hooks(struct vt_owners *w, uintptr_t vector, enum vt_class class_, const char *name);
/* The end of a block of the C library's heap; 0: it is none. The next block says that this one is in
 * use. */
uintptr_t vt_torch_block_end(struct vt_owners *w, uintptr_t object);

/* pybind.c */

/* The whole names of the Python types that it knows, by number; NULL: there are no more. */
const char *vt_torch_bound_name(unsigned number);
/* Names the edges of an object of such a type. */
void vt_torch_bound(struct vt_owners *w, uintptr_t object, unsigned number);
/* Names the edges of a c10::ivalue::Object. */
void vt_torch_script(struct vt_owners *w, uintptr_t object);
/* Of torch.jit's list, dict and tuple. */
void vt_torch_list(struct vt_owners *w, uintptr_t list);
void vt_torch_script_dict(struct vt_owners *w, uintptr_t dict);
void vt_torch_tuple(struct vt_owners *w, uintptr_t tuple);

#endif
