/* SPDX-License-Identifier: MIT */
/*
 * The roots of paths through Python objects: the globals of every module in sys.modules, the local variables of every
 * thread's frames, and exceptions that are stored or in flight, in all interpreters of the process. Called by
 * owners/walk.c, once per level.
 */
#include "pyobjects.h"

#include <string.h>

#define MOST_INTERPRETERS 64u
#define MOST_THREADS      4096u
#define MOST_FRAMES       65536u
#define MOST_EXCEPTIONS   1024u

static bool contains(const char *text, const char *part) {
    return strstr(text, part) != NULL;
}

/* Whether a file belongs to an installed package, and not to the user's own program. */
static bool is_library(const char *file) {
    if (contains(file, "/site-packages/") || contains(file, "/dist-packages/") ||
        strncmp(file, "<frozen", 7) == 0)
        return true;
    /* The standard library: .../lib/python3.11/... */
    for (const char *at = strstr(file, "/lib/python3."); at; at = strstr(at + 1, "/lib/python3.")) {
        at += strlen("/lib/python3.");
        const char *digits = at;
        while (*at >= '0' && *at <= '9')
            at++;
        if (at > digits && *at == '/')
            return true;
    }
    return false;
}

/* --- modules --- */

/* Checks the type, because sys.modules may contain any object. */
static uintptr_t module_dict(struct vt_owners *w, uintptr_t module) {
    const struct vt_owners_type *type = vt_owners_type_of(w, module);
    return type && type->reader == VT_PYREAD_MODULE ? vt_owners_word(w, module + VT_PYMODULE_DICT)
                                                    : 0;
}

static void name_module(struct vt_owners *w, uintptr_t key, uintptr_t value, void *data) {
    char name[VT_OWNERS_TEXT_MOST + 1], file[VT_OWNERS_TEXT_MOST + 1];
    uintptr_t dict = module_dict(w, value), main_module = *(const uintptr_t *)data;
    if (!dict)
        return;
    name[vt_py_str(w, key, name, sizeof name - 1)] = 0;
    /* multiprocessing also registers it as __mp_main__. */
    if (value == main_module && strcmp(name, "__main__") != 0)
        return;
    uintptr_t path = vt_py_look_up(w, dict, "__file__");
    file[path ? vt_py_str(w, path, file, sizeof file - 1) : 0] = 0;
    bool main = strcmp(name, "__main__") == 0;
    struct vt_root root = {
        .level = main                           ? VT_LEVEL_USER
                 : file[0] && !is_library(file) ? VT_LEVEL_OWN
                                                : VT_LEVEL_LIBRARY,
        .kind = VT_STEP_MODULE,
        .name = vt_owners_text_of(name),
        .type = vt_owners_text_of(file),
    };
    /* A module may be registered twice, as with `import a.b as c` or a __main__ that was imported under its own name.
     * The walk keeps the first. */
    if (vt_owners_root(w, &root))
        vt_py_names(w, dict, VT_STEP_NAME);
}

/* --- threads --- */

static uintptr_t first_frame(struct vt_owners *w, uintptr_t thread) {
    const struct vt_pylayout *at = &vt_pyimage.at;
    if (!at->state_cframe || at->chain == VT_CHAIN_OBJECTS)
        return vt_owners_word(w, thread + at->state_frame);
    uintptr_t c = vt_owners_word(w, thread + at->state_cframe);
    return c ? vt_owners_word(w, c + at->cframe_current) : 0;
}

/* A frame's variables belong to the level of its file. The evaluation stack is walked last, because it has no names,
 * and its objects are often in variables as well. */
static void frame_of_thread(struct vt_owners *w, uintptr_t frame) {
    struct vt_pyposition place;
    bool last = vt_owners_level(w) == VT_LEVEL_INTERPRETER;
    if (!vt_py_position(w, frame, &place))
        return;
    struct vt_root root = {
        .level = last                     ? VT_LEVEL_INTERPRETER
                 : is_library(place.file) ? VT_LEVEL_LIBRARY
                                          : VT_LEVEL_USER,
        .kind = VT_STEP_FRAME,
        .name = vt_owners_text_of(place.name),
        .type = vt_owners_text_of(place.file),
        .line = place.line,
    };
    if (vt_owners_root(w, &root))
        (last ? vt_py_frame_stack : vt_py_frame_names)(w, frame);
}

/* The outermost frame comes first: it holds an object longer than the functions to which it passes the object. */
static void name_frames(struct vt_owners *w, uintptr_t thread) {
    static uintptr_t list[MOST_FRAMES]; /* static: only one snapshot runs at a time */
    uint32_t count = 0;
    for (uintptr_t frame = first_frame(w, thread); frame && count < MOST_FRAMES;
         frame = vt_owners_word(w, frame + vt_pyimage.at.previous))
        list[count++] = frame;
    while (count && vt_owners_may_continue(w))
        frame_of_thread(w, list[--count]);
}

/* --- exceptions --- */

static void name_exception(struct vt_owners *w, uintptr_t object) {
    char name[VT_OWNERS_TEXT_MOST];
    const struct vt_owners_type *type = vt_owners_type_of(w, object);
    if (!type || type->leaf)
        return;
    struct vt_root root = {
        .level = VT_LEVEL_EXCEPTION,
        .kind = VT_STEP_EXCEPTION,
        .name = vt_py_class(w, type->address, name, sizeof name),
    };
    if (vt_owners_root(w, &root))
        vt_py_part(w, object);
}

static void exceptions_of_thread(struct vt_owners *w, uintptr_t thread) {
    const struct vt_pylayout *py = vt_py;
    name_exception(w, vt_owners_word(w, thread + py->state_raised));
    uintptr_t item = vt_owners_word(w, thread + py->state_exceptions);
    for (unsigned i = 0; item && !(item & 7) && i < MOST_EXCEPTIONS; i++) {
        name_exception(w, vt_owners_word(w, item + py->exception_value));
        item = vt_owners_word(w, item + py->exception_previous);
    }
}

static void last_exceptions(struct vt_owners *w, uintptr_t sys) {
    uintptr_t value = vt_py_look_up(w, sys, "last_value");
    name_exception(w, vt_py_look_up(w, sys, "last_exc"));
    name_exception(w, value);
    if (!value) /* else the exception has the traceback */
        name_exception(w, vt_py_look_up(w, sys, "last_traceback"));
}

/* Objects that C extensions store for a thread, in its dict. */
static void thread_dict(struct vt_owners *w, uintptr_t thread) {
    struct vt_root root = {
        .level = VT_LEVEL_INTERPRETER,
        .kind = VT_STEP_INTERPRETER,
        .name = VT_OWNERS_LITERAL("thread state"),
    };
    uintptr_t dict = vt_owners_word(w, thread + vt_py->state_dict);
    if (dict && vt_owners_root(w, &root))
        vt_py_keys(w, dict);
}

static void thread_context(struct vt_owners *w, uintptr_t thread) {
    struct vt_root root = {
        .level = VT_LEVEL_OWN,
        .kind = VT_STEP_INTERPRETER,
        .name = VT_OWNERS_LITERAL("context variables"),
    };
    uintptr_t context = vt_owners_word(w, thread + vt_py->state_context);
    uintptr_t type = context ? vt_owners_word(w, context + VT_PY_TYPE) : 0;
    if ((vt_py_type_is(w, type, "Context") || vt_py_type_is(w, type, "_contextvars.Context")) &&
        vt_owners_root(w, &root))
        vt_py_part(w, context);
}

static void name_interpreter(struct vt_owners *w, uintptr_t at, enum vt_owners_level level) {
    const struct vt_pylayout *py = vt_py;
    if (level == VT_LEVEL_EXCEPTION)
        last_exceptions(w, vt_owners_word(w, at + py->interpreter_sys));
    if (level == VT_LEVEL_CYCLE)
        vt_py_cycles(w, at);
    /* Threads come first: a frame's name for an object is closer than a module's. */
    uintptr_t thread = vt_owners_word(w, at + py->interpreter_threads);
    for (unsigned i = 0; thread && !(thread & 7) && i < MOST_THREADS; i++) {
        /* A valid thread state refers back to its interpreter. */
        if (vt_owners_word(w, thread + vt_py->state_interpreter) != at)
            return;
        if (level == VT_LEVEL_EXCEPTION)
            exceptions_of_thread(w, thread);
        if (level == VT_LEVEL_INTERPRETER)
            thread_dict(w, thread);
        if (level == VT_LEVEL_OWN)
            thread_context(w, thread);
        if (level == VT_LEVEL_USER || level == VT_LEVEL_LIBRARY || level == VT_LEVEL_INTERPRETER)
            name_frames(w, thread);
        thread = vt_owners_word(w, thread + vt_py->state_next);
    }
    if (level == VT_LEVEL_USER || level == VT_LEVEL_OWN || level == VT_LEVEL_LIBRARY) {
        uintptr_t modules = vt_owners_word(w, at + py->interpreter_modules),
                  main_module = vt_py_look_up(w, modules, "__main__");
        vt_py_each(w, modules, name_module, &main_module);
    }
}

void vt_py_roots(struct vt_owners *w) {
    bool known = vt_python_state(NULL) == VT_PYTHON_ACTIVE && vt_pyimage.runtime;
    vt_py = known && vt_pyimage.at.objects ? &vt_pyimage.at : NULL;
    if (!vt_py)
        return;
    if (vt_owners_level(w) == VT_LEVEL_USER) {
        vt_py_forget_excluded();
        vt_py_forget_cycles();
    }
    uintptr_t at = vt_owners_word(w, vt_pyimage.runtime + vt_py->interpreters);
    for (unsigned i = 0; at && !(at & 7) && i < MOST_INTERPRETERS; i++) {
        name_interpreter(w, at, vt_owners_level(w));
        at = vt_owners_word(w, at + vt_py->interpreter_next);
    }
}
