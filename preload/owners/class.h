/* SPDX-License-Identifier: MIT */
/*
 * Classes of C++ objects, by their run-time type information (class.c), for torch/ and native/.
 */
#ifndef VT_PRELOAD_CLASS_H
#define VT_PRELOAD_CLASS_H

#include "reader.h"

/* What an object is, or is derived from; also how VT_AS_CLASS objects are read. */
enum vt_class {
    VT_CLASS_NONE,
    VT_CLASS_TENSOR,  /* c10::TensorImpl */
    VT_CLASS_STORAGE, /* c10::StorageImpl */
    VT_CLASS_NODE,    /* torch::autograd::Node */
    VT_CLASS_META,    /* torch::autograd::AutogradMeta */
    VT_CLASS_HOOKS,   /* torch::autograd::PySavedVariableHooks */
    /* Of torch::autograd, with a dict of Python's behind the vtable. */
    VT_CLASS_TENSOR_PRE_HOOK, /* PyFunctionTensorPreHook */
    VT_CLASS_PRE_HOOK,        /* PyFunctionPreHook */
    VT_CLASS_POST_HOOK,       /* PyFunctionPostHook */
    VT_CLASS_GRADIENT_HOOK,   /* PyFunctionTensorPostAccGradHooks */
    VT_CLASS_ANOMALY,         /* PyAnomalyMetadata */
    VT_CLASS_SCRIPT,          /* c10::ivalue::Object, as torch.jit's modules are */
    VT_CLASS_LIST,            /* c10::detail::ListImpl, and the others of torch.jit */
    VT_CLASS_DICT,
    VT_CLASS_TUPLE,
    VT_CLASS_OBJECT, /* any other */
    VT_CLASSES
};

/* VT_CLASS_NONE also where there is no such object. */
enum vt_class vt_class_of(struct vt_owners *w, uintptr_t object);
/* Whether its own class is another, derived from that one. */
bool vt_class_is_derived(struct vt_owners *w, uintptr_t object);
/* Whether its own class has this mangled name. */
bool vt_class_is(struct vt_owners *w, uintptr_t object, const char *mangled);
/* Whether it is a control block of std::shared_ptr. */
bool vt_class_is_shared(struct vt_owners *w, uintptr_t object);
/* The vtable of an object of any class but the C++ library's; 0: it is none. */
uintptr_t vt_class_object(struct vt_owners *w, uintptr_t object);

/* What tells the classes of such objects apart, and the class's name by it; as
 * vt_py_type_name. */
uint64_t vt_class_key(struct vt_owners *w, uintptr_t object, uint16_t class_);
uint32_t vt_class_name(struct vt_owners *w, uint64_t key, uint16_t class_, char *to, uint32_t room);

#endif
