/* SPDX-License-Identifier: MIT */
/*
 * Classes of C++ objects, by their run-time type information (class.c), for torch/ and native/.
 */
#ifndef VT_PRELOAD_CLASS_H
#define VT_PRELOAD_CLASS_H

#include "reader.h"

/* The class that an object has or is derived from; also selects the reader of a VT_AS_CLASS object. */
enum vt_class {
    VT_CLASS_NONE,
    VT_CLASS_TENSOR,  /* c10::TensorImpl */
    VT_CLASS_STORAGE, /* c10::StorageImpl */
    VT_CLASS_NODE,    /* torch::autograd::Node */
    VT_CLASS_META,    /* torch::autograd::AutogradMeta */
    VT_CLASS_HOOKS,   /* torch::autograd::PySavedVariableHooks */
    /* The following are in torch::autograd and have a Python dict after the vtable. */
    VT_CLASS_TENSOR_PRE_HOOK, /* PyFunctionTensorPreHook */
    VT_CLASS_PRE_HOOK,        /* PyFunctionPreHook */
    VT_CLASS_POST_HOOK,       /* PyFunctionPostHook */
    VT_CLASS_GRADIENT_HOOK,   /* PyFunctionTensorPostAccGradHooks */
    VT_CLASS_ANOMALY,         /* PyAnomalyMetadata */
    VT_CLASS_SCRIPT,          /* c10::ivalue::Object, such as torch.jit's modules */
    VT_CLASS_LIST,            /* c10::detail::ListImpl; the next are also torch.jit's */
    VT_CLASS_DICT,
    VT_CLASS_TUPLE,
    VT_CLASS_OBJECT, /* any other */
    VT_CLASSES
};

/* Returns VT_CLASS_NONE also if there is no such object. */
enum vt_class vt_class_of(struct vt_owners *w, uintptr_t object);
/* Whether the object's own class is only derived from the known one. */
bool vt_class_is_derived(struct vt_owners *w, uintptr_t object);
/* Whether the object's own class has this mangled name. */
bool vt_class_is(struct vt_owners *w, uintptr_t object, const char *mangled);
/* Whether the object is a control block of std::shared_ptr. */
bool vt_class_is_shared(struct vt_owners *w, uintptr_t object);
/* The vtable of an object of any class; 0: not an object. */
uintptr_t vt_class_object(struct vt_owners *w, uintptr_t object);

/* A key that distinguishes the classes of such objects, and the class's name by this key. vt_class_name returns the
 * name's length, at most `room`; 0: unknown. */
uint64_t vt_class_key(struct vt_owners *w, uintptr_t object, uint16_t class_);
uint32_t vt_class_name(struct vt_owners *w, uint64_t key, uint16_t class_, char *to, uint32_t room);

#endif
