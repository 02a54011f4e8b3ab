/* SPDX-License-Identifier: MIT */
/*
 * What PyTorch's objects hold: a Tensor its storage, its gradient and the node of the autograd graph
 * that made it; a node the tensors saved for it and the nodes before it.
 *
 * Layouts of PyTorch 2.x, as in its headers (torch/include) of 2.6, 2.9 and 2.15: two of each where
 * they have changed. An object is read only if its run-time class says what it is (owners_class.c),
 * and so is what it refers to; so a layout that is none of these ends the path, and names nothing
 * wrong. Weak references (a node's SavedVariable::weak_grad_fn_, a tensor's grad_accumulator_) are not
 * followed.
 *
 * Called by owners_walk.c and owners_class.c.
 */
#define _GNU_SOURCE
#include "owners_class.h"
#include "owners_parts.h"

#include <string.h>

/* Python's types. Their first members have been at these offsets from 3.8 to 3.14. */
#define TYPE_NAME  24u
#define TYPE_BYTES 32u
#define TYPE_BASE  256u
#define BASES_MOST 32u

/* Of a Python object of PyTorch: what it stands for. Before 2.9 or so a flag stands before it. */
#define PAYLOAD     16u
#define PAYLOAD_OLD 24u

enum family {
    FAMILY_NONE,
    FAMILY_TENSOR,
    FAMILY_PARAMETER, /* a Tensor, too */
    FAMILY_STORAGE,
    FAMILY_FUNCTION, /* the context of a torch.autograd.Function */
    FAMILY_SAVED,    /* a SavedVariable by itself */
    FAMILY_NODE,     /* perhaps: <SumBackward0 object> is one */
    FAMILY_MODULE,
    FAMILY_OPTIMIZER
};

/* A SavedVariable. */
struct saved_layout {
    uint16_t bytes, flags, hooks;
};
#define SAVED_FLAGS 5u /* bools in a row */

/* A Node, and the edges from it. */
struct node_layout {
    uint16_t next, edge_bytes, object, own;
    struct saved_layout saved;
};
static const struct node_layout node_new = {88, 16, 112, 272, {80, 40, 48}},
                                /* 2.6, 2.9: std::enable_shared_from_this, std::shared_ptr */
    node_old = {96, 24, 472, 280, {104, 48, 56}};

#define NODES_MOST 65536u /* edges of one node */
#define SAVED_MOST 4096u  /* tensors in one vector */
#define NODE_BYTES 16384u

/* --- Python's types --- */

static bool has_name(struct vt_owners *w, uintptr_t type, const char *name) {
    char text[64];
    size_t n = strlen(name) + 1;
    uintptr_t at = vt_owners_word(w, type + TYPE_NAME);
    return at && vt_owners_read(w, text, at, n) && memcmp(text, name, n) == 0;
}

static bool is_named(struct vt_owners *w, uintptr_t type, const char *full, const char *short_) {
    char text[128];
    if (!has_name(w, type, short_))
        return false;
    uint32_t n = vt_owners_python_type_name(w, type, text, sizeof text - 1);
    return n == strlen(full) && memcmp(text, full, n) == 0;
}

static enum family family_of(struct vt_owners *w, uintptr_t type) {
    if (has_name(w, type, "torch._C.TensorBase") || has_name(w, type, "torch._C._TensorBase"))
        return FAMILY_TENSOR;
    if (has_name(w, type, "torch._C.StorageBase"))
        return FAMILY_STORAGE;
    if (has_name(w, type, "torch._C._FunctionBase"))
        return FAMILY_FUNCTION;
    if (has_name(w, type, "torch._C._autograd.SavedTensor"))
        return FAMILY_SAVED;
    if (is_named(w, type, "torch.nn.parameter.Parameter", "Parameter"))
        return FAMILY_PARAMETER;
    if (is_named(w, type, "torch.nn.modules.module.Module", "Module"))
        return FAMILY_MODULE;
    if (is_named(w, type, "torch.optim.optimizer.Optimizer", "Optimizer"))
        return FAMILY_OPTIMIZER;
    return FAMILY_NONE;
}

/* The types of a graph's nodes have no common base: any small one may be such a type, and each of
 * its objects is looked at. */
static bool may_be_node(struct vt_owners *w, uintptr_t type) {
    uint64_t bytes = vt_owners_word(w, type + TYPE_BYTES),
             base = vt_owners_word(w, type + TYPE_BASE);
    return (bytes == PAYLOAD + 8 || bytes == PAYLOAD_OLD + 8) && has_name(w, base, "object");
}

void vt_owners_class_type(struct vt_owners *w, struct vt_owners_type *type) {
    uintptr_t at = type->address;
    for (unsigned i = 0; at && i < BASES_MOST && !type->family; i++) {
        type->family = (uint8_t)family_of(w, at);
        at = vt_owners_word(w, at + TYPE_BASE);
    }
    if (!type->family && may_be_node(w, type->address))
        type->family = FAMILY_NODE;
}

static bool is(struct vt_owners_text text, const char *name) {
    return text.bytes == strlen(name) && memcmp(text.at, name, text.bytes) == 0;
}

uint16_t vt_owners_class_roles(const struct vt_owners_type *type, struct vt_owners_text attribute) {
    switch ((enum family)type->family) {
    case FAMILY_MODULE:
        return is(attribute, "_parameters") ? VT_ROLE_PARAMETER
               : is(attribute, "_buffers")  ? VT_ROLE_BUFFER
               : is(attribute, "_modules")  ? VT_ROLE_MODULE
                                            : 0;
    case FAMILY_OPTIMIZER:
        return is(attribute, "state") ? VT_ROLE_OPTIMIZER : 0;
    case FAMILY_FUNCTION: /* what a context was given for the backward pass: ctx.mask = ... */
        return VT_ROLE_SAVED;
    default:
        return 0;
    }
}

int vt_owners_class_later(const struct vt_owners_type *type, uint16_t class_, uint16_t roles) {
    if (!type)
        return class_ == VT_CLASS_NODE ? VT_LATER_GRAPH : -1;
    switch ((enum family)type->family) {
    case FAMILY_MODULE:
        return roles & VT_ROLE_MODULE ? -1 : VT_LATER_MODULE;
    case FAMILY_TENSOR:
    case FAMILY_PARAMETER:
        return roles & (VT_ROLE_PARAMETER | VT_ROLE_BUFFER) ? -1 : VT_LATER_TENSOR;
    case FAMILY_OPTIMIZER:
        return VT_LATER_OPTIMIZER;
    case FAMILY_FUNCTION:
        return VT_LATER_GRAPH;
    default:
        return -1;
    }
}

/* --- Python's objects --- */

/* The C++ object for which a Python object stands. */
static uintptr_t payload(struct vt_owners *w, uintptr_t object, enum vt_class class_) {
    uintptr_t at = vt_owners_word(w, object + PAYLOAD);
    if (vt_class_of(w, at) != class_)
        at = vt_owners_word(w, object + PAYLOAD_OLD);
    return vt_class_of(w, at) == class_ ? at : 0;
}

static void part(struct vt_owners *w, uintptr_t to, enum vt_class class_, uint16_t roles) {
    vt_owners_edge(w, &(struct vt_edge){
                          .as = VT_AS_CLASS, .to = to, .class_ = (uint16_t)class_, .roles = roles});
}

static void attribute(struct vt_owners *w, struct vt_owners_text name, uintptr_t object) {
    vt_owners_edge(w,
                   &(struct vt_edge){
                       .kind = VT_STEP_ATTRIBUTE, .as = VT_AS_PYTHON, .name = name, .to = object});
}

/* Within the context of a torch.autograd.Function: its node is what refers to other nodes, and its
 * saved tensors lie in a vector here. */
static void read_function(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type);
static void read_saved_alone(struct vt_owners *w, uintptr_t object);

void vt_owners_class_python(struct vt_owners *w, uintptr_t object,
                            const struct vt_owners_type *type) {
    switch ((enum family)type->family) {
    case FAMILY_TENSOR:
        part(w, payload(w, object, VT_CLASS_TENSOR), VT_CLASS_TENSOR, 0);
        return;
    case FAMILY_PARAMETER: /* also one that no module has */
        part(w, payload(w, object, VT_CLASS_TENSOR), VT_CLASS_TENSOR, VT_ROLE_PARAMETER);
        return;
    case FAMILY_STORAGE:
        part(w, payload(w, object, VT_CLASS_STORAGE), VT_CLASS_STORAGE, 0);
        return;
    case FAMILY_NODE:
        part(w, payload(w, object, VT_CLASS_NODE), VT_CLASS_NODE, 0);
        return;
    case FAMILY_FUNCTION:
        read_function(w, object, type);
        return;
    case FAMILY_SAVED:
        read_saved_alone(w, object);
        return;
    case FAMILY_NONE:
    case FAMILY_MODULE:
    case FAMILY_OPTIMIZER:
        return;
    }
}

/* --- hooks --- */

/* An object of C++ that has a dict of Python's: there, or it is of another version. */
static bool read_dict(struct vt_owners *w, uintptr_t object, enum vt_class class_, uint32_t offset,
                      const char *name) {
    if (vt_class_of(w, object) != class_)
        return false;
    uintptr_t dict = vt_owners_word(w, object + offset), type = vt_owners_word(w, dict + 8);
    if (!dict || (!has_name(w, type, "dict") && !has_name(w, type, "collections.OrderedDict")))
        return false;
    attribute(w, (struct vt_owners_text){name, (uint32_t)strlen(name)}, dict);
    return true;
}

/* A vector of hooks. One that is Python's has a dict of functions. */
static void read_hooks(struct vt_owners *w, uintptr_t vector, enum vt_class class_,
                       const char *name) {
    enum { DICT = 8, MOST = 1024 };
    uintptr_t range[2];
    if (!vt_owners_read(w, range, vector, sizeof range) || !range[0] || range[0] & 7 ||
        range[1] - range[0] > MOST * 8)
        return;
    for (uintptr_t at = range[0]; at + 8 <= range[1]; at += 8)
        read_dict(w, vt_owners_word(w, at), class_, DICT, name);
}

/* --- nodes of the autograd graph --- */

/* The end of a block of the C library's heap; 0: it is none. The next block says that this one is in
 * use. */
static uintptr_t block_end(struct vt_owners *w, uintptr_t object) {
    enum { IN_USE = 1, FLAGS = 7 };
    uint64_t size = vt_owners_word(w, object - 8) & ~(uint64_t)FLAGS;
    if (size < 64 || size > NODE_BYTES || size % 16 ||
        !(vt_owners_word(w, object - 8 + size) & IN_USE))
        return 0;
    return object - 8 + size;
}

/* A tensor that a node saved; SAVED is its role, whatever else it is. */
static void saved(struct vt_owners *w, uintptr_t tensor) {
    vt_owners_edge(w, &(struct vt_edge){.kind = VT_STEP_CLASS,
                                        .as = VT_AS_CLASS,
                                        .to = tensor,
                                        .class_ = VT_CLASS_TENSOR,
                                        .roles = VT_ROLE_SAVED,
                                        .apart = true});
}

/* PySavedVariableHooks: the function that packs, which is gone after that, the one that unpacks, and
 * what the first made of the tensor. Each was a word once, and so the block short; now it is one of a
 * std::optional's three. */
static void saved_by_hooks(struct vt_owners *w, uintptr_t hooks) {
    enum { UNPACK = 1, DATA = 2 };
    if (vt_class_of(w, hooks) != VT_CLASS_HOOKS)
        return;
    uint32_t step = block_end(w, hooks) ? 24 : 8;
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

/* Whether a SavedVariable lies at `at`, of which the words were read. Its first word is a tensor, or
 * null where a hook has the tensor. */
static bool is_saved(struct vt_owners *w, const uint8_t *at, const struct saved_layout *l) {
    uintptr_t tensor, hooks;
    memcpy(&tensor, at, sizeof tensor);
    memcpy(&hooks, at + l->hooks, sizeof hooks);
    for (unsigned i = 0; i < SAVED_FLAGS; i++)
        if (at[l->flags + i] > 1)
            return false;
    return vt_class_of(w, tensor) == VT_CLASS_TENSOR &&
           (!hooks || vt_class_of(w, hooks) == VT_CLASS_HOOKS);
}

static void read_saved(struct vt_owners *w, const uint8_t *at, const struct saved_layout *l) {
    uintptr_t tensor, hooks;
    memcpy(&tensor, at, sizeof tensor);
    memcpy(&hooks, at + l->hooks, sizeof hooks);
    if (hooks)
        saved_by_hooks(w, hooks);
    else
        saved(w, tensor);
}

/* torch._C._autograd.SavedTensor: pybind11 keeps the address of its object behind the header. */
static void read_saved_alone(struct vt_owners *w, uintptr_t object) {
    uintptr_t at = vt_owners_word(w, object + PAYLOAD);
    uint8_t bytes[128];
    const struct saved_layout *l = &node_new.saved;
    if (vt_owners_read(w, bytes, at, l->bytes) && is_saved(w, bytes, l)) {
        read_saved(w, bytes, l);
        return;
    }
    l = &node_old.saved;
    if (vt_owners_read(w, bytes, at, l->bytes) && is_saved(w, bytes, l))
        read_saved(w, bytes, l);
}

/* A std::vector<SavedVariable>, or any three words. False: it is none. */
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

/* Finds saved tensors in the part of an object that is its class's own: the classes are generated,
 * and no table has their members. */
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

/* A node of Python's: its object is the context, which knows the node. */
static uintptr_t python_of(struct vt_owners *w, uintptr_t node) {
    return vt_class_is(w, node, "N5torch8autograd6PyNodeE")
               ? vt_owners_word(w, node + layout_of(w, node)->object)
               : 0;
}

static void edge_to_node(struct vt_owners *w, uintptr_t node) {
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
    for (uintptr_t at = edges[0]; at < edges[1] && vt_owners_goes_on(w); at += l->edge_bytes)
        edge_to_node(w, vt_owners_word(w, at));
}

/* What register_hook(), register_prehook() and `metadata` gave to a node. */
static void read_node_hooks(struct vt_owners *w, uintptr_t node, const struct node_layout *l) {
    enum { ANOMALY = 32, PRE = 40, TENSOR_PRE = 64, POST = 144 }; /* behind l->next */
    /* Behind a std::string, which was shorter, and a pointer, which was longer. */
    static const uint8_t metadata[] = {48, 56, 32};
    uintptr_t at = node + l->next, anomaly = vt_owners_word(w, at + ANOMALY);
    for (size_t i = 0; anomaly && i < sizeof metadata; i++)
        if (read_dict(w, anomaly, VT_CLASS_ANOMALY, metadata[i], "metadata"))
            break;
    read_hooks(w, at + PRE, VT_CLASS_PRE_HOOK, "pre_hooks");
    read_hooks(w, at + TENSOR_PRE, VT_CLASS_TENSOR_PRE_HOOK, "tensor_pre_hooks");
    read_hooks(w, at + POST, VT_CLASS_POST_HOOK, "post_hooks");
}

/* The first object of a class that a node's own part refers to; 0: none. */
static uintptr_t first_of(struct vt_owners *w, uintptr_t from, uintptr_t end,
                          enum vt_class class_) {
    for (uintptr_t at = from; at + 8 <= end; at += 8) {
        uintptr_t object = vt_owners_word(w, at);
        if (vt_class_of(w, object) == class_)
            return object;
    }
    return 0;
}

/* std::make_shared has put some nodes behind their counts, to which std::enable_shared_from_this
 * points. */
static uintptr_t node_end(struct vt_owners *w, uintptr_t node, const struct node_layout *l) {
    enum { WEAK_COUNTS = 16, COUNTS_BYTES = 16 };
    bool behind = l == &node_old && vt_owners_word(w, node + WEAK_COUNTS) == node - COUNTS_BYTES;
    return block_end(w, behind ? node - COUNTS_BYTES : node);
}

static void read_node(struct vt_owners *w, uintptr_t node) {
    const struct node_layout *l = layout_of(w, node);
    read_next(w, node, l);
    read_node_hooks(w, node, l);
    uintptr_t end = node_end(w, node, l), own = node + l->own;
    if (vt_class_is(w, node, "N5torch8autograd14AccumulateGradE")) {
        /* Its variable, which is not saved for the backward pass. */
        vt_owners_edge(w, &(struct vt_edge){.kind = VT_STEP_CLASS,
                                            .as = VT_AS_CLASS,
                                            .to = first_of(w, own, end, VT_CLASS_TENSOR),
                                            .class_ = VT_CLASS_TENSOR,
                                            .apart = true});
    } else if (vt_class_is(w, node, "N5torch8autograd10CopySlicesE")) {
        /* An operation in place on a view: what it did is another node, which no edge leads to. */
        edge_to_node(w, first_of(w, own, end, VT_CLASS_NODE));
    } else if (end && !python_of(w, node)) {
        read_members(w, own, end, &l->saved);
    }
}

static void read_function(struct vt_owners *w, uintptr_t object,
                          const struct vt_owners_type *type) {
    enum { FIRST = 16, MOST = 1024 };
    uint64_t bytes = vt_owners_word(w, type->address + TYPE_BYTES);
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

/* --- tensors --- */

/* Forward gradients: an object that knows itself (std::enable_shared_from_this), with a map from levels
 * to tensors. */
static void read_tangents(struct vt_owners *w, uintptr_t gradients) {
    enum { FIRST = 32, MOST = 16 };
    if (!gradients || vt_owners_word(w, gradients) != gradients)
        return;
    uintptr_t link = vt_owners_word(w, gradients + FIRST), entry[3];
    for (unsigned i = 0; link && i < MOST && vt_owners_read(w, entry, link, sizeof entry); i++) {
        if (vt_class_of(w, entry[2]) != VT_CLASS_TENSOR)
            return;
        vt_owners_edge(w, &(struct vt_edge){.kind = VT_STEP_ATTRIBUTE,
                                            .as = VT_AS_CLASS,
                                            .name = VT_OWNERS_LITERAL("tangent"),
                                            .to = entry[2],
                                            .class_ = VT_CLASS_TENSOR});
        link = entry[0];
    }
}

/* Tensors that consist of others, which are members behind those of a TensorImpl. It had one word
 * more. */
static void read_tensors_inside(struct vt_owners *w, uintptr_t tensor) {
    enum { BYTES = 176, BYTES_OLD = 184 };
    static const struct {
        const char *mangled;
        uint8_t first, count;
    } classes[] = {
        {"N2at16SparseTensorImplE", 16, 2}, /* indices, values */
        {"N2at19SparseCsrTensorImplE", 0, 3},         {"N2at9functorch13TensorWrapperE", 0, 1},
        {"N2at9functorch17BatchedTensorImplE", 0, 1}, {"N2at23FunctionalTensorWrapperE", 0, 1},
    };
    size_t i = 0;
    while (i < sizeof classes / sizeof *classes && !vt_class_is(w, tensor, classes[i].mangled))
        i++;
    for (uint32_t own = BYTES; i < sizeof classes / sizeof *classes && own <= BYTES_OLD; own += 8) {
        uintptr_t inside[3];
        unsigned found = 0, count = classes[i].count;
        if (!vt_owners_read(w, inside, tensor + own + classes[i].first, count * sizeof *inside))
            return;
        while (found < count && vt_class_of(w, inside[found]) == VT_CLASS_TENSOR)
            found++;
        for (unsigned k = 0; found == count && k < count; k++)
            part(w, inside[k], VT_CLASS_TENSOR, 0);
        if (found == count)
            return;
    }
}

/* autograd_meta_: after the vtable and the name, which is a std::string, of the new kind where its
 * first word points behind its second one. */
static void read_meta(struct vt_owners *w, uintptr_t meta) {
    enum { NAME = 8, NEW_NAME = 32, OLD_NAME = 8 };
    enum { DICT = 8 };
    /* Behind the gradient. What follows it was two std::shared_ptr. */
    static const struct {
        uint8_t tangents, hooks, gradient_hooks;
    } layouts[] = {{24, 40, 80}, {40, 56, 96}};
    uint64_t name = vt_owners_word(w, meta + NAME);
    uintptr_t at = meta + NAME + (name == meta + NAME + 16 ? NEW_NAME : OLD_NAME),
              gradient = vt_owners_word(w, at);
    if (vt_class_of(w, gradient) == VT_CLASS_TENSOR)
        vt_owners_edge(w, &(struct vt_edge){.kind = VT_STEP_ATTRIBUTE,
                                            .as = VT_AS_CLASS,
                                            .name = VT_OWNERS_LITERAL("grad"),
                                            .to = gradient,
                                            .class_ = VT_CLASS_TENSOR,
                                            .roles = VT_ROLE_GRADIENT});
    edge_to_node(w, vt_owners_word(w, at + 8));
    /* Each is told by its own class. */
    for (size_t i = 0; i < 2; i++) {
        read_tangents(w, vt_owners_word(w, at + layouts[i].tangents));
        read_hooks(w, at + layouts[i].hooks, VT_CLASS_TENSOR_PRE_HOOK, "_backward_hooks");
        read_dict(w, vt_owners_word(w, at + layouts[i].gradient_hooks), VT_CLASS_GRADIENT_HOOK,
                  DICT, "_post_accumulate_grad_hooks");
    }
}

static void read_tensor(struct vt_owners *w, uintptr_t tensor) {
    if (vt_class_is_derived(w, tensor))
        read_tensors_inside(w, tensor);
    /* The counts before it have taken one word or two. */
    for (uint32_t at = 16; at <= 24; at += 8) {
        uintptr_t storage = vt_owners_word(w, tensor + at),
                  meta = vt_owners_word(w, tensor + at + 8);
        bool stored = vt_class_of(w, storage) == VT_CLASS_STORAGE;
        if (stored)
            part(w, storage, VT_CLASS_STORAGE, 0);
        if ((stored || !storage) && vt_class_of(w, meta) == VT_CLASS_META) {
            read_meta(w, meta);
            return;
        }
        if (stored)
            return;
    }
}

static void read_storage(struct vt_owners *w, uintptr_t storage) {
    uint64_t words[2];
    if (!vt_owners_read(w, words, storage + 16, sizeof words))
        return;
    /* data_ptr_: with counts of two words, the first is the count of weak references. */
    uintptr_t data = words[0] < 1u << 20 && words[1] > words[0] ? words[1] : words[0];
    vt_owners_edge(w, &(struct vt_edge){.as = VT_AS_ADDRESS, .to = data});
}

void vt_owners_class(struct vt_owners *w, uintptr_t object, uint16_t class_) {
    switch ((enum vt_class)class_) {
    case VT_CLASS_TENSOR:
        read_tensor(w, object);
        return;
    case VT_CLASS_STORAGE:
        read_storage(w, object);
        return;
    case VT_CLASS_NODE:
        read_node(w, object);
        return;
    case VT_CLASS_NONE:
    default:
        return;
    }
}
