/* SPDX-License-Identifier: MIT */
/*
 * Source lines (see source_line.h).
 */
#include "source_line.h"

#include "frame_text.h"
#include "stack_text.h"

#include <stdlib.h>
#include <string.h>

/* --- the main frame --- */

uint32_t vt_stack_main(const struct vt_stack *stack) {
    if (stack->user_frame < stack->count)
        return stack->user_frame;
    /* Lower is better. */
    enum vt_user_code_rank best = VT_USER_CODE_NONE;
    uint32_t found = 0;
    for (uint32_t i = 0; i < stack->count; i++) {
        enum vt_user_code_rank rank = vt_user_code_rank(vt_stack_frame(stack, i));
        if (rank < best) {
            best = rank;
            found = i;
        }
    }
    return found;
}

const struct vt_frame *vt_stack_main_frame(const struct vt_stack *stack) {
    return stack->count ? vt_stack_frame(stack, vt_stack_main(stack)) : NULL;
}

uint32_t vt_stack_caller(const struct vt_stack *stack, uint32_t at) {
    while (++at < stack->count && !vt_stack_frame(stack, at)->user_code)
        ;
    return at < stack->count ? at : stack->count;
}

bool vt_same_function(const struct vt_frame *a, const struct vt_frame *b) {
    return a->function && vt_same_text(a->function, b->function) &&
           vt_same_text(a->file, b->file) && vt_same_text(a->module, b->module);
}

const struct vt_frame *vt_stack_helper_caller(const struct vt_stack *stack) {
    if (!stack || stack->user_frame >= stack->count)
        return NULL;
    const struct vt_frame *helper = vt_stack_frame(stack, stack->user_frame), *caller;
    uint32_t at = stack->user_frame;
    do {
        at = vt_stack_caller(stack, at);
        caller = at < stack->count ? vt_stack_frame(stack, at) : NULL;
    } while (caller && vt_same_function(caller, helper));
    bool script = caller && caller->python && vt_same_text(caller->function, "<module>");
    /* "<string>": python -c, by which multiprocessing starts a child */
    return script && (vt_same_text(caller->file, helper->file) ||
                      vt_same_text(caller->file, "<string>"))
               ? NULL
               : caller;
}

/* --- its line --- */

/* Removes suffixes that a compiler adds to the name of a split or specialized function. */
static void cut_clone(char *name) {
    static const char *const marks[] = {" [clone", ".constprop.", ".isra.", ".part.",
                                        ".cold",   ".lto_priv.",  ".llvm."};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        char *at = strstr(name, marks[i]);
        if (at && at != name)
            *at = 0;
    }
}

/* "libfoo.so.1.2" -> "libfoo.so", but "libfoo-5ac6.so" stays unchanged. */
static void cut_version(char *module) {
    char *at = strstr(module, ".so.");
    if (at)
        at[3] = 0;
}

char *vt_frame_line_name(const struct vt_frame *f) {
    VT_SCOPED char *function = vt_frame_text_function(f);
    if (function && !f->python)
        cut_clone(function);
    VT_SCOPED char *where = vt_python_file_cell_name(f->file, false);
    if (!where)
        where = vt_strdup(f->file ? vt_basename(f->file) : f->module ? vt_basename(f->module) : "");
    if (!f->file)
        cut_version(where);
    return vt_formatted("%s (%s)", function && *function ? function : "?",
                        *where ? where : "unknown");
}

static uint64_t hash_text(uint64_t seed, const char *text) {
    return vt_hash_bytes(seed, text ? text : "", text ? strlen(text) : 0);
}

uint64_t vt_frame_line(const struct vt_frame *f, enum vt_line_by by) {
    if (by == VT_LINE_NAMED) {
        VT_SCOPED char *name = vt_frame_line_name(f);
        return hash_text(f->function || !f->module ? 1 : f->offset, name);
    }
    VT_SCOPED char *function = by == VT_LINE_SHOWN ? vt_frame_text_function(f) : NULL;
    uint64_t key = function ? hash_text(1, function) : 0;
    if (f->line && f->file)
        return vt_python_file_hash(key + f->line, f->file);
    /* where reports show a function, they show no offset */
    return hash_text(function ? key : f->offset, f->module ? f->module : f->file);
}

uint64_t vt_stack_line(const struct vt_stack *stack, enum vt_line_by by) {
    const struct vt_frame *f = vt_stack_main_frame(stack);
    VT_SCOPED char *node = by == VT_LINE_CODE ? NULL : vt_stack_text_node(stack);
    uint64_t key = f ? vt_frame_line(f, by) : 0;
    return node ? hash_text(key, node) : key;
}

bool vt_frame_is_cell(const struct vt_frame *f) {
    return f->python && vt_python_file_is_cell(f->file) && f->function &&
           (!strcmp(f->function, "<module>") || !strncmp(f->function, "<cell line", 10));
}

uint64_t vt_site_growth_line(const struct vt_site *site) {
    const struct vt_frame *f = vt_stack_main_frame(site->stack);
    if (!f || !vt_frame_is_cell(f) || !site->alloc_count)
        return site->stack->line;
    return vt_mix((uint64_t)f->line << 32 ^ site->allocated_bytes / site->alloc_count);
}
