/* SPDX-License-Identifier: MIT */
/*
 * Finds the Python interpreter in this process: the few functions and variables needed for reading
 * its frames, its version, and where its code is. Nothing is known at link time: the program may be
 * the interpreter, may be linked to libpython, or may have opened it, even privately.
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

/* A search by dl_iterate_phdr. */
struct search {
    uintptr_t address; /* in: find the object that contains it; 0: find one named libpython* */
    char path[1024];   /* out: its path; empty for the program itself */
    bool found;        /* out */
    uintptr_t text_start, text_end; /* out: its code */
    uintptr_t symbols_lo,
        symbols_hi; /* out: from its first to its last function named Py* or _Py* */
};

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The loader relocates some pointers of the dynamic section and leaves others. */
static uintptr_t dynamic_pointer(const struct dl_phdr_info *info, uintptr_t value) {
    return value < info->dlpi_addr ? info->dlpi_addr + value : value;
}

/* The range of the object's functions named Py... or _Py...: where the interpreter is in a program
 * that embeds it. Only the classic hash table states the number of symbols; by convention, the
 * string table follows the symbols. */
static void span_of_python(const struct dl_phdr_info *info, const ElfW(Dyn) * dynamic,
                           struct search *s) {
    uintptr_t symbols = 0, strings = 0;
    size_t string_bytes = 0;
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_SYMTAB)
            symbols = dynamic_pointer(info, dynamic->d_un.d_ptr);
        else if (dynamic->d_tag == DT_STRTAB)
            strings = dynamic_pointer(info, dynamic->d_un.d_ptr);
        else if (dynamic->d_tag == DT_STRSZ)
            string_bytes = dynamic->d_un.d_val;
    }
    if (symbols == 0 || strings <= symbols)
        return;
    const ElfW(Sym) *symbol = (const ElfW(Sym) *)symbols;
    for (; (uintptr_t)(symbol + 1) <= strings; symbol++) {
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
            symbol->st_name + 4 > string_bytes)
            continue;
        const char *name = (const char *)strings + symbol->st_name;
        if (strncmp(name, "Py", 2) != 0 && strncmp(name, "_Py", 3) != 0)
            continue;
        uintptr_t start = info->dlpi_addr + symbol->st_value, end = start + symbol->st_size;
        if (s->symbols_lo == 0 || start < s->symbols_lo)
            s->symbols_lo = start;
        if (end > s->symbols_hi)
            s->symbols_hi = end;
    }
}

static int look(struct dl_phdr_info *info, size_t size, void *arg) {
    (void)size;
    struct search *s = arg;
    const ElfW(Dyn) *dynamic = NULL;
    uintptr_t lo = 0, hi = 0;
    bool holds = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;
        if (p->p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)start;
        if (p->p_type != PT_LOAD)
            continue;
        holds |= s->address >= start && s->address < end;
        if (p->p_flags & PF_X) {
            lo = lo == 0 || start < lo ? start : lo;
            hi = end > hi ? end : hi;
        }
    }
    if (s->address == 0)
        holds = strncmp(base_name(info->dlpi_name), "libpython", 9) == 0;
    size_t length = strlen(info->dlpi_name);
    if (!holds || length >= sizeof s->path)
        return 0;
    memcpy(s->path, info->dlpi_name, length + 1);
    s->text_start = lo;
    s->text_end = hi;
    if (dynamic != NULL && s->address != 0)
        span_of_python(info, dynamic, s);
    s->found = true;
    return 1;
}

/* Whether the running program is an interpreter, by its name. Then all of its code is
 * the interpreter's. */
static bool program_is_python(void) {
    char path[1024];
    return strncmp(base_name(vt_process_program(path, sizeof path)), "python", 6) == 0;
}

/* Where to look symbols up: everywhere, or in a libpython that was opened privately. */
static void *handle_of_interpreter(void) {
    if (vt_libc_dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState") != NULL)
        return RTLD_DEFAULT;
    struct search s = {.address = 0};
    vt_libc_each_object(look, &s);
    return s.found && s.path[0] ? vt_libc_dlopen(s.path, RTLD_LAZY | RTLD_NOLOAD) : RTLD_DEFAULT;
}

/* Reads the minor version from "3.11.7 (main, ...". Returns NULL or the reason why it is
 * not supported. */
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

/* Keeps the interpreter loaded: the record path calls its functions, and an embedding program may
 * close its libpython. The program itself cannot be unloaded. */
static void pin(const char *path) {
    if (path[0])
        (void)vt_libc_dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static void find_eval(void *eval) {
    Dl_info info;
    void *extra = NULL;
    if (eval == NULL || !dladdr1(eval, &info, &extra, RTLD_DL_SYMENT) || extra == NULL)
        return;
    const ElfW(Sym) *symbol = extra;
    vt_pyimage.eval_start = (uintptr_t)eval;
    vt_pyimage.eval_end = (uintptr_t)eval + symbol->st_size;
}

/* All or none: without one of them, Py_AddPendingCall counts as absent. */
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
        void *main = vt_libc_dlsym(handle, "PyInterpreterState_Main");
        memcpy(&image->newest_interpreter, &newest, sizeof newest);
        memcpy(&image->main_interpreter, &main, sizeof main);
    }
    if (!image->at.anchors)
        find_eval(vt_libc_dlsym(handle, "_PyEval_EvalFrameDefault"));
    struct search s = {.address = (uintptr_t)state};
    vt_libc_each_object(look, &s);
    pin(s.path);
    bool all = s.path[0] ? strncmp(base_name(s.path), "libpython", 9) == 0 : program_is_python();
    image->text_start = all || s.symbols_lo == 0 ? s.text_start : s.symbols_lo;
    image->text_end = all || s.symbols_lo == 0 ? s.text_end : s.symbols_hi;
    return true;
}
