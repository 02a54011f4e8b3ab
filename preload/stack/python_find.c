/* SPDX-License-Identifier: MIT */
/*
 * Finds the Python interpreter in this process: the few functions and variables needed for reading its frames, its
 * version, and the range of its code. Nothing is known at link time: the program may be the interpreter, may be linked
 * to libpython, or may have opened it, even privately.
 *
 * Called by python.c at arming and after later library loads. Takes the loader's lock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "python_layout.h"
#include "base/base.h"

struct vt_pyimage vt_pyimage;

/* Whether the program is an interpreter, by its name. If so, all of its code is the interpreter's. */
static bool program_is_python(void) {
    char path[1024];
    return vt_library_is_python(vt_process_program(path, sizeof path));
}

/* The handle for symbol look-ups: the global scope, or a libpython that was opened privately. */
static void *handle_of_interpreter(void) {
    if (vt_libc_dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState") != NULL)
        return RTLD_DEFAULT;
    struct vt_elf object;
    return vt_elf_named("libpython", "PyGILState_GetThisThreadState", &object) && object.name[0]
               ? vt_libc_dlopen(object.name, RTLD_LAZY | RTLD_NOLOAD)
               : RTLD_DEFAULT;
}

/* Reads the minor version from "3.11.7 (main, ...". Returns NULL, or why it is not supported. */
static const char *parse_version(const char *text, unsigned *minor) {
    unsigned major = 0, m = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++)
        major = major * 10 + (unsigned)(*p - '0');
    if (major != 3 || *p++ != '.')
        return "only Python 3 is supported";
    for (; *p >= '0' && *p <= '9' && m < 1000; p++)
        m = m * 10 + (unsigned)(*p - '0');
    *minor = m;
    const char *space = strchr(p, ' ');
    for (; *p && p != space; p++) {
        if (*p == 'a' || *p == 'b')
            return "a pre-release of Python, whose structures may still change";
        if (*p == '+' && (strncmp(p, "+cinder", 7) == 0 || strncmp(p, "+meta", 5) == 0))
            return "Cinder is not CPython: its frames are different";
    }
    return strstr(text, "PyPy") || strstr(text, "GraalVM") ? "not CPython: its frames are different"
                                                           : NULL;
}

/* Keeps the interpreter loaded: the record path calls its functions, and an embedding program may close its libpython.
 * The program itself cannot be unloaded. */
static void pin(const char *path) {
    if (path[0])
        (void)vt_libc_dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* Finds the interpreter's code. In a program that embeds Python, this is the range of Python's functions. */
static void find_code(struct vt_pyimage *image, const void *inside) {
    static const char *const prefixes[] = {"Py", "_Py"};
    struct vt_elf object;
    if (!vt_elf_containing(inside, &object))
        return;
    pin(object.name);
    bool all = object.name[0] ? vt_library_is_python(object.name) : program_is_python();
    if (all || !vt_elf_functions(&object, prefixes, &image->text))
        image->text = object.code;
    if (!image->at.anchors)
        vt_elf_function(&object, "_PyEval_EvalFrameDefault", &image->eval);
    vt_elf_function(&object, "Py_Exit", &image->ends[0]);
    vt_elf_function(&object, "Py_FinalizeEx", &image->ends[1]);
}

/* Finds all or none: if a function is missing, Py_AddPendingCall counts as absent. */
static void find_calls(void *handle, struct vt_pycalls *calls) {
    bool all = true;
    void *found;
#define X(result, name, arguments)                                                                 \
    found = vt_libc_dlsym(handle, #name);                                                          \
    memcpy(&calls->name, &found, sizeof found);                                                    \
    all &= found != NULL;
    VT_PYCALLS(X)
#undef X
    if (!all)
        calls->Py_AddPendingCall = NULL;
}

static void find_interpreters(void *handle, struct vt_pyimage *image) {
    void *main = vt_libc_dlsym(handle, "PyInterpreterState_Main");
    void *this = vt_libc_dlsym(handle, "PyInterpreterState_Get");
    if (!this) /* 3.8 */
        this = vt_libc_dlsym(handle, "_PyInterpreterState_Get");
    void *add = image->at.minor >= 9 && image->at.minor <= 11 && main
                    ? vt_libc_dlsym(handle, "_PyEval_AddPendingCall")
                    : NULL;
    memcpy(&image->main_interpreter, &main, sizeof main);
    memcpy(&image->this_interpreter, &this, sizeof this);
    memcpy(&image->add_pending_to, &add, sizeof add);
}

bool vt_python_find(const char **why) {
    *why = NULL;
    void *handle = handle_of_interpreter();
    const char *(*version)(void) = NULL;
    struct vt_pyimage *image = &vt_pyimage;
    void *state = vt_libc_dlsym(handle, "PyGILState_GetThisThreadState");
    void *initialized = vt_libc_dlsym(handle, "Py_IsInitialized");
    void *code_type = vt_libc_dlsym(handle, "PyCode_Type");
    void *get_version = vt_libc_dlsym(handle, "Py_GetVersion");
    void *finalizing = vt_libc_dlsym(handle, "Py_IsFinalizing");
    if (finalizing == NULL)
        finalizing = vt_libc_dlsym(handle, "_Py_IsFinalizing");
    if (state == NULL)
        return false;
    if (initialized == NULL || code_type == NULL || get_version == NULL) {
        *why = "it does not export the symbols that reading its frames needs";
        return true;
    }
    memcpy(&version, &get_version, sizeof version);
    unsigned minor = 0;
    const char *text = version();
    for (size_t i = 0; i < sizeof image->version - 1 && text[i] && text[i] != ' '; i++)
        image->version[i] = text[i];
    *why = parse_version(text, &minor);
    image->runtime = (uintptr_t)vt_libc_dlsym(handle, "_PyRuntime");
    if (*why == NULL)
        *why = vt_python_layout(&image->at, minor, image->runtime);
    if (*why == NULL)
        *why = vt_python_layout_check(&image->at, (uintptr_t)code_type);
    if (*why == NULL && finalizing == NULL)
        *why = "it does not show when it is shutting down";
    if (*why != NULL)
        return true;
    image->code_type = (uintptr_t)code_type;
    find_calls(handle, &image->calls);
    memcpy(&image->this_state, &state, sizeof state);
    memcpy(&image->is_initialized, &initialized, sizeof initialized);
    memcpy(&image->is_finalizing, &finalizing, sizeof finalizing);
    if (image->at.one_state) {
        void *newest = vt_libc_dlsym(handle, "PyInterpreterState_Head");
        memcpy(&image->newest_interpreter, &newest, sizeof newest);
    }
    find_interpreters(handle, image);
    image->is_program = program_is_python();
    find_code(image, state);
    return true;
}
