/* SPDX-License-Identifier: MIT */
/*
 * The walk follows the edges that the readers report: from the roots, level by level, breadth first. An object belongs
 * to the path by which it was first reached, which is the shortest one.
 *
 * Other paths to an object are counted, and the first few kept, for allocations with several owners. The role that an
 * edge gives to its target extends to the items of containers and the parts of objects. If an object that was already
 * read gets another role by another path, it is read again only to pass on the role.
 *
 * The limit is work, not time, so that a program gets the same answer on a slow machine; a limit of processor time is
 * the last resort.
 *
 * Called by snapshot/snapshot.c.
 */
#define _GNU_SOURCE
#include "owners.h"
#include "memory/memory.h"
#include "stack/stack.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define AGAIN       (1u << 16)
#define OTHERS_KEPT 3u
#define AHEAD       16u   /* objects to prefetch before they are read */
#define CLOCK_EVERY 4096u /* calls between two checks of the clock */

/* --- memory --- */

static bool make_pile(struct vt_owners *w, struct vt_pile *pile, size_t room, size_t first) {
    pile->at = vt_owners_map(w, room);
    pile->room = pile->at ? room : 0;
    pile->used = first; /* number 0 means none */
    return pile->at;
}

static uint32_t slots_for(size_t items) {
    uint32_t slots = 1024;
    while (slots < items && slots < 1u << 30)
        slots *= 2;
    return slots;
}

static bool make_laters(struct vt_owners *w, size_t nodes) {
    for (int i = 0; i < VT_LATERS; i++)
        if (!make_pile(w, &w->later[i], nodes * sizeof(uint32_t), 0))
            return false;
    return true;
}

/* Divides the available memory, which is touched only as far as needed. A list of millions needs many nodes and one
 * step, but objects with names of their own need a step each. So either table may use most of the memory that the table
 * of addresses leaves (vt_owners_push). */
static bool make_memory(struct vt_owners *w) {
    size_t nodes = w->most_bytes / 2 / sizeof(struct vt_node),
           steps = w->most_bytes / 2 / sizeof(struct vt_path_step);
    w->most_piled = w->most_bytes - w->most_bytes / 4;
    w->step_slot_count = slots_for(steps);
    w->step_slots = vt_owners_map(w, w->step_slot_count * sizeof *w->step_slots);
    w->again = vt_owners_map(w, AGAIN * sizeof *w->again);
    w->types = vt_owners_map(w, VT_OWNERS_TYPES * sizeof *w->types);
    w->type_slots = vt_owners_map(w, (size_t)VT_OWNERS_TYPES * 2 * sizeof *w->type_slots);
    w->node_count = w->step_count = w->other_count = w->type_count = w->read = 1;
    return vt_address_table_open(w, &w->addresses, w->most_bytes / 4) &&
           make_pile(w, &w->nodes, nodes * sizeof(struct vt_node), sizeof(struct vt_node)) &&
           make_pile(w, &w->steps, steps * sizeof(struct vt_path_step),
                     sizeof(struct vt_path_step)) &&
           make_pile(w, &w->others, w->most_bytes / 8, sizeof(struct vt_other)) &&
           make_pile(w, &w->texts, w->most_bytes / 8, 0) && make_laters(w, nodes) && !w->stopped;
}

/* --- types --- */

/* The slot of a type, or a free one for it. */
static uint32_t *type_slot(const struct vt_owners *w, uintptr_t type) {
    uint32_t most = VT_OWNERS_TYPES * 2, i = (uint32_t)((type >> 4) * 0x9e3779b1u) & (most - 1);
    while (w->type_slots[i] && w->types[w->type_slots[i]].address != type)
        i = (i + 1) & (most - 1);
    return &w->type_slots[i];
}

const struct vt_owners_type *vt_owners_type_known(const struct vt_owners *w, uintptr_t type) {
    uint32_t known = *type_slot(w, type);
    return known ? &w->types[known] : NULL;
}

const struct vt_owners_type *vt_owners_type_at(struct vt_owners *w, uintptr_t type) {
    if (!type || type & 7)
        return NULL;
    uint32_t *slot = type_slot(w, type);
    if (*slot)
        return &w->types[*slot];
    if (w->type_count == VT_OWNERS_TYPES) {
        w->in_doubt = true;
        return NULL;
    }
    struct vt_owners_type *t = &w->types[ *slot = w->type_count++];
    t->address = type;
    w->readers->python_type(w, t);
    w->readers->class_type(w, t);
    if (t->family)
        t->leaf = false;
    return t;
}

const struct vt_owners_type *vt_owners_type_of(struct vt_owners *w, uintptr_t object) {
    if (!object || object & 7)
        return NULL;
    return vt_owners_type_at(w, vt_owners_word(w, object + 8));
}

/* --- nodes --- */

struct vt_owners_target *vt_owners_target_at(const struct vt_owners *w, uintptr_t address) {
    if (address < w->target_low || address >= w->target_high)
        return NULL;
    return vt_scan_item_at(w->targets, w->target_count, sizeof *w->targets, address);
}

/* The node of an object; 0: not reached. The class distinguishes objects at the same address, such as a C++ object and
 * its first member. */
static uint32_t node_of(const struct vt_owners *w, uintptr_t address, uint16_t class_) {
    const uint32_t *entry = vt_address_find(&w->addresses, address);
    uint32_t number = entry ? *entry : 0;
    while (number) {
        const struct vt_node *n = vt_node_at(w, number);
        if (n->address == address && n->class_ == class_)
            break;
        number = n->beside;
    }
    return number;
}

uint32_t vt_owners_node_at(const struct vt_owners *w, uintptr_t object) {
    return node_of(w, object, VT_NODE_PYTHON);
}

bool vt_owners_is_reached(const struct vt_owners *w, uintptr_t object) {
    return node_of(w, object, VT_NODE_PYTHON) != 0;
}

static void add_roles(struct vt_owners *w, uint32_t number, uint16_t roles) {
    struct vt_node *n = vt_node_at(w, number);
    if (!(roles & ~n->roles))
        return;
    n->roles |= roles;
    if (number >= w->read || n->waits || n->class_ == VT_NODE_TARGET)
        return;
    if (w->again_last - w->again_first == AGAIN)
        w->in_doubt = true;
    else
        w->again[w->again_last++ % AGAIN] = number;
}

static bool is_key(const struct vt_owners *w, const struct vt_node *n) {
    return !n->part && vt_step_at(w, n->step)->kind == VT_STEP_ITEM;
}

static void add_other(struct vt_owners *w, struct vt_node *n, uint32_t step, uint32_t from) {
    struct vt_other *o = step ? vt_owners_push(w, &w->others, sizeof *o) : NULL;
    if (!o)
        return;
    *o = (struct vt_other){.step = step, .from = from, .next = n->others};
    n->others = w->other_count++;
}

/* Whether this edge gives a deferred node a better name. A module's own attribute does; for a dict's key, any name
 * does. */
static bool is_better(const struct vt_owners *w, const struct vt_node *n,
                      const struct vt_edge *edge, uint16_t roles) {
    if (!n->waits || edge->kind == VT_STEP_NONE)
        return false;
    return roles & VT_ROLES_OF_MODULE & ~n->roles ||
           (is_key(w, n) && edge->kind != VT_STEP_ITEM && edge->as != VT_AS_NUMBER);
}

static bool put_off(struct vt_owners *w, uint32_t number, enum vt_later later) {
    uint32_t *to = vt_owners_push(w, &w->later[later], sizeof *to);
    if (to)
        *to = number;
    return to;
}

static void arrive_again(struct vt_owners *w, uint32_t number, const struct vt_edge *edge,
                         uint64_t type, uint16_t roles) {
    struct vt_node *n = vt_node_at(w, number);
    if (n->paths < UINT16_MAX)
        n->paths++;
    bool part = edge->kind == VT_STEP_NONE;
    if (is_better(w, n, edge, roles)) {
        uint32_t better = vt_owners_step(w, w->step, edge, type, n->class_);
        if (!better)
            return;
        add_other(w, n, n->step, n->parent);
        n->step = better;
        n->parent = w->node;
        put_off(w, number, VT_LATER_NAMED);
        return;
    }
    if (n->weak && edge->as != VT_AS_NUMBER) { /* a better owner than an integer */
        n->weak = false;
        w->reached += n->class_ == VT_NODE_TARGET;
        n->part = part;
        n->step = w->step;
        n->parent = w->node;
        return;
    }
    if (n->paths > OTHERS_KEPT + 1 || edge->as == VT_AS_NUMBER)
        return;
    add_other(w, n, part ? w->step : vt_owners_step(w, w->step, edge, type, n->class_), w->node);
}

static void arrive(struct vt_owners *w, const struct vt_edge *edge, uint16_t class_, uint64_t type,
                   uint16_t type_index, uint16_t roles) {
    uint32_t known = node_of(w, edge->to, class_);
    if (known) {
        if (!w->roles_only)
            arrive_again(w, known, edge, type, roles);
        add_roles(w, known, roles);
        return;
    }
    if (w->roles_only)
        return;
    bool part = edge->kind == VT_STEP_NONE;
    uint32_t step = part ? w->step : vt_owners_step(w, w->step, edge, type, class_);
    struct vt_node *n = step ? vt_owners_push(w, &w->nodes, sizeof *n) : NULL;
    uint32_t *entry = n ? vt_address_enter(w, &w->addresses, edge->to) : NULL;
    if (!entry) {
        w->stopped = true;
        return;
    }
    *n = (struct vt_node){.address = edge->to,
                          .step = step,
                          .parent = w->node,
                          .beside = *entry,
                          .type = type_index,
                          .roles = roles,
                          .paths = 1,
                          .class_ = (uint8_t)class_,
                          .part = part,
                          .weak = edge->as == VT_AS_NUMBER};
    *entry = w->node_count;
    if (class_ == VT_NODE_TARGET) {
        vt_owners_target_at(w, edge->to)->node = w->node_count;
        w->reached += !n->weak;
    }
    w->node_count++;
}

static void arrive_at_target(struct vt_owners *w, const struct vt_edge *edge, uint16_t roles) {
    const struct vt_owners_target *t = vt_owners_target_at(w, edge->to);
    if (!t)
        return;
    if (edge->as == VT_AS_NUMBER && (t->start != edge->to || t->kind == VT_KIND_BLOCK))
        return;
    struct vt_edge at = {.kind = VT_STEP_NONE, .as = edge->as, .to = t->start};
    arrive(w, &at, VT_NODE_TARGET, 0, 0, roles);
}

static void arrive_at_python(struct vt_owners *w, const struct vt_edge *edge, uint16_t roles) {
    const struct vt_owners_type *type = edge->type ? edge->type : vt_owners_type_of(w, edge->to);
    if (!type || type->leaf)
        return;
    if (type->number && !vt_owners_target_at(w, w->readers->python_number(w, edge->to)))
        return;
    arrive(w, edge, VT_NODE_PYTHON, type->address, (uint16_t)(type - w->types), roles);
}

void vt_owners_edge(struct vt_owners *w, const struct vt_edge *edge) {
    w->work++;
    if (!edge->to || w->stopped || !w->step)
        return;
    uint16_t roles = edge->roles;
    if (!edge->apart && edge->kind != VT_STEP_NAME && edge->kind != VT_STEP_ATTRIBUTE &&
        edge->kind != VT_STEP_CLOSURE && edge->kind != VT_STEP_DEFAULT)
        roles |= w->roles;
    if (edge->kind == VT_STEP_ATTRIBUTE && w->node) {
        const struct vt_node *n = vt_node_at(w, w->node);
        if (n->class_ == VT_NODE_PYTHON && w->types[n->type].family)
            roles |= w->readers->class_roles(w, &w->types[n->type], edge->name);
    }
    if (edge->kind == VT_STEP_KEY && roles & VT_ROLE_GROUPS)
        roles = (roles & ~VT_ROLE_GROUPS) | w->readers->class_roles(w, NULL, edge->name);
    struct vt_edge plain = *edge;
    plain.plain |= edge->kind == VT_STEP_ATTRIBUTE && roles & VT_ROLES_OF_MODULE;
    switch (edge->as) {
    case VT_AS_PYTHON:
        arrive_at_python(w, &plain, roles);
        return;
    case VT_AS_CLASS:
        arrive(w, edge, edge->class_, w->readers->class_key(w, edge->to, edge->class_), 0, roles);
        return;
    case VT_AS_ADDRESS:
    case VT_AS_NUMBER:
        arrive_at_target(w, edge, roles);
        return;
    }
}

void vt_owners_keys(struct vt_owners *w, uint64_t count) {
    w->many_keys = count > VT_OWNERS_KEYS;
}

void vt_owners_in_doubt(struct vt_owners *w) {
    w->in_doubt = true;
}

bool vt_owners_may_continue(struct vt_owners *w) {
    if (w->work > w->most_work)
        w->stopped = true;
    return !w->stopped;
}

/* Checking the clock is a system call. */
bool vt_owners_has_time(struct vt_owners *w) {
    if (w->looks++ % CLOCK_EVERY == 0 &&
        vt_sys_clock_ns(CLOCK_THREAD_CPUTIME_ID) - w->cpu_began_ns > w->most_cpu_ns)
        w->stopped = true;
    return vt_owners_may_continue(w);
}

/* --- roots, and the walk --- */

bool vt_owners_root(struct vt_owners *w, const struct vt_root *root) {
    if (root->level != w->level || w->stopped ||
        (w->passing && w->level == VT_LEVEL_LIBRARY && root->kind == VT_STEP_MODULE))
        return false;
    w->node = 0;
    w->roles = root->level == VT_LEVEL_USER && root->kind == VT_STEP_FRAME ? VT_ROLE_LOCAL : 0;
    w->step = vt_owners_root_step(w, root);
    return w->step != 0;
}

enum vt_owners_level vt_owners_level(const struct vt_owners *w) {
    return w->level;
}

static void read_node(struct vt_owners *w, uint32_t number) {
    vt_node_at(w, number)->waits = false;
    const struct vt_node n = *vt_node_at(w, number);
    w->node = number;
    w->step = n.step;
    w->roles = n.roles;
    w->many_keys = false;
    if (n.class_ == VT_NODE_TARGET)
        return;
    if (n.class_ != VT_NODE_PYTHON) {
        w->readers->class_(w, n.address, n.class_);
        return;
    }
    const struct vt_owners_type *type = &w->types[n.type];
    w->readers->python(w, n.address, type);
    if (type->family)
        w->readers->class_python(w, n.address, type);
}

/* Reads a node, or defers it. */
static void come_to(struct vt_owners *w, uint32_t number) {
    struct vt_node *n = vt_node_at(w, number);
    int later = -1;
    if (n->class_ != VT_NODE_TARGET)
        later =
            is_key(w, n)
                ? VT_LATER_KEY
                : w->readers->class_later(n->class_ == VT_NODE_PYTHON ? &w->types[n->type] : NULL,
                                          n->class_, n->roles);
    n->waits = later >= 0 && put_off(w, number, (enum vt_later)later);
    if (!n->waits)
        read_node(w, number);
}

/* The next deferred node; 0: none. */
static uint32_t next_later(struct vt_owners *w) {
    for (int i = 0; i < VT_LATERS; i++)
        if (w->later_read[i] < w->later[i].used) {
            uint32_t number;
            memcpy(&number, w->later[i].at + w->later_read[i], sizeof number);
            w->later_read[i] += sizeof number;
            return number;
        }
    return 0;
}

static void walk_level(struct vt_owners *w) {
    uint32_t number;
    w->readers->python_roots(w);
    if (w->level == VT_LEVEL_NATIVE && !w->stopped)
        w->readers->native(w);
    for (;;) {
        while (w->read < w->node_count && vt_owners_has_time(w)) {
            if (w->read + AHEAD < w->node_count)
                __builtin_prefetch((const void *)vt_node_at(w, w->read + AHEAD)->address);
            come_to(w, w->read++);
        }
        if (!vt_owners_has_time(w) || !(number = next_later(w)))
            break;
        if (vt_node_at(w, number)->waits)
            read_node(w, number);
    }
    w->roles_only = true;
    while (w->again_first != w->again_last && vt_owners_has_time(w))
        read_node(w, w->again[w->again_first++ % AGAIN]);
    w->roles_only = false;
}

static bool is_passed_over(const struct vt_owners *w) {
    return w->passing && (w->level == VT_LEVEL_NATIVE || w->level == VT_LEVEL_CYCLE);
}

/* From VT_LEVEL_NATIVE on, a level is walked only if some targets have no owner yet. */
static void walk_levels(struct vt_owners *w) {
    for (; w->level < VT_LEVELS && !w->stopped; w->level++)
        if (w->level < VT_LEVEL_NATIVE || (w->reached < w->target_count && !is_passed_over(w)))
            walk_level(w);
}

void vt_owners_walk(struct vt_owners *w) {
    w->cpu_began_ns = vt_sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (vt_owners_read_open(w) && make_memory(w)) {
        walk_levels(w);
        bool stopped = w->stopped;
        w->stopped = false; /* for writing the answer */
        w->most_work = UINT64_MAX;
        vt_owners_write(w);
        w->stopped |= stopped;
    } else {
        w->stopped = true;
    }
    w->answer->objects = w->node_count;
    w->answer->flags = (w->stopped || w->in_doubt || !w->copy ? VT_SNAPSHOT_PARTIAL : 0) |
                       (w->copy ? 0 : VT_SNAPSHOT_IN_PLACE);
}
