/* SPDX-License-Identifier: MIT */
/*
 * The task of a child of Python's multiprocessing. The child's command line is that of its parent ("fork"), or shows
 * only that it is a child ("python -c from multiprocessing.spawn import spawn_main; ..."). So a list of processes needs
 * another name. Called by build.c, once the stacks have names.
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

/* The outermost frame of user code called by multiprocessing; NULL: there is none. */
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
