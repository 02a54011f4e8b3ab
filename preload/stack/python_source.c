/* SPDX-License-Identifier: MIT */
/*
 * Source lines of Python code that is not in a file: a notebook's cell, typed input. They are lost after the process
 * ends; while it runs, Python's module `linecache` has them, from IPython or the interpreter.
 *
 * Reading it takes the GIL. So a new stack (stack.c) only requests its lines, and a pending call (python_end.c) writes
 * them to the log.
 */
#define _GNU_SOURCE
#include <string.h>

#include "base/base.h"
#include "log/log.h"
#include "python.h"
#include "python_layout.h"

#define WANTED_MOST 64u /* requests waiting at the same time; further lines are not recorded */
#define FILE_BYTES  256u
#define TEXT_BYTES  512u

static struct wanted {
    uint32_t ready; /* atomic: sequence number, from 1 */
    uint32_t code, line;
    char file[FILE_BYTES];
} wanted[WANTED_MOST];
static uint32_t asked;   /* atomic: number of requests */
static uint32_t written; /* atomic: requests written; changed with the GIL held */

static bool contains(const struct vt_pycode *code, const char *part) {
    return memmem(code->file, code->file_bytes, part, strlen(part)) != NULL;
}

bool vt_python_is_no_file(const struct vt_pycode *code) {
    return code->file[0] == '<' || contains(code, "/ipykernel_") ||
           contains(code, "/ipython-input-");
}

bool vt_python_want_line(uint32_t number, const struct vt_pycode *code) {
    uint32_t turn = vt_get(&asked);
    if (!code->line || code->file_bytes >= FILE_BYTES || turn - vt_see(&written) >= WANTED_MOST ||
        !vt_claim(&asked, turn, turn + 1))
        return false;
    struct wanted *w = &wanted[turn % WANTED_MOST];
    w->code = number;
    w->line = code->line;
    memcpy(w->file, code->file, code->file_bytes);
    w->file[code->file_bytes] = 0;
    vt_publish(&w->ready, turn + 1);
    return true;
}

bool vt_python_wants_lines(void) {
    return vt_get(&asked) != vt_get(&written);
}

/* The dict in `linecache`; release it. NULL: the module is not loaded, or not Python's own. */
static void *find_cache(const struct vt_pycalls *py) {
    void *modules = py->PyImport_GetModuleDict();
    void *module = modules ? py->PyDict_GetItemString(modules, "linecache") : NULL;
    if (!module || !vt_python_is_like(module, py->PyDict_GetItemString(modules, "sys")))
        return NULL;
    void *cache = py->PyObject_GetAttrString(module, "cache");
    if (cache && !vt_python_is_like(cache, modules)) {
        py->Py_DecRef(cache);
        cache = NULL;
    }
    return cache;
}

/* An entry is a tuple: size, time, list of lines, name. */
static void write_line(const struct vt_pycalls *py, struct vt_thread *thread, void *cache,
                       const struct wanted *w) {
    char text[TEXT_BYTES];
    struct vt_rec_line r = {.word = VT_REC_LINE, .code = w->code, .line = w->line};
    void *entry = py->PyDict_GetItemString(cache, w->file);
    void *lines = entry ? py->PyTuple_GetItem(entry, 2) : NULL;
    void *line = lines ? py->PyList_GetItem(lines, (long)w->line - 1) : NULL;
    if (line && vt_python_text((uintptr_t)line, text, sizeof text, &r.text_bytes))
        vt_log_entry(thread, &r, sizeof r, (struct vt_log_part){text, r.text_bytes},
                     VT_LOG_NOTHING);
}

void vt_python_write_lines(struct vt_thread *thread) {
    const struct vt_pycalls *py = &vt_pyimage.calls;
    void *cache = find_cache(py);
    for (uint32_t turn = vt_get(&written);; vt_publish(&written, ++turn)) {
        const struct wanted *w = &wanted[turn % WANTED_MOST];
        if (vt_see(&w->ready) != turn + 1)
            break;
        if (cache)
            write_line(py, thread, cache, w);
    }
    if (cache)
        py->Py_DecRef(cache);
    py->PyErr_Clear();
}

void vt_python_lines_forked(void) {
    vt_put(&asked, 0);
    vt_put(&written, 0);
    memset(wanted, 0, sizeof wanted);
}
