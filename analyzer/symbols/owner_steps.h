/* SPDX-License-Identifier: MIT */
/*
 * Properties of a single step (enum vt_step): its kind, name and type. For owner_names.c.
 */
#ifndef VRAMTRACE_ANALYZER_OWNER_STEPS_H
#define VRAMTRACE_ANALYZER_OWNER_STEPS_H

#include "model/model.h"
#include "vramtrace/log_format.h"

#include <stdbool.h>
#include <string.h>

static inline bool is_root(unsigned kind) {
    return kind >= VT_STEP_MODULE && kind <= VT_STEP_CYCLE;
}

/* Whether steps of this kind and parent differ only in a number, so that they are merged. */
static inline bool is_number(unsigned kind, const char *name) {
    return kind == VT_STEP_INDEX || kind == VT_STEP_ITEM ||
           (kind == VT_STEP_KEY && name[strspn(name, "-0123456789")] == 0);
}

static inline bool is_decimal(const char *text) {
    return text[0] && text[strspn(text, "0123456789")] == 0;
}

/* The dictionaries in which PyTorch's modules store attributes, and the objects in which torch.jit's modules do. */
static inline bool is_of_modules(unsigned kind, const char *name, const char *type) {
    return kind == VT_STEP_ATTRIBUTE &&
           (!strcmp(name, "_modules") || !strcmp(name, "_parameters") ||
            !strcmp(name, "_buffers") || !strcmp(name, "__dict__") ||
            (!strcmp(name, "_c") && !strcmp(type, "torch._C.ScriptModule")) ||
            (!strcmp(name, "_actual_script_module") && !strncmp(type, "torch.jit.", 10)));
}

/* Numbers that are addresses, which do not identify the owner. */
static inline bool is_number_class(const char *type) {
    return !strcmp(type, "int") || !strncmp(type, "ctypes.c_", 9);
}

static inline const char *text_or_null(const char *text) {
    return text[0] ? text : NULL;
}

/* The root's own part of a path's name; "": none, its variables are named alone. */
static inline const char *root_text(const struct vt_root *root) {
    switch (root->kind) {
    case VT_ROOT_MODULE:
    case VT_ROOT_FRAME:
        return "";
    case VT_ROOT_GLOBAL:
    case VT_ROOT_THREAD_LOCAL:
        return root->what ? root->what : "a variable";
    case VT_ROOT_NATIVE_STACK:
        return "a local variable";
    default:
        return root->what ? root->what : "";
    }
}

#endif
