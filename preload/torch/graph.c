/* SPDX-License-Identifier: MIT */
/*
 * Reads PyTorch's autograd graph: a node holds the tensors saved for it, objects given to its hooks, and the nodes
 * before it. Layouts and rules are as in torch.c.
 *
 * Called by torch.c and pybind.c.
 */
#define _GNU_SOURCE
#include "torch.h"

#include <string.h>

/* Offset of the C++ object's address in a pybind11 object. */
#define PAYLOAD 16u

/* Offsets in a SavedVariable. References to nodes have one word, or two if `shared` (std::shared_ptr). */
struct saved_layout {
    uint16_t bytes, flags, hooks;
    bool shared;
};
/* Consecutive bools. */
enum { FLAG_NONE, FLAG_IN_PLACE, FLAG_ORIGINAL, FLAG_LEAF, FLAG_OUTPUT, SAVED_FLAGS };

/* Offsets in a Node and its edges; `bytes`: where the members of the node's own class begin. */
struct node_layout {
    uint16_t next, edge_bytes, object, bytes;
    struct saved_layout saved;
};
static const struct node_layout node_new = {88, 16, 112, 464, {80, 40, 48, false}},
                                /* 2.6, 2.9: std::enable_shared_from_this, std::shared_ptr */
    node_old = {96, 24, 472, 472, {104, 48, 56, true}};

/* A Node ends with a small vector with space for two elements. Unused elements, and padding between members, contain
 * old words of the heap. */
#define INSIDE       2u
#define INSIDE_BYTES 192u
/* In a CopySlices, the node of the copied operation follows two geometries and a function. */
#define COPY_NODE    152u

#define NODES_MOST 65536u /* edges of one node: max */
#define SAVED_MOST 4096u  /* tensors in one vector: max */
#define NODE_BYTES 16384u

static void name_dict(struct vt_owners *w, struct vt_owners_text name, uintptr_t object) {
    vt_owners_edge(w,
                   &(struct vt_edge){
                       .kind = VT_STEP_ATTRIBUTE, .as = VT_AS_PYTHON, .name = name, .to = object});
}

/* --- hooks --- */

bool vt_torch_dict(struct vt_owners *w, uintptr_t object, enum vt_class class_, uint32_t offset,
                   const char *name) {
    if (vt_class_of(w, object) != class_)
        return false;
    uintptr_t dict = vt_owners_word(w, object + offset), type = vt_owners_word(w, dict + 8);
    if (!dict ||
        (!vt_py_type_is(w, type, "dict") && !vt_py_type_is(w, type, "collections.OrderedDict")))
        return false;
    name_dict(w, vt_owners_text_of(name), dict);
    return true;
}

void vt_torch_hooks(struct vt_owners *w, uintptr_t vector, enum vt_class class_, const char *name) {
    enum { DICT = 8, MOST = 1024 };
    uintptr_t range[2];
    if (!vt_owners_read(w, range, vector, sizeof range) || !range[0] || range[0] & 7 ||
        range[1] - range[0] > MOST * 8)
        return;
    for (uintptr_t at = range[0]; at + 8 <= range[1]; at += 8)
        vt_torch_dict(w, vt_owners_word(w, at), class_, DICT, name);
}

/* --- nodes of the autograd graph --- */

uintptr_t vt_torch_block_end(struct vt_owners *w, uintptr_t object) {
    enum { IN_USE = 1, FLAGS = 7 };
    uint64_t size = vt_owners_word(w, object - 8) & ~(uint64_t)FLAGS;
    if (size < 64 || size > NODE_BYTES || size % 16 ||
        !(vt_owners_word(w, object - 8 + size) & IN_USE))
        return 0;
    return object - 8 + size;
}

/* PySavedVariableHooks has the pack function (cleared after use), the unpack function, and the packed object. Each was
 * one word in older versions, so the block was shorter. Now each is a std::optional of three words. */
static void saved_by_hooks(struct vt_owners *w, uintptr_t hooks) {
    enum { UNPACK = 1, DATA = 2 };
    if (vt_class_of(w, hooks) != VT_CLASS_HOOKS)
        return;
    uint32_t step = vt_torch_block_end(w, hooks) ? 24 : 8;
    for (uint32_t i = UNPACK; i <= DATA; i++) {
        uintptr_t at = hooks + 8 + i * step;
        if (step > 8 && (uint8_t)vt_owners_word(w, at + 16) != 1)
            continue;
        vt_owners_edge(w, &(struct vt_edge){.kind = VT_STEP_CLASS,
                                            .as = VT_AS_PYTHON,
                                            .to = vt_owners_word(w, at),
                                            .roles = i == DATA ? VT_ROLE_SAVED : 0,
                                            .apart = true});
    }
}

/* Whether one word refers to an object of this class, or is null. `shared`: whether two words are such a
 * std::shared_ptr. `weak`: a std::weak_ptr, whose target may be freed. */
static bool may_refer(struct vt_owners *w, const uint8_t *at, bool shared, bool weak,
                      enum vt_class class_) {
    uintptr_t words[2];
    memcpy(words, at, shared ? sizeof words : sizeof *words);
    bool fits = !words[0] || (shared && weak) || !class_ || vt_class_of(w, words[0]) == class_;
    return fits && (!shared || (words[1] ? vt_class_is_shared(w, words[1]) : !words[0]));
}

/* Whether `at`, a copy of memory, is a SavedVariable: all members must fit. The first word is a tensor. It is the
 * undefined tensor if a hook has the tensor, the tensor was released, or none was saved. The saved tensor is the
 * original, unless the node made it. */
static bool is_saved(struct vt_owners *w, const uint8_t *at, const struct saved_layout *l) {
    enum { FORWARD = 8, WEAK_NODE = 24, NODE = 8 }; /* offsets; NODE is relative to `hooks` */
    const uint8_t *flags = at + l->flags, *node = at + l->hooks + NODE;
    uint32_t step = l->shared ? 16 : 8;
    uintptr_t tensor, hooks;
    memcpy(&tensor, at, sizeof tensor);
    memcpy(&hooks, at + l->hooks, sizeof hooks);
    for (unsigned i = 0; i < SAVED_FLAGS; i++)
        if (flags[i] > 1)
            return false;
    if (vt_class_of(w, tensor) != VT_CLASS_TENSOR ||
        (hooks && vt_class_of(w, hooks) != VT_CLASS_HOOKS) || node[2 * step] > 1)
        return false;
    bool defined = !vt_class_is(w, tensor, "N3c1019UndefinedTensorImplE");
    if (defined && (flags[FLAG_NONE] || hooks || !(flags[FLAG_ORIGINAL] || flags[FLAG_OUTPUT])))
        return false;
    return may_refer(w, at + FORWARD, true, false, VT_CLASS_NONE) &&
           may_refer(w, at + WEAK_NODE, l->shared, true, VT_CLASS_NODE) &&
           may_refer(w, node, l->shared, false, VT_CLASS_NODE) &&
           may_refer(w, node + step, l->shared, true, VT_CLASS_NODE);
}

static void read_saved(struct vt_owners *w, const uint8_t *at, const struct saved_layout *l) {
    uintptr_t tensor, hooks;
    memcpy(&tensor, at, sizeof tensor);
    memcpy(&hooks, at + l->hooks, sizeof hooks);
    if (hooks)
        saved_by_hooks(w, hooks);
    else
        vt_torch_tensor(
            w, (struct vt_edge){.kind = VT_STEP_CLASS, .roles = VT_ROLE_SAVED, .apart = true},
            tensor);
}

/* pybind11 stores the address of its object after the header. */
void vt_torch_saved_alone(struct vt_owners *w, uintptr_t object) {
    uintptr_t at = vt_owners_word(w, object + PAYLOAD);
    uint8_t bytes[128];
    const struct saved_layout *const layouts[] = {&node_new.saved, &node_old.saved};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (vt_owners_read(w, bytes, at, layouts[i]->bytes) && is_saved(w, bytes, layouts[i])) {
            read_saved(w, bytes, layouts[i]);
            return;
        }
}

/* Reads a std::vector<SavedVariable>. False: these three words are not one. */
static bool read_saved_vector(struct vt_owners *w, const uint8_t *at,
                              const struct saved_layout *l) {
    uintptr_t vector[3];
    uint8_t one[128];
    memcpy(vector, at, sizeof vector);
    uint64_t bytes = vector[1] - vector[0];
    if (!vector[0] || !bytes || bytes % l->bytes || bytes / l->bytes > SAVED_MOST ||
        vector[2] < vector[1])
        return false;
    for (uintptr_t p = vector[0]; p < vector[1]; p += l->bytes)
        if (!vt_owners_read(w, one, p, l->bytes) || !is_saved(w, one, l))
            return false;
    for (uintptr_t p = vector[0]; p < vector[1]; p += l->bytes)
        if (vt_owners_read(w, one, p, l->bytes))
            read_saved(w, one, l);
    return true;
}

/* Finds saved tensors among the members of an object's own class. These classes are generated, and no table lists their
 * members. */
static void read_members(struct vt_owners *w, uintptr_t from, uintptr_t to,
                         const struct saved_layout *l) {
    uint8_t bytes[256];
    for (uintptr_t at = from; at + 24 <= to;) {
        size_t n = to - at < sizeof bytes ? to - at : sizeof bytes;
        if (!vt_owners_read(w, bytes, at, n))
            return;
        if (n >= l->bytes && is_saved(w, bytes, l)) {
            read_saved(w, bytes, l);
            at += l->bytes;
        } else {
            at += read_saved_vector(w, bytes, l) ? 24 : 8;
        }
    }
}

static const struct node_layout *layout_of(struct vt_owners *w, uintptr_t node) {
    return vt_owners_word(w, node + 8) == node ? &node_old : &node_new;
}

/* Whether a node's own members begin where the layout expects them: after the small vector, whose elements lie inside
 * it or, if there are more than two, elsewhere. */
static bool has_members(struct vt_owners *w, uintptr_t node, const struct node_layout *l) {
    struct {
        uintptr_t first;
        uint32_t count, room;
    } v;
    uintptr_t inside = node + l->bytes - INSIDE_BYTES;
    return vt_owners_read(w, &v, inside - sizeof v, sizeof v) && v.count <= v.room &&
           (v.first == inside ? v.room == INSIDE : v.room > INSIDE);
}

/* The Python object of a node written in Python: the context, which refers back to the node. */
static uintptr_t python_of(struct vt_owners *w, uintptr_t node) {
    return vt_class_is(w, node, "N5torch8autograd6PyNodeE")
               ? vt_owners_word(w, node + layout_of(w, node)->object)
               : 0;
}

void vt_torch_edge_to_node(struct vt_owners *w, uintptr_t node) {
    if (vt_class_of(w, node) != VT_CLASS_NODE)
        return;
    uintptr_t object = python_of(w, node);
    vt_owners_edge(w, &(struct vt_edge){.kind = VT_STEP_CLASS,
                                        .as = object ? VT_AS_PYTHON : VT_AS_CLASS,
                                        .to = object ? object : node,
                                        .class_ = VT_CLASS_NODE,
                                        .apart = true});
}

static void read_next(struct vt_owners *w, uintptr_t node, const struct node_layout *l) {
    uintptr_t edges[2];
    if (!vt_owners_read(w, edges, node + l->next, sizeof edges))
        return;
    uint64_t bytes = edges[1] - edges[0];
    if (!edges[0] || bytes % l->edge_bytes || bytes / l->edge_bytes > NODES_MOST)
        return;
    for (uintptr_t at = edges[0]; at < edges[1] && vt_owners_may_continue(w); at += l->edge_bytes)
        vt_torch_edge_to_node(w, vt_owners_word(w, at));
}

/* Hooks and metadata that register_hook(), register_prehook() and `metadata` stored in a node. */
static void read_node_hooks(struct vt_owners *w, uintptr_t node, const struct node_layout *l) {
    enum { ANOMALY = 32, PRE = 40, TENSOR_PRE = 64, POST = 144 }; /* after l->next */
    /* Possible offsets, after a std::string and a pointer, whose sizes differ between versions. */
    static const uint8_t metadata[] = {48, 56, 32};
    uintptr_t at = node + l->next, anomaly = vt_owners_word(w, at + ANOMALY);
    for (size_t i = 0; anomaly && i < sizeof metadata; i++)
        if (vt_torch_dict(w, anomaly, VT_CLASS_ANOMALY, metadata[i], "metadata"))
            break;
    vt_torch_hooks(w, at + PRE, VT_CLASS_PRE_HOOK, "pre_hooks");
    vt_torch_hooks(w, at + TENSOR_PRE, VT_CLASS_TENSOR_PRE_HOOK, "tensor_pre_hooks");
    vt_torch_hooks(w, at + POST, VT_CLASS_POST_HOOK, "post_hooks");
}

/* std::make_shared places some nodes after their counts, to which std::enable_shared_from_this points. */
static uintptr_t node_end(struct vt_owners *w, uintptr_t node, const struct node_layout *l) {
    enum { WEAK_COUNTS = 16, COUNTS_BYTES = 16 };
    bool behind = l == &node_old && vt_owners_word(w, node + WEAK_COUNTS) == node - COUNTS_BYTES;
    return vt_torch_block_end(w, behind ? node - COUNTS_BYTES : node);
}

void vt_torch_node(struct vt_owners *w, uintptr_t node) {
    const struct node_layout *l = layout_of(w, node);
    read_next(w, node, l);
    read_node_hooks(w, node, l);
    if (!has_members(w, node, l))
        return;
    uintptr_t end = node_end(w, node, l), own = node + l->bytes;
    if (vt_class_is(w, node, "N5torch8autograd14AccumulateGradE")) {
        /* The node's variable is not a tensor saved for the backward pass. */
        vt_torch_tensor(w, (struct vt_edge){.kind = VT_STEP_CLASS, .apart = true},
                        vt_owners_word(w, own));
    } else if (vt_class_is(w, node, "N5torch8autograd10CopySlicesE")) {
        /* An in-place operation on a view: the operation itself is another node, to which no edge leads. */
        vt_torch_edge_to_node(w, vt_owners_word(w, own + COPY_NODE));
    } else if (end && !python_of(w, node)) {
        read_members(w, own, end, &l->saved);
    }
}

void vt_torch_function(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type) {
    enum { FIRST = 16, MOST = 1024 };
    uint64_t bytes = vt_owners_word(w, type->address + VT_PYTYPE_BASICSIZE);
    bytes = bytes < MOST ? bytes : MOST;
    for (uintptr_t at = object + FIRST; at + 8 <= object + bytes; at += 8) {
        uintptr_t node = vt_owners_word(w, at);
        if (vt_class_of(w, node) != VT_CLASS_NODE)
            continue;
        const struct node_layout *l = layout_of(w, node);
        read_members(w, object + FIRST, at, &l->saved);
        if (python_of(w, node) == object)
            read_next(w, node, l);
        return;
    }
}
