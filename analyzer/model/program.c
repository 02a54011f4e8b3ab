/* SPDX-License-Identifier: MIT */
/*
 * The name of a process's program. An interpreter's is its script or module. A child of Python's multiprocessing is
 * named after the function that it runs: its command line is its parent's ("fork"), or shows only that it is a child
 * ("python -c from multiprocessing.spawn import spawn_main; ..."). Called by build.c, once the stacks have their names.
 */
#include "model.h"

#include <string.h>

/* Whether multiprocessing calls a process's target in this frame. */
static bool starts_task(const struct vt_frame *f) {
    static const char file[] = "multiprocessing/process.py";
    size_t length = f->file ? strlen(f->file) : 0;
    return f->python && f->function && strstr(f->function, "_bootstrap") &&
           length >= sizeof file - 1 && !strcmp(f->file + length - (sizeof file - 1), file);
}

/* The outermost frame of user code that it calls; NULL: there is none. */
static const struct vt_frame *task_frame(const struct vt_stack *s) {
    uint32_t i = 0;
    while (i < s->count && !starts_task(vt_stack_frame(s, i)))
        i++;
    if (i == s->count)
        return NULL;
    while (i--)
        if (vt_stack_frame(s, i)->python && vt_stack_frame(s, i)->user_code &&
            vt_stack_frame(s, i)->function && vt_stack_frame(s, i)->file)
            return vt_stack_frame(s, i);
    return NULL;
}

char *vt_process_task(const struct vt_process *p) {
    for (uint32_t i = 0; p->python && i < p->site_count; i++) {
        const struct vt_frame *f = task_frame(p->sites[i].stack);
        if (f)
            return vt_formatted("%s() in %s", f->function, vt_basename(f->file));
    }
    return NULL;
}

/* Whether the command starts a Python interpreter. A program that embeds Python has arguments of its own. */
static bool is_interpreter(const char *name) {
    return !strncmp(name, "python", 6) || !strncmp(name, "pypy", 4);
}

/* The index of the interpreter's script, or of the module after -m; `count`: neither. Options as of CPython 3.14: -W, -X
 * and --check-hash-based-pycs take the next word. */
static uint32_t script_at(char *const *words, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        const char *word = words[i];
        if (!strcmp(word, "-m"))
            return i + 1;
        if (!*word || !strcmp(word, "-") || !strncmp(word, "-c", 2))
            return count;
        if (*word != '-')
            return i;
        i += !strcmp(word, "-W") || !strcmp(word, "-X") || !strcmp(word, "--check-hash-based-pycs");
    }
    return count;
}

const char *vt_process_program(const struct vt_process *p) {
    const char *first = p->command_count ? vt_basename(p->command[0]) : "";
    if (p->task)
        return p->task;
    uint32_t script =
        is_interpreter(first) ? script_at(p->command, p->command_count) : p->command_count;
    if (script < p->command_count)
        return vt_basename(p->command[script]);
    return *first ? first : p->exe ? vt_basename(p->exe) : "unknown program";
}
