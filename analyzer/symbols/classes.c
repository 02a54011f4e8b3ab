/* SPDX-License-Identifier: MIT */
/*
 * Finds the owners of driver memory (see classes.h). build.c asks for each site of the driver layer.
 *
 * The innermost native frame outside pass-through libraries decides: memory that cuBLAS allocates is cuBLAS's, whoever
 * called cuBLAS; memory that PyTorch's allocator allocates for cuBLAS is PyTorch's (libraries.def). An allocator in
 * headers has no library, so its functions decide (classes.def).
 */
#include "classes.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* permanent ids in hooks.def */
enum { VT_HOOK_TORCH = 2000 };

enum what { MODULE, FUNCTION, FILE_ };

struct row {
    enum vt_class class;
    enum what what;
    const char *pattern, *name, *unless;
};

#define CACHE                                            VT_CLASS_CACHE
#define RUNTIME                                          VT_CLASS_RUNTIME
#define VT_CLASS_ROW(class, what, pattern, name, unless) {class, what, pattern, name, unless},
static const struct row built_in[] = {
#include "vramtrace/classes.def"
};
#undef CACHE
#undef RUNTIME

/* Pass-through modules that libraries.def does not have. */
static const char *const passing[] = {
#define VT_CLASS_PASSING(pattern) pattern,
#include "vramtrace/classes.def"
};

struct vt_classes {
    struct row *rows; /* from the user's file */
    size_t count, room;
};

/* --- the user's file --- */

static char *word(char **at) {
    char *start = *at + strspn(*at, " \t\r\n");
    size_t length = strcspn(start, " \t\r\n");
    if (!length)
        return NULL;
    *at = start + length + (start[length] != 0);
    start[length] = 0;
    return start;
}

static int index_in(const char *text, const char *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (text && !strcmp(text, names[i]))
            return i;
    return -1;
}

static int add_line(struct vt_classes *c, const char *file, unsigned line, char *text,
                    struct vt_string *message) {
    static const char *const whats[] = {"module", "function", "file"};
    text[strcspn(text, "#")] = 0;
    char *first = word(&text), *second = first ? word(&text) : NULL;
    char *pattern = second ? word(&text) : NULL;
    if (!first)
        return 0;
    int class = index_in(first, vt_class_names, VT_CLASSES), what = index_in(second, whats, 3);
    if (class < 0 || what < 0 || !pattern) {
        vt_string_format(message,
                         "%s:%u: expected \"CLASS WHAT PATTERN [NAME]\" with CLASS cache, runtime "
                         "or program and WHAT module, function or file; found \"%s%s%s%s%s\"",
                         file, line, first, second ? " " : "", second ? second : "",
                         pattern ? " " : "", pattern ? pattern : "");
        return -EINVAL;
    }
    char *name = text + strspn(text, " \t\r\n");
    name[strcspn(name, "\r\n")] = 0;
    for (size_t end = strlen(name); end && strchr(" \t", name[end - 1]); end--)
        name[end - 1] = 0;
    *VT_ADD(c->rows, c->count, c->room) =
        (struct row){(enum vt_class) class, (enum what)what, vt_strdup(pattern),
                     vt_strdup(name[0] ? name : pattern), ""};
    return 0;
}

int vt_classes_open(const char *file, struct vt_classes **classes, struct vt_string *message) {
    struct vt_classes *c = *classes = vt_alloc(1, sizeof *c);
    VT_SCOPED char *line = NULL;
    size_t room = 0;
    int error = 0;
    if (!file)
        return 0;
    const char *why;
    FILE *in = vt_file_stream_given(file, &why);
    if (!in) {
        error = errno;
        vt_string_format(message, "%s: %s", file, why);
        error = -error;
    }
    for (unsigned n = 1; !error && getline(&line, &room, in) >= 0; n++)
        error = add_line(c, file, n, line, message);
    if (!error && ferror(in)) {
        error = -EIO;
        vt_string_format(message, "%s: cannot be read", file);
    }
    if (in)
        fclose(in);
    if (error) {
        vt_classes_close(c);
        *classes = NULL;
    }
    return error;
}

void vt_classes_close(struct vt_classes *c) {
    if (!c)
        return;
    for (size_t i = 0; i < c->count; i++) {
        free((char *)c->rows[i].pattern);
        free((char *)c->rows[i].name);
    }
    free(c->rows);
    free(c);
}

/* --- matching --- */

static bool module_matches(const char *pattern, const char *path) {
    return !fnmatch(pattern, strchr(pattern, '/') ? path : vt_basename(path), 0);
}

static const struct vt_library *library_of(const struct vt_frame *frame) {
    return !frame || frame->other ? NULL : vt_library_of(frame->module);
}

static bool passes_on(const struct vt_frame *frame) {
    if (vt_library_passes(library_of(frame)))
        return true;
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (module_matches(passing[i], frame->module))
            return true;
    return false;
}

/* The frame that decides; NULL: a Python frame comes first, or the stack is unknown. */
static const struct vt_frame *deciding_frame(const struct vt_stack *stack) {
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct vt_frame *frame = vt_stack_frame(stack, i);
        if (frame->python)
            return NULL;
        if (frame->module && !passes_on(frame))
            return frame;
    }
    return NULL;
}

static bool excepted(const char *unless, const struct vt_process *p) {
    const char *equals = strchr(unless, '=');
    if (!equals)
        return false;
    VT_SCOPED char *name = vt_strndup(unless, (size_t)(equals - unless));
    const char *value = vt_process_variable(p, name);
    return value && !fnmatch(equals + 1, value, 0);
}

/* Compares without parameters, because they can contain other libraries' types. */
static bool function_matches(const char *pattern, const char *function) {
    const char *parameters = strchr(function, '(');
    if (!parameters || parameters == function)
        return !fnmatch(pattern, function, 0);
    VT_SCOPED char *name = vt_strndup(function, (size_t)(parameters - function));
    bool match = !fnmatch(pattern, name, 0);
    return match;
}

static bool row_matches(const struct row *row, const struct vt_stack *stack,
                        const struct vt_frame *frame) {
    if (row->what == MODULE)
        return frame && module_matches(row->pattern, frame->module);
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct vt_frame *f = vt_stack_frame(stack, i);
        if (row->what == FUNCTION && f->function && !f->interpreter &&
            function_matches(row->pattern, f->function))
            return true;
        if (row->what == FILE_ && f->file && !fnmatch(row->pattern, f->file, 0))
            return true;
    }
    return false;
}

enum vt_class vt_classes_of_stack(const struct vt_classes *c, const struct vt_process *p,
                                  const struct vt_stack *stack, const char **name) {
    const struct vt_frame *frame = deciding_frame(stack);
    const struct vt_library *library = library_of(frame);
    const size_t own = sizeof built_in / sizeof *built_in;
    if (library && (!*library->name || excepted(library->unless, p)))
        library = NULL;
    *name = library ? library->name : NULL;
    for (size_t i = 0; i < c->count + own; i++) {
        const struct row *row = i < c->count ? &c->rows[i] : &built_in[i - c->count];
        if (i == c->count && library && library->what == VT_LIBRARY_CACHE)
            return VT_CLASS_CACHE;
        if (!row_matches(row, stack, frame) || excepted(row->unless, p))
            continue;
        *name = row->class == VT_CLASS_PROGRAM ? NULL : row->name;
        return row->class;
    }
    return library ? VT_CLASS_RUNTIME : VT_CLASS_PROGRAM;
}

const char *vt_classes_allocator(unsigned hook) {
    return hook == VT_HOOK_TORCH ? "PyTorch" : "a memory pool";
}

/* A block that a framework allocated for a library of CUDA. */
static void judge_block(const struct vt_classes *c, struct vt_site *site) {
    for (size_t i = 0; i < c->count + sizeof built_in / sizeof *built_in; i++) {
        const struct row *row = i < c->count ? &c->rows[i] : &built_in[i - c->count];
        if (row->class != VT_CLASS_RUNTIME || row->what != FUNCTION ||
            !row_matches(row, site->stack, NULL))
            continue;
        site->class = row->class;
        site->class_name = row->name;
        return;
    }
}

void vt_classes_judge(const struct vt_classes *c, const struct vt_process *p, bool pooled,
                      unsigned blocks_hook, struct vt_site *site) {
    site->class = VT_CLASS_PROGRAM;
    site->class_name = NULL;
    if (site->layer ==
        VT_LAYER_HOST) { /* its blocks are unknown, so it is treated like the program's memory */
        const char *name;
        site->recycled = vt_classes_of_stack(c, p, site->stack, &name) == VT_CLASS_CACHE;
    }
    if (site->layer == VT_LAYER_FRAMEWORK)
        judge_block(c, site);
    if (site->layer != VT_LAYER_DRIVER)
        return;
    site->class = vt_classes_of_stack(c, p, site->stack, &site->class_name);
    if (site->segments && site->class != VT_CLASS_CACHE) {
        /* its blocks prove a cache, even if the stack is incomplete */
        site->class = VT_CLASS_CACHE;
        site->class_name = vt_classes_allocator(blocks_hook);
    } else if (pooled && site->class == VT_CLASS_CACHE) {
        site->class = VT_CLASS_PROGRAM;
        site->class_name = NULL;
    }
}
