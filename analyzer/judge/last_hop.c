/* SPDX-License-Identifier: MIT */
/*
 * What memory without an owner was last seen in: an object of Python's that holds it, or memory with a
 * word that points to it. Called by owners.c.
 */

#include "parts.h"

#include <stdlib.h>
#include <string.h>

/* What things of one kind hold of one site. */
struct hop {
    const struct vt_log_step *of;
    char *kind;     /* what is alike of those that are told as one */
    char *behind;   /* "" nothing */
    bool is_behind; /* it is what has the name */
    enum vt_hop certainty;
    uint64_t bytes;
    uint32_t objects, least, most; /* how many; the sizes of blocks */
};

struct telling {
    const struct vt_sources *from;
    const struct vt_process *p;
    struct hop *hops; /* of one site */
    size_t count, room;
};

static int compare_hops(const void *a, const void *b) {
    const struct hop *x = a, *y = b;
    int kind = strcmp(x->kind, y->kind);
    return kind ? kind : VT_ORDER({x->of->number, y->of->number});
}

static bool is(const struct vt_log_step *step, const char *name) {
    return !strcmp(step->name, name);
}

static bool is_seen(const struct vt_log_step *step) {
    return step->kind == VT_STEP_SEEN;
}

/* A variable that has something left over from before. */
static bool is_variable(const struct vt_log_step *step) {
    return step->kind == VT_STEP_GLOBAL || step->kind == VT_STEP_THREAD_LOCAL;
}

static bool is_object(const struct vt_log_step *step) {
    return is_seen(step) ? is(step, "object") : !is_variable(step);
}

/* Free it. */
static char *class_of(const struct vt_log_step *step) {
    const char *name = is_seen(step) ? step->type : step->name;
    return name[0] ? vt_class_text(name) : vt_strdup("unknown");
}

static const char *article(const char *name) {
    return strchr("AEIOUaeiou", name[0]) ? "an" : "a";
}

/* "data of libpool.so (pool_state)". Free it. */
static char *data_text(const struct telling *t, const struct vt_log_step *step) {
    struct vt_root root = {.what = NULL};
    uint64_t inside = step->address - (step->kind == VT_STEP_THREAD_LOCAL ? step->line : 0);
    const struct vt_log_module *module = vt_log_module_at(t->from->log, inside, VT_TICKS_MASK);
    vt_native_root_fill(t->from->log, t->from->symbols, is_seen(step) ? VT_STEP_GLOBAL : step->kind,
                        step->address, inside, &root);
    if (!module)
        return vt_strdup("data of a library");
    if (is_variable(step) && root.what && step->around && step->around->parent)
        return vt_formatted("a block on the heap (left over behind %s)", root.what);
    if (is_variable(step) && root.what)
        return vt_formatted("data of %s (left over in %s)", vt_basename(root.module), root.what);
    return root.what ? vt_formatted("data of %s (%s)", vt_basename(root.module), root.what)
                     : vt_formatted("data of %s at 0x%llx", vt_basename(root.module),
                                    (unsigned long long)(step->address - module->bias));
}

/* "an object of class Node", "a list (12 items)", "a block of 48 bytes on the heap". Free it. */
static char *one_text(const struct telling *t, const struct vt_log_step *step) {
    char *name, *text;
    if (is_object(step)) {
        name = class_of(step);
        text = !is_seen(step) && step->line
                   ? vt_formatted("%s %s (%s item%s)", article(name), name, VT_NUMBER(step->line),
                                  vt_plural(step->line))
                   : vt_formatted("an object of class %s", name);
        free(name);
        return text;
    }
    if (is(step, "block"))
        return vt_formatted("a block of %s byte%s on the heap", VT_NUMBER(step->line),
                            vt_plural(step->line));
    if (is_variable(step) || is(step, "data"))
        return data_text(t, step);
    if (is(step, "stack"))
        return vt_strdup("a thread's stack, perhaps left there by a call that has returned");
    if (is(step, "pinned"))
        return vt_formatted("%s of pinned host memory", VT_BYTES(step->line));
    return is(step, "mapping") ? vt_formatted("%s of mapped memory", VT_BYTES(step->line))
                               : vt_formatted("a mapping of %s", step->name);
}

/* "3 objects of class Node". Free it. */
static char *many_text(const struct telling *t, const struct hop *hop) {
    char *text;
    if (hop->of->many || (hop->objects > 1 && is_object(hop->of))) {
        VT_SCOPED char *name = class_of(hop->of);
        text = hop->of->many
                   ? vt_formatted("objects of class %s", name)
                   : vt_formatted("%s objects of class %s", VT_NUMBER(hop->objects), name);
        return text;
    }
    if (hop->objects > 1 && is(hop->of, "block"))
        return hop->least == hop->most
                   ? vt_formatted("%s blocks of %s byte%s on the heap", VT_NUMBER(hop->objects),
                                  VT_NUMBER(hop->least), vt_plural(hop->least))
                   : vt_formatted("%s blocks on the heap", VT_NUMBER(hop->objects));
    return one_text(t, hop->of);
}

/* What leads to memory that a word was seen in: the object that is nearest, or the name that the way
 * ends with. "" nothing. Free it. */
static char *behind(const struct telling *t, struct hop *hop) {
    const struct vt_log_step *of = hop->of;
    enum vt_hop *certainty = &hop->certainty;
    const struct vt_log_step *steps = t->from->log->steps;
    uint32_t up = of->parent;
    *certainty = is_variable(of)                     ? VT_HOP_SEEN_NAMED
                 : !is_seen(of)                      ? VT_HOP_HOLDER
                 : is(of, "stack") || is(of, "data") ? VT_HOP_SEEN_NAMED
                                                     : VT_HOP_SEEN;
    if (!is_seen(of) || up == VT_MAP_NONE)
        return vt_strdup("");
    if (is_seen(&steps[up]) || vt_owner_names_of(t->from->names, up) == VT_MAP_NONE) {
        while (!is_seen(&steps[up]) && steps[up].parent != VT_MAP_NONE)
            up = steps[up].parent;
        *certainty = is_seen(&steps[up]) && is(&steps[up], "data") ? VT_HOP_SEEN_NAMED : *certainty;
        return one_text(t, &steps[up]);
    }
    struct vt_memory_owner owner = {.bytes = 0};
    vt_owner_names_fill(t->from->names, up, &owner);
    *certainty = VT_HOP_SEEN_NAMED;
    hop->is_behind =
        is_object(of) && !strcmp(of->type, steps[up].type) && !strcmp(owner.name, owner.holder);
    return vt_owner_text(t->p, &owner, 0);
}

static void add(struct telling *t, const struct vt_log_step *of, uint64_t bytes) {
    struct hop *hop = VT_ADD(t->hops, t->count, t->room);
    *hop =
        (struct hop){.of = of, .bytes = bytes, .objects = 1, .least = of->line, .most = of->line};
    hop->behind = behind(t, hop);
    VT_SCOPED char *name = is_object(of) ? class_of(of) : vt_strdup(of->name);
    hop->kind = vt_formatted("%u %s %s", is_object(of), name, hop->behind);
}

static void drop(struct hop *hop) {
    free(hop->kind);
    free(hop->behind);
}

/* Adds up what is alike. Returns how many are left. */
static size_t merge(struct hop *hops, size_t count) {
    size_t kept = 0;
    vt_sort(hops, count, sizeof *hops, compare_hops);
    for (size_t i = 0; i < count; i++) {
        struct hop *last = kept ? &hops[kept - 1] : NULL;
        if (!last || strcmp(last->kind, hops[i].kind) != 0) {
            hops[kept++] = hops[i];
            continue;
        }
        last->bytes += hops[i].bytes;
        last->objects += hops[i].of->number != last->of->number;
        last->least = hops[i].least < last->least ? hops[i].least : last->least;
        last->most = hops[i].most > last->most ? hops[i].most : last->most;
        last->of = last->of->many ? last->of : hops[i].of;
        drop(&hops[i]);
    }
    return kept;
}

/* The variable that leads to memory without holding it; VT_MAP_NONE: none, or another holds it. */
static uint32_t left_over_in(const struct vt_sources *from, const struct vt_owned_sum *sum) {
    uint32_t step = sum->step;
    if (step == VT_MAP_NONE || sum->further ||
        vt_owner_names_settle(from->names, step, sum->others) != VT_MAP_NONE)
        return VT_MAP_NONE;
    while (from->log->steps[step].parent != VT_MAP_NONE)
        step = from->log->steps[step].parent;
    return vt_native_root_is_left_over(from->log, from->symbols, &from->log->steps[step])
               ? step
               : VT_MAP_NONE;
}

/* Tells a site which of the hops has most of it, and forgets them. */
static void tell(struct telling *t, struct vt_site *site) {
    t->count = merge(t->hops, t->count);
    for (size_t i = 0; i < t->count; i++) {
        const struct hop *hop = &t->hops[i];
        if (!site->last_hop && hop->bytes >= (site->unowned_bytes + 1) / 2) {
            VT_SCOPED char *text = many_text(t, hop);
            site->last_hop = vt_printable(
                hop->is_behind
                    ? vt_strdup(hop->behind)
                    : vt_formatted("%s%s%s", text, hop->behind[0] ? " behind " : "", hop->behind));
            site->hop = hop->certainty;
        }
        drop(&t->hops[i]);
    }
    t->count = 0;
}

void vt_last_hops_tell(const struct vt_sources *from, const struct vt_replay_snapshot *s,
                       const bool *speaks, struct vt_process *p) {
    struct telling t = {.from = from, .p = p};
    for (size_t i = 0; i < s->sum_count; i++) { /* by site */
        const struct vt_owned_sum *sum = &s->sums[i];
        uint32_t site = from->index[sum->site];
        if (site == VT_NO_SITE || !speaks[site])
            continue;
        uint32_t hop = sum->hop == VT_MAP_NONE ? left_over_in(from, sum) : sum->hop;
        if (hop != VT_MAP_NONE)
            add(&t, &from->log->steps[hop], sum->bytes);
        if (i + 1 == s->sum_count || s->sums[i + 1].site != sum->site)
            tell(&t, &p->sites[site]);
    }
    free(t.hops);
}
