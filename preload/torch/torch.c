/* SPDX-License-Identifier: MIT */
/*
 * Reads PyTorch's objects: a Tensor holds its storage, its gradient and the node of the autograd graph that made it; a
 * node holds the tensors saved for it and the nodes before it.
 *
 * The layouts are those of PyTorch 2.x, from the headers (torch/include) of 2.6, 2.9 and 2.15; where they differ, both
 * are here. An object is read only if its run-time class (owners/class.c) and its targets' classes are as expected, so
 * an unknown layout ends the path, and gives no wrong name. Weak references (a node's SavedVariable::weak_grad_fn_, a
 * tensor's grad_accumulator_) are not followed.
 *
 * Called by owners/walk.c and owners/class.c.
 */
#define _GNU_SOURCE
#include "torch.h"

#include <string.h>

#define BASES_MOST 32u

/* Offset of the C++ object in a Python object of PyTorch. Before about 2.9, a flag precedes the C++ object. */
#define PAYLOAD     16u
#define PAYLOAD_OLD 24u

enum family {
    FAMILY_NONE,
    FAMILY_TENSOR,
    FAMILY_PARAMETER, /* also a Tensor */
    FAMILY_STORAGE,
    FAMILY_FUNCTION, /* the context of a torch.autograd.Function */
    FAMILY_SAVED,    /* a separate SavedVariable */
    FAMILY_NODE,     /* perhaps a node, such as <SumBackward0 object> */
    FAMILY_MODULE,
    FAMILY_OPTIMIZER,
    FAMILY_BOUND /* a type of pybind11, read by pybind.c; the last one */
};

/* --- Python types --- */

static bool is_named(struct vt_owners *w, uintptr_t type, const char *full, const char *short_) {
    char text[128];
    if (!vt_py_type_is(w, type, short_))
        return false;
    uint32_t n = vt_py_type_name(w, type, text, sizeof text - 1);
    return n == strlen(full) && memcmp(text, full, n) == 0;
}

static enum family family_of(struct vt_owners *w, uintptr_t type) {
    if (vt_py_type_is(w, type, "torch._C.TensorBase") ||
        vt_py_type_is(w, type, "torch._C._TensorBase"))
        return FAMILY_TENSOR;
    if (vt_py_type_is(w, type, "torch._C.StorageBase"))
        return FAMILY_STORAGE;
    if (vt_py_type_is(w, type, "torch._C._FunctionBase"))
        return FAMILY_FUNCTION;
    if (vt_py_type_is(w, type, "torch._C._autograd.SavedTensor"))
        return FAMILY_SAVED;
    if (is_named(w, type, "torch.nn.parameter.Parameter", "Parameter"))
        return FAMILY_PARAMETER;
    if (is_named(w, type, "torch.nn.modules.module.Module", "Module"))
        return FAMILY_MODULE;
    if (is_named(w, type, "torch.optim.optimizer.Optimizer", "Optimizer"))
        return FAMILY_OPTIMIZER;
    for (unsigned i = 0; vt_torch_bound_name(i); i++)
        if (vt_py_type_is(w, type, vt_torch_bound_name(i)))
            return FAMILY_BOUND + i;
    return FAMILY_NONE;
}

/* The types of graph nodes have no common base: any small type may be a node's, so each of its objects is checked. */
static bool may_be_node(struct vt_owners *w, uintptr_t type) {
    uint64_t bytes = vt_owners_word(w, type + VT_PYTYPE_BASICSIZE),
             base = vt_owners_word(w, type + VT_PYTYPE_BASE);
    return (bytes == PAYLOAD + 8 || bytes == PAYLOAD_OLD + 8) && vt_py_type_is(w, base, "object");
}

void vt_torch_type(struct vt_owners *w, struct vt_owners_type *type) {
    uintptr_t at = type->address;
    for (unsigned i = 0; at && i < BASES_MOST && !type->family; i++) {
        type->family = (uint8_t)family_of(w, at);
        at = vt_owners_word(w, at + VT_PYTYPE_BASE);
    }
    if (!type->family && may_be_node(w, type->address))
        type->family = FAMILY_NODE;
}

static bool text_is(struct vt_owners_text text, const char *name) {
    return text.bytes == strlen(name) && memcmp(text.at, name, text.bytes) == 0;
}

/* Whether an attribute is a wrapper's inner tensor, not the program's own. */
static bool is_inner_tensor(struct vt_owners_text attribute) {
    return text_is(attribute, "_local_tensor") || text_is(attribute, "elem");
}

uint16_t vt_torch_roles(const struct vt_owners *w, const struct vt_owners_type *type,
                        struct vt_owners_text attribute) {
    if (!type)
        return text_is(attribute, "'params'") ? VT_ROLE_PARAMETER : VT_ROLE_OPTIMIZER;
    switch ((enum family)type->family) {
    case FAMILY_MODULE:
        return text_is(attribute, "_parameters") ? VT_ROLE_PARAMETER
               : text_is(attribute, "_buffers")  ? VT_ROLE_BUFFER
               : text_is(attribute, "_modules")  ? VT_ROLE_MODULE
                                                 : 0;
    case FAMILY_OPTIMIZER:
        return text_is(attribute, "state")          ? VT_ROLE_OPTIMIZER
               : text_is(attribute, "param_groups") ? VT_ROLE_GROUPS
                                                    : 0;
    /* attributes that a context was given for the backward pass: ctx.mask = ... */
    case FAMILY_FUNCTION:
        return VT_ROLE_SAVED;
    case FAMILY_TENSOR:
    case FAMILY_PARAMETER:
        return is_inner_tensor(attribute) ? w->roles : 0;
    default:
        return 0;
    }
}

int vt_torch_later(const struct vt_owners_type *type, uint16_t class_, uint16_t roles) {
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

/* --- Python objects --- */

/* The C++ object of a Python object. */
static uintptr_t payload(struct vt_owners *w, uintptr_t object, enum vt_class class_) {
    uintptr_t at = vt_owners_word(w, object + PAYLOAD);
    if (vt_class_of(w, at) != class_)
        at = vt_owners_word(w, object + PAYLOAD_OLD);
    return vt_class_of(w, at) == class_ ? at : 0;
}

void vt_torch_part(struct vt_owners *w, uintptr_t to, enum vt_class class_, uint16_t roles) {
    vt_owners_edge(w, &(struct vt_edge){
                          .as = VT_AS_CLASS, .to = to, .class_ = (uint16_t)class_, .roles = roles});
}

void vt_torch_python(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type) {
    switch ((enum family)type->family) {
    case FAMILY_TENSOR:
        vt_torch_part(w, payload(w, object, VT_CLASS_TENSOR), VT_CLASS_TENSOR, 0);
        return;
    case FAMILY_PARAMETER: /* even if it belongs to no module */
        vt_torch_part(w, payload(w, object, VT_CLASS_TENSOR), VT_CLASS_TENSOR, VT_ROLE_PARAMETER);
        return;
    case FAMILY_STORAGE:
        vt_torch_part(w, payload(w, object, VT_CLASS_STORAGE), VT_CLASS_STORAGE, 0);
        return;
    case FAMILY_NODE:
        vt_torch_part(w, payload(w, object, VT_CLASS_NODE), VT_CLASS_NODE, 0);
        return;
    case FAMILY_FUNCTION:
        vt_torch_function(w, object, type);
        return;
    case FAMILY_SAVED:
        vt_torch_saved_alone(w, object);
        return;
    case FAMILY_NONE:
    case FAMILY_MODULE:
    case FAMILY_OPTIMIZER:
        return;
    case FAMILY_BOUND:
    default:
        vt_torch_bound(w, object, type->family - FAMILY_BOUND);
        return;
    }
}

/* --- tensors --- */

void vt_torch_tensor(struct vt_owners *w, struct vt_edge edge, uintptr_t tensor) {
    edge.as = VT_AS_CLASS;
    edge.to = tensor;
    edge.class_ = VT_CLASS_TENSOR;
    if (vt_class_of(w, tensor) == VT_CLASS_TENSOR)
        vt_owners_edge(w, &edge);
}

/* Forward gradients are an object with a pointer to itself (std::enable_shared_from_this), and a map from levels to
 * tensors. */
static void read_tangents(struct vt_owners *w, uintptr_t gradients) {
    enum { FIRST = 32, MOST = 16 };
    if (!gradients || vt_owners_word(w, gradients) != gradients)
        return;
    uintptr_t link = vt_owners_word(w, gradients + FIRST), entry[3];
    for (unsigned i = 0; link && i < MOST && vt_owners_read(w, entry, link, sizeof entry); i++) {
        if (vt_class_of(w, entry[2]) != VT_CLASS_TENSOR)
            return;
        vt_torch_tensor(
            w, (struct vt_edge){.kind = VT_STEP_ATTRIBUTE, .name = VT_OWNERS_LITERAL("tangent")},
            entry[2]);
        link = entry[0];
    }
}

/* Some tensors consist of others, which are members after those of TensorImpl. In older versions TensorImpl was one
 * word longer. */
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
            vt_torch_part(w, inside[k], VT_CLASS_TENSOR, 0);
        if (found == count)
            return;
    }
}

/* Reads autograd_meta_, whose members follow the vtable and the name. The name is a std::string; it has the new ABI if
 * its first word points just after its second word. */
static void read_meta(struct vt_owners *w, uintptr_t meta) {
    enum { NAME = 8, NEW_NAME = 32, OLD_NAME = 8 };
    enum { DICT = 8 };
    /* Offsets after the gradient. In older versions the next member was two std::shared_ptr. */
    static const struct {
        uint8_t tangents, hooks, gradient_hooks;
    } layouts[] = {{24, 40, 80}, {40, 56, 96}};
    uint64_t name = vt_owners_word(w, meta + NAME);
    uintptr_t at = meta + NAME + (name == meta + NAME + 16 ? NEW_NAME : OLD_NAME);
    vt_torch_tensor(w,
                    (struct vt_edge){.kind = VT_STEP_ATTRIBUTE,
                                     .name = VT_OWNERS_LITERAL("grad"),
                                     .roles = VT_ROLE_GRADIENT},
                    vt_owners_word(w, at));
    vt_torch_edge_to_node(w, vt_owners_word(w, at + 8));
    /* Each member is identified by its class. */
    for (size_t i = 0; i < 2; i++) {
        read_tangents(w, vt_owners_word(w, at + layouts[i].tangents));
        vt_torch_hooks(w, at + layouts[i].hooks, VT_CLASS_TENSOR_PRE_HOOK, "_backward_hooks");
        vt_torch_dict(w, vt_owners_word(w, at + layouts[i].gradient_hooks), VT_CLASS_GRADIENT_HOOK,
                      DICT, "_post_accumulate_grad_hooks");
    }
}

/* A storage's data_ptr_, which may be null. If the counts take two words, the first of the two words read here is the
 * count of weak references, which is at least one. */
static uintptr_t data_of(struct vt_owners *w, uintptr_t storage) {
    uint64_t words[2];
    if (!vt_owners_read(w, words, storage + 16, sizeof words))
        return 0;
    return words[0] && words[0] < 1u << 20 ? words[1] : words[0];
}

/* The bytes that a copy of a tensor takes on a device, rounded up to PyTorch's smallest unit. 0: none, or unknown. The
 * slot of the tensor's Python object was two words in older versions, so the members after it identify the layout:
 * sizes and strides (up to five in place), the number of elements, their type and the device. */
static uint64_t seen_by(struct vt_owners *w, uintptr_t tensor, uint32_t storage_at) {
    enum { SIZES = 40, SIZES_OLD = 48, IN_PLACE = 5, ELEMENTS = 12, TYPE = 13, UNIT = 512 };
    enum { CUDA = 1 << 16, HAS_DEVICE = 1 };
    static const uint8_t bytes[] = {1, 1, 2, 4, 8, 2,        4, 8, 4, 8, 16,
                                    1, 1, 1, 4, 2, [23] = 1, 1, 1, 1}; /* by the type's number */
    uint64_t words[TYPE + 1];
    for (uint32_t at = SIZES; at <= SIZES_OLD; at += 8) {
        if (!vt_owners_read(w, words, tensor + storage_at + at, sizeof words))
            return 0;
        uint64_t elements = 1, type = words[TYPE];
        for (unsigned i = 0; i < words[0] && i < IN_PLACE; i++)
            elements *= words[1 + i];
        if ((type & 0xff0000) == CUDA && (type >> 32 & 0xff) == HAS_DEVICE &&
            elements == words[ELEMENTS] && (uint16_t)type < sizeof bytes)
            return (elements * bytes[(uint16_t)type] + UNIT - 1) / UNIT * UNIT;
    }
    return 0;
}

/* Adds the bytes that a tensor covers of an allocation. If the tensor is a view and autograd keeps its base, finds the
 * base: a word after the members of the tensor's meta. */
static void add_view(struct vt_owners *w, uintptr_t tensor, uint32_t storage_at, uintptr_t meta) {
    enum { META_END = 320 };
    uintptr_t storage = vt_owners_word(w, tensor + storage_at);
    struct vt_owners_target *t = vt_owners_target_at(w, data_of(w, storage));
    uint64_t bytes = t && !w->roles_only ? seen_by(w, tensor, storage_at) : 0;
    if (!bytes)
        return;
    t->seen += bytes;
    t->tensors++;
    bool is_view = vt_class_is(w, meta, "N5torch8autograd22DifferentiableViewMetaE");
    for (uint32_t i = 8; i < META_END && is_view; i += 8) {
        uintptr_t to = vt_owners_word(w, meta + i);
        if (vt_class_of(w, to) == VT_CLASS_TENSOR &&
            vt_owners_word(w, to + storage_at) == storage) {
            t->views = to == t->base ? t->views + 1 : 1;
            t->base = to;
            return;
        }
    }
}

/* The Python object of a tensor without memory of its own, such as a DTensor, holds the wrapped tensors. The tensor and
 * this object keep each other alive. In older versions the slot was two words: the interpreter, and the object with a
 * flag. */
static void read_python_of(struct vt_owners *w, uintptr_t tensor, uint32_t storage_at) {
    enum { SLOT = 32, SLOT_OLD = 40 }; /* after storage_ */
    for (uint32_t at = SLOT; at <= SLOT_OLD; at += 8) {
        uintptr_t object = vt_owners_word(w, tensor + storage_at + at) & ~(uintptr_t)1;
        const struct vt_owners_type *type = vt_owners_type_of(w, object);
        if (!type || (type->family != FAMILY_TENSOR && type->family != FAMILY_PARAMETER) ||
            payload(w, object, VT_CLASS_TENSOR) != tensor)
            continue;
        vt_owners_edge(w, &(struct vt_edge){.as = VT_AS_PYTHON, .to = object, .type = type});
        return;
    }
}

static void read_tensor(struct vt_owners *w, uintptr_t tensor) {
    if (vt_class_is_derived(w, tensor))
        read_tensors_inside(w, tensor);
    /* The counts before the storage take one word or two. */
    for (uint32_t at = 16; at <= 24; at += 8) {
        uintptr_t storage = vt_owners_word(w, tensor + at),
                  meta = vt_owners_word(w, tensor + at + 8);
        bool stored = vt_class_of(w, storage) == VT_CLASS_STORAGE;
        if (stored)
            vt_torch_part(w, storage, VT_CLASS_STORAGE, 0);
        if (stored)
            add_view(w, tensor, at, meta);
        if (stored && !data_of(w, storage))
            read_python_of(w, tensor, at);
        if ((stored || !storage) && vt_class_of(w, meta) == VT_CLASS_META) {
            read_meta(w, meta);
            return;
        }
        if (stored)
            return;
    }
}

static void read_storage(struct vt_owners *w, uintptr_t storage) {
    uintptr_t data = data_of(w, storage);
    struct vt_owners_target *t = vt_owners_target_at(w, data);
    vt_owners_edge(w, &(struct vt_edge){.as = VT_AS_ADDRESS, .to = data});
    if (t && !w->roles_only)
        t->references += (uint32_t)vt_owners_word(w, storage + 8);
}

void vt_torch_class(struct vt_owners *w, uintptr_t object, uint16_t class_) {
    switch ((enum vt_class)class_) {
    case VT_CLASS_TENSOR:
        read_tensor(w, object);
        return;
    case VT_CLASS_STORAGE:
        read_storage(w, object);
        return;
    case VT_CLASS_NODE:
        vt_torch_node(w, object);
        return;
    case VT_CLASS_SCRIPT:
        vt_torch_script(w, object);
        return;
    case VT_CLASS_LIST:
        vt_torch_list(w, object);
        return;
    case VT_CLASS_DICT:
        vt_torch_script_dict(w, object);
        return;
    case VT_CLASS_TUPLE:
        vt_torch_tuple(w, object);
        return;
    case VT_CLASS_NONE:
    default:
        return;
    }
}
