/* SPDX-License-Identifier: MIT */
/*
 * Made-up objects for tests of the walk, which is included here: their readers, edges in short, and a
 * walk with its answer.
 */
#ifndef OWNERS_OBJECTS_H
#define OWNERS_OBJECTS_H

#include "owners/walk.c"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* --- made-up objects --- */

struct object {
    uint64_t references;
    const struct type *type;
    const struct vt_edge *edges;
    uint32_t count;
    uint64_t keys;
};
struct type {
    const char *name;
    bool leaf, number;
    const char *role_of; /* its attribute that makes what it holds the optimizer's */
};
struct root {
    struct vt_root root;
    const struct vt_edge *edges;
    uint32_t count;
};

static const struct type thing = {.name = "Thing"}, list = {.name = "list"},
                         dict = {.name = "dict"}, text = {.name = "str", .leaf = true},
                         number = {.name = "int", .number = true},
                         optimizer = {.name = "SGD", .role_of = "state"};
static const struct root *roots;
static uint32_t root_count;

static void python_type(struct vt_owners *w, struct vt_owners_type *type) {
    struct type t;
    if (!vt_owners_read(w, &t, type->address, sizeof t))
        return;
    type->leaf = t.leaf;
    type->number = t.number;
}

static void class_type(struct vt_owners *w, struct vt_owners_type *type) {
    (void)w;
    type->family = ((const struct type *)type->address)->role_of != NULL;
}

static uint16_t class_roles(const struct vt_owners *w, const struct vt_owners_type *type,
                            struct vt_owners_text name) {
    (void)w;
    const char *of = ((const struct type *)type->address)->role_of;
    return strlen(of) == name.bytes && memcmp(of, name.at, name.bytes) == 0 ? VT_ROLE_OPTIMIZER : 0;
}

static void python(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type) {
    struct object o;
    (void)type;
    if (!vt_owners_read(w, &o, object, sizeof o))
        return;
    vt_owners_keys(w, o.keys);
    for (uint32_t i = 0; i < o.count && vt_owners_may_continue(w); i++)
        vt_owners_edge(w, &o.edges[i]);
}

static uint64_t python_number(struct vt_owners *w, uintptr_t object) {
    return vt_owners_word(w, vt_owners_word(w, object + 16) + offsetof(struct vt_edge, to));
}

static uint32_t python_type_name(struct vt_owners *w, uintptr_t type, char *to, uint32_t room) {
    (void)w;
    const char *name = ((const struct type *)type)->name;
    uint32_t n = (uint32_t)strlen(name);
    memcpy(to, name, n < room ? n : room);
    return n;
}

static void no_native_roots(struct vt_owners *w) {
    (void)w;
}

static void python_roots(struct vt_owners *w) {
    for (uint32_t i = 0; i < root_count; i++)
        if (vt_owners_root(w, &roots[i].root))
            for (uint32_t k = 0; k < roots[i].count; k++)
                vt_owners_edge(w, &roots[i].edges[k]);
}

static void class_python(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type) {
    (void)w, (void)object, (void)type;
}

static int class_later(const struct vt_owners_type *type, uint16_t class_, uint16_t roles) {
    (void)roles;
    (void)class_;
    return type && ((const struct type *)type->address)->role_of ? VT_LATER_OPTIMIZER : -1;
}

/* The made-up objects of C++ hold the allocation of their class's number. */
static uint64_t class_key(struct vt_owners *w, uintptr_t object, uint16_t class_) {
    (void)w, (void)object;
    return class_;
}

static void class_object(struct vt_owners *w, uintptr_t object, uint16_t class_);

static uint32_t class_name(struct vt_owners *w, uint64_t key, uint16_t class_, char *to,
                           uint32_t room) {
    (void)w, (void)key, (void)class_, (void)to, (void)room;
    return 0;
}

static struct vt_owners_readers readers = {
    .class_ = class_object,
    .class_key = class_key,
    .class_name = class_name,
    .python_type = python_type,
    .python = python,
    .python_number = python_number,
    .native = no_native_roots,
    .python_roots = python_roots,
    .python_type_name = python_type_name,
    .class_type = class_type,
    .class_python = class_python,
    .class_roles = class_roles,
    .class_later = class_later,
};

/* --- edges, in short --- */

#define TEXT(t)                                                                                    \
    { (t), sizeof(t) - 1 }
#define NAMED(n, o)                                                                                \
    { .kind = VT_STEP_NAME, .name = TEXT(n), .to = (uintptr_t)(o) }
#define ATTR(n, o)                                                                                 \
    { .kind = VT_STEP_ATTRIBUTE, .name = TEXT(n), .to = (uintptr_t)(o) }
#define KEY(n, o)                                                                                  \
    { .kind = VT_STEP_KEY, .name = TEXT(n), .to = (uintptr_t)(o) }
#define ITEM(i, o)                                                                                 \
    { .kind = VT_STEP_INDEX, .indexed = true, .index = (i), .to = (uintptr_t)(o) }
#define NODE(o)                                                                                    \
    { .kind = VT_STEP_CLASS, .to = (uintptr_t)(o) }
#define MEMORY(a)                                                                                  \
    { .as = VT_AS_ADDRESS, .to = (a) }
#define NUMBER(a)                                                                                  \
    { .as = VT_AS_NUMBER, .to = (a) }
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define OBJECT(t, e) ((struct object){.type = &(t), .edges = (e), .count = COUNT(e)})
#define MODULE(l, n, e)                                                                            \
    { {.level = (l), .kind = VT_STEP_MODULE, .name = TEXT(n)}, (e), COUNT(e) }

#define DEVICE    0x7f0000000000ull /* addresses of the made-up allocations */
#define ALLOCATED 0x1000u
#define AT(i)     (DEVICE + (i) * (uint64_t)ALLOCATED)

static void class_object(struct vt_owners *w, uintptr_t object, uint16_t class_) {
    (void)object;
    vt_owners_edge(w, &(struct vt_edge){.as = VT_AS_ADDRESS, .to = AT(class_)});
}

/* --- a walk, and its answer --- */

static struct vt_owners *w;

static void walk(uint32_t targets, uint64_t work, unsigned kind) {
    w = calloc(1, sizeof *w);
    w->readers = &readers;
    w->targets = calloc(targets, sizeof *w->targets);
    w->target_count = targets;
    for (uint32_t i = 0; i < targets; i++)
        w->targets[i] = (struct vt_owners_target){
            .start = AT(i), .end = AT(i) + ALLOCATED, .kind = (uint8_t)kind};
    w->target_low = AT(0);
    w->target_high = AT(targets);
    w->most_work = work;
    w->most_bytes = 64u << 20;
    w->most_cpu_ns = UINT64_MAX;
    w->snapshot = 1;
    w->answer = calloc(1, sizeof *w->answer);
    w->record_room = 8u << 20;
    w->records = calloc(1, w->record_room);
    vt_owners_walk(w);
}

static void end(void) {
    vt_owners_unmap(w);
    free(w->targets);
    free(w->answer);
    free(w->records);
    free(w);
}

static const struct vt_rec_step *step(uint32_t step_number) {
    for (uint64_t at = 0; at < w->answer->bytes;) {
        const struct vt_rec_step *r = (const void *)(w->records + at);
        if (vt_word_type(r->word) == VT_REC_STEP && r->number == step_number)
            return r;
        at += vt_record_length(r->word);
    }
    fail_msg("there is no step %u", step_number);
    return NULL;
}

/* "main.history[*]": roots and steps as one would write them; ~ after one that repeats. */
static void path(uint32_t step_number, char *to) {
    const struct vt_rec_step *r = step(step_number);
    const char *name = (const char *)(r + 1);
    if (r->parent) {
        assert_true(r->parent < step_number);
        path(r->parent, to);
    }
    to += strlen(to);
    bool bracket = r->kind == VT_STEP_KEY || r->kind == VT_STEP_INDEX;
    bool many = r->flags & VT_STEP_MANY;
    if (many)
        assert_int_equal(r->name_bytes, 0);
    sprintf(to, "%s%.*s%s%s",
            !r->parent ? ""
            : bracket  ? "["
                       : ".",
            many ? 1 : (int)r->name_bytes, many ? "*" : name, bracket ? "]" : "",
            r->flags & VT_STEP_REPEATS ? "~" : "");
}

/* The entry for an allocation, and its path; NULL: none. */
static const struct vt_owned *owned(uint32_t target, uint32_t index, char *to) {
    to[0] = 0;
    for (uint64_t at = 0; at < w->answer->bytes;) {
        const struct vt_rec_owned *r = (const void *)(w->records + at);
        const struct vt_owned *e = (const void *)(r + 1);
        for (uint32_t i = 0; vt_word_type(r->word) == VT_REC_OWNED && i < r->count; i++)
            if (vt_lost_address(e[i].allocation) == AT(target) && index-- == 0) {
                path(e[i].step, to);
                return &e[i];
            }
        at += vt_record_length(r->word);
    }
    return NULL;
}

static inline uint32_t steps_written(void) {
    return w->answer->steps;
}

#endif
