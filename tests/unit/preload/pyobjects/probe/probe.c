/* SPDX-License-Identifier: MIT */
/*
 * The readers of Python's objects, alone in a library that Python itself can load with ctypes:
 * objects.py asks for the edges of objects and for the roots, and compares them with what Python
 * says. Built by build.sh from this file, preload/pyobjects/ and preload/stack/python*.c.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/libc.h"
#include "base/locks.h"
#include "base/process.h"
#include "log/log.h"
#include "pyobjects/pyobjects.h"
#include "owners/reader.h"
#include "stack/python.h"
#include "stack/python_layout.h"

#define EXPORT __attribute__((visibility("default")))
#define TYPES  16384u
#define EDGES  (1u << 20)
#define TEXT   256

/* What base/ provides in the tracer. */
bool vt_sys_sealed;
bool vt_sys_careful;
bool vt_sys_is_free(void) {
    return true;
}

bool vt_locks_lost(uint32_t which) {
    (void)which;
    return false;
}

const char *vt_process_program(char *buffer, size_t size) {
    ssize_t n = readlink("/proc/self/exe", buffer, size - 1);
    buffer[n > 0 ? n : 0] = 0;
    return buffer;
}

void *vt_libc_dlsym(void *handle, const char *name) {
    return dlsym(handle, name);
}

void *vt_libc_dlopen(const char *path, int flags) {
    return dlopen(path, flags);
}

void vt_libc_dlerror_clear(void) {
    dlerror();
}

int vt_libc_each_object(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data) {
    return dl_iterate_phdr(visit, data);
}

/* What log/ provides there: nothing is written. */
bool vt_log_entry(struct vt_thread *t, const void *record, uint32_t bytes, struct vt_log_part first,
                  struct vt_log_part second) {
    (void)t, (void)record, (void)bytes, (void)first, (void)second;
    return true;
}

/* One edge, or the root that the next ones begin at (`root` is 1 then, and `kind` the root's). The same in objects.py. */
struct found {
    int32_t root, kind, as, indexed, line, level;
    int64_t index;
    uint64_t to;
    char name[TEXT], type[TEXT];
};

static struct {
    struct vt_owners_type types[TYPES];
    uint32_t type_count;
    struct found *found;
    uint32_t count, room;
    int level;
    uint64_t doubts;
} walk;

/* What the walk provides. */
bool vt_owners_read(struct vt_owners *w, void *to, uintptr_t from, size_t bytes) {
    (void)w;
    return vt_python_peek(to, from, bytes);
}

uint64_t vt_owners_word(struct vt_owners *w, uintptr_t from) {
    uint64_t v = 0;
    return vt_owners_read(w, &v, from, sizeof v) ? v : 0;
}

const struct vt_owners_type *vt_owners_type_at(struct vt_owners *w, uintptr_t type) {
    uint32_t i = (uint32_t)((type >> 4) * 0x9e3779b1u) % TYPES;
    if (!type || type & 7)
        return NULL;
    for (; walk.types[i].address; i = (i + 1) % TYPES)
        if (walk.types[i].address == type)
            return &walk.types[i];
    if (++walk.type_count == TYPES)
        return NULL;
    walk.types[i].address = type;
    vt_py_type(w, &walk.types[i]);
    return &walk.types[i];
}

const struct vt_owners_type *vt_owners_type_of(struct vt_owners *w, uintptr_t object) {
    return object && !(object & 7) ? vt_owners_type_at(w, vt_owners_word(w, object + 8)) : NULL;
}

static struct found *add(void) {
    static struct found none;
    if (walk.count == walk.room)
        return &none;
    struct found *f = &walk.found[walk.count++];
    memset(f, 0, sizeof *f);
    return f;
}

static void copy_text(char *to, struct vt_owners_text text) {
    uint32_t n = text.bytes < TEXT - 1 ? text.bytes : TEXT - 1;
    if (n)
        memcpy(to, text.at, n);
    to[n] = 0;
}

bool vt_owners_root(struct vt_owners *w, const struct vt_root *root) {
    (void)w;
    if ((int)root->level != walk.level)
        return false;
    struct found *f = add();
    f->root = 1;
    f->kind = root->kind;
    f->line = (int32_t)root->line;
    f->level = (int32_t)root->level;
    copy_text(f->name, root->name);
    copy_text(f->type, root->type);
    return true;
}

enum vt_owners_level vt_owners_level(const struct vt_owners *w) {
    (void)w;
    return (enum vt_owners_level)walk.level;
}

void vt_owners_edge(struct vt_owners *w, const struct vt_edge *edge) {
    (void)w;
    if (!edge->to)
        return;
    struct found *f = add();
    f->kind = edge->kind;
    f->as = edge->as;
    f->indexed = edge->indexed;
    f->index = edge->index;
    f->to = edge->to;
    copy_text(f->name, edge->name);
}

void vt_owners_keys(struct vt_owners *w, uint64_t count) {
    (void)w, (void)count;
}

bool vt_owners_is_reached(const struct vt_owners *w, uintptr_t object) {
    (void)w, (void)object;
    return false;
}

bool vt_owners_is_unchanging(const struct vt_owners *w) {
    (void)w;
    return false;
}

uint32_t vt_owners_number(const struct vt_owners *w) {
    (void)w;
    return 1;
}

bool vt_owners_may_continue(struct vt_owners *w) {
    (void)w;
    return true;
}

void *vt_owners_map(struct vt_owners *w, size_t bytes) {
    (void)w;
    return calloc(1, bytes);
}

struct vt_memory_list;
void vt_memory_list_release(struct vt_memory_list **list, void *memory) {
    (void)list;
    free(memory);
}

void vt_owners_capacity(struct vt_owners *w, uint64_t entries, uint64_t capacity) {
    (void)w, (void)entries, (void)capacity;
}

void vt_owners_in_doubt(struct vt_owners *w) {
    (void)w;
    walk.doubts++;
}

/* --- what objects.py calls --- */

EXPORT const char *probe_open(void) {
    const char *why = NULL;
    vt_python_resolve();
    if (vt_python_state(&why) != VT_PYTHON_ACTIVE)
        return why ? why : "no interpreter";
    walk.level = VT_LEVELS;
    vt_py_roots(NULL);
    return NULL;
}

EXPORT uint32_t probe_edges(uintptr_t object, struct found *found, uint32_t room) {
    const struct vt_owners_type *type = vt_owners_type_of(NULL, object);
    walk.found = found;
    walk.room = room;
    walk.count = 0;
    if (type && !type->leaf)
        vt_py_read(NULL, object, type);
    return walk.count;
}

EXPORT uint32_t probe_roots(int level, struct found *found, uint32_t room) {
    walk.found = found;
    walk.room = room;
    walk.count = 0;
    walk.level = level;
    /* A walk begins with none: a class that was freed may have been at the same address. */
    memset(walk.types, 0, sizeof walk.types);
    walk.type_count = 0;
    vt_py_roots(NULL);
    return walk.count;
}

static void go_astray(struct vt_owners *w, uintptr_t to) {
    (void)w;
    (void)to;
}

/* A walk in a child that shared our memory was killed while it counted references. */
EXPORT void probe_killed(void) {
    vt_py_raw = go_astray;
}

/* 1: it holds nothing of interest, so no edge leads to it; 2: a number. */
EXPORT int probe_leaf(uintptr_t object) {
    const struct vt_owners_type *type = vt_owners_type_of(NULL, object);
    return !type || type->leaf ? 1 : type->number ? 2 : 0;
}

EXPORT uint64_t probe_doubts(void) {
    return walk.doubts;
}

EXPORT uint32_t probe_type_name(uintptr_t type, char *to, uint32_t room) {
    return vt_py_type_name(NULL, type, to, room);
}
