/* SPDX-License-Identifier: MIT */
/*
 * The simulated driver's handles and memory ranges by address, in balanced trees of malloc'd nodes
 * (tsearch). The caller holds the driver's lock.
 */
#include "driver.h"

#include <search.h>
#include <stdlib.h>

/* ---- handles ---- */

static void *objects;

static int compare_objects(const void *a, const void *b) {
    return a < b ? -1 : a > b;
}

void *sim_object_new(size_t size, enum sim_object_kind kind, struct sim_context *context,
                     void (*drop)(struct sim_object *object)) {
    struct sim_object *object = calloc(1, size);
    if (object == NULL)
        return NULL;
    object->kind = kind;
    object->context = context;
    object->drop = drop != NULL ? drop : sim_object_free;
    object->id = ++sim.next_id;
    if (tsearch(object, &objects, compare_objects) == NULL) {
        free(object);
        return NULL;
    }
    return object;
}

void *sim_object_get(const void *handle, enum sim_object_kind kind) {
    struct sim_object *const *found =
        handle != NULL ? tfind(handle, &objects, compare_objects) : NULL;
    return found != NULL && (*found)->kind == kind ? *found : NULL;
}

void sim_object_drop(void *object) {
    struct sim_object *it = object;
    it->drop(it);
}

void sim_object_free(struct sim_object *object) {
    tdelete(object, &objects, compare_objects);
    free(object);
}

/* Dropping one object may drop others (a chain drops its levels), so the tree is asked again for
 * each: one that still is there is still to be dropped. */
struct object_list {
    struct sim_context *context;
    struct sim_object **items;
    size_t count, room;
};

/* The list that a walk fills: twalk hands nothing through, and twalk_r needs glibc 2.30. */
static struct object_list *walked_objects;

static void collect_object(const void *node, VISIT visit, int depth) {
    (void)depth;
    struct object_list *list = walked_objects;
    struct sim_object *object = *(struct sim_object *const *)node;
    if ((visit != postorder && visit != leaf) || object->context != list->context)
        return;
    if (list->count == list->room) {
        size_t room = list->room != 0 ? 2 * list->room : 64;
        struct sim_object **items = realloc(list->items, room * sizeof *items);
        if (items == NULL)
            return;
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = object;
}

void sim_object_drop_all(struct sim_context *context) {
    struct object_list list = {.context = context};
    walked_objects = &list;
    twalk(objects, collect_object);
    for (size_t i = 0; i < list.count; i++) {
        if (tfind(list.items[i], &objects, compare_objects) != NULL)
            sim_object_drop(list.items[i]);
    }
    free(list.items);
}

/* ---- ranges ---- */

/* Reserved ranges enclose their mappings, so they have a tree of their own. */
static void *blocks, *reservations;

/* Two ranges are equal when they overlap: a search for one address finds the block around it. */
static int compare_blocks(const void *a, const void *b) {
    const struct sim_block *left = a, *right = b;
    if (left->start + left->span <= right->start)
        return -1;
    return left->start >= right->start + right->span;
}

static void **tree_of(const struct sim_block *block) {
    return block->owner == SIM_OWNER_RESERVED ? &reservations : &blocks;
}

struct sim_block *sim_block_at(uintptr_t address) {
    struct sim_block key = {.start = address, .span = 1};
    struct sim_block *const *found = tfind(&key, &blocks, compare_blocks);
    if (found == NULL)
        found = tfind(&key, &reservations, compare_blocks);
    return found != NULL ? *found : NULL;
}

struct sim_block *sim_block_starting(uintptr_t address) {
    struct sim_block *block = sim_block_at(address);
    return block != NULL && block->start == address ? block : NULL;
}

bool sim_block_insert(struct sim_block *block) {
    struct sim_block **found = tsearch(block, tree_of(block), compare_blocks);
    return found != NULL && *found == block;
}

void sim_block_remove(struct sim_block *block) {
    tdelete(block, tree_of(block), compare_blocks);
}

struct block_list {
    struct sim_block **items;
    size_t count, room;
};

static struct block_list *walked_blocks;

static void collect_block(const void *node, VISIT visit, int depth) {
    (void)depth;
    struct block_list *list = walked_blocks;
    if (visit != postorder && visit != leaf)
        return;
    if (list->count == list->room) {
        size_t room = list->room != 0 ? 2 * list->room : 64;
        struct sim_block **items = realloc(list->items, room * sizeof *items);
        if (items == NULL)
            return;
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = *(struct sim_block *const *)node;
}

void sim_block_each(void (*visit)(struct sim_block *block, void *data), void *data) {
    struct block_list list = {0};
    walked_blocks = &list;
    twalk(blocks, collect_block);
    for (size_t i = 0; i < list.count; i++)
        visit(list.items[i], data);
    free(list.items);
}
