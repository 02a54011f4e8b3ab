/* SPDX-License-Identifier: MIT */
/*
 * Stacks and frames by number (see stack_table.h).
 */
#include "stack_table.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(uint64_t hash, const char *text) {
    return text ? vt_hash_bytes(hash, text, strlen(text)) : hash + 1;
}

static uint64_t hash_frame(const struct vt_frame *f) {
    uint64_t hash = vt_hash_bytes(f->line, &f->offset, sizeof f->offset);
    return hash_text(hash_text(hash_text(hash, f->function), f->file), f->module);
}

static bool is_same_text(const char *a, const char *b) {
    return a == b || (a && b && !strcmp(a, b));
}

static bool is_same_frame(const struct vt_frame *a, const struct vt_frame *b) {
    return a->line == b->line && a->offset == b->offset && a->python == b->python &&
           a->user_code == b->user_code && a->waiting == b->waiting &&
           is_same_text(a->function, b->function) && is_same_text(a->file, b->file) &&
           is_same_text(a->module, b->module);
}

static uint32_t number_of_frame(struct vt_stack_table *t, const struct vt_frame *f) {
    uint32_t number = vt_map_get(&t->frame_by_address, (uintptr_t)f);
    if (number != VT_MAP_NONE)
        return number;
    uint64_t hash = hash_frame(f);
    number = vt_map_get(&t->frame_by_hash, hash);
    if (number == VT_MAP_NONE || !is_same_frame(t->frames[number], f)) {
        VT_GROW(t->frames, t->frame_count, t->frame_room);
        number = t->frame_count++;
        t->frames[number] = f;
        vt_map_put(&t->frame_by_hash, hash, number);
    }
    vt_map_put(&t->frame_by_address, (uintptr_t)f, number);
    return number;
}

/* The number of the stack's frame at `*at` or further out, and moves `*at` past it. VT_MAP_NONE: there
 * is none. */
static uint32_t next_frame(struct vt_stack_table *t, const struct vt_stack *s, uint32_t *at) {
    while (*at < s->count) {
        const struct vt_frame *f = vt_stack_frame(s, (*at)++);
        if (t->native || !f->interpreter)
            return number_of_frame(t, f);
    }
    return VT_MAP_NONE;
}

static bool is_same_stack(struct vt_stack_table *t, const struct vt_stack *a,
                          const struct vt_stack *b) {
    uint32_t of_a, of_b, i = 0, k = 0;
    do {
        of_a = next_frame(t, a, &i);
        of_b = next_frame(t, b, &k);
    } while (of_a == of_b && of_a != VT_MAP_NONE);
    return of_a == of_b;
}

uint32_t vt_stack_table_add(struct vt_stack_table *t, const struct vt_stack *stack) {
    uint64_t hash = 0;
    if (t->most_frames && t->frame_count >= t->most_frames)
        return VT_MAP_NONE;
    for (uint32_t i = 0, number; (number = next_frame(t, stack, &i)) != VT_MAP_NONE;)
        hash = vt_hash_bytes(hash, &number, sizeof number);
    uint32_t number = vt_map_get(&t->stack_by_hash, hash);
    if (number == VT_MAP_NONE || !is_same_stack(t, t->stacks[number], stack)) {
        VT_GROW(t->stacks, t->stack_count, t->stack_room);
        number = t->stack_count++;
        t->stacks[number] = stack;
        vt_map_put(&t->stack_by_hash, hash, number);
    }
    return number;
}

void vt_stack_table_write(struct vt_stack_table *t, struct vt_json *j, uint32_t number) {
    vt_json_open_line(j, NULL, '[');
    for (uint32_t i = 0, frame; (frame = next_frame(t, t->stacks[number], &i)) != VT_MAP_NONE;)
        vt_json_number(j, NULL, frame);
    vt_json_close(j, ']');
}

void vt_stack_table_free(struct vt_stack_table *t) {
    free(t->frames);
    free(t->stacks);
    vt_map_free(&t->frame_by_address);
    vt_map_free(&t->frame_by_hash);
    vt_map_free(&t->stack_by_hash);
}
