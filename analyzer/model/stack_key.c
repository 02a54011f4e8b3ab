/* SPDX-License-Identifier: MIT */
/*
 * Names of stacks that stay the same from one build to the next (see stack_key.h).
 */
#include "stack_key.h"

#include "source_line.h"

#include <stdlib.h>
#include <string.h>

char *vt_stack_key_call_text(const struct vt_site *s) {
    struct vt_string text = {0};
    vt_string_add(&text, s->api ? s->api : "an unknown call");
    if (s->layer == VT_LAYER_HOST)
        vt_string_add(&text, ", pinned host memory");
    else if (s->layer == VT_LAYER_MANAGED)
        vt_string_add(&text, ", managed memory");
    else if (s->layer == VT_LAYER_FRAMEWORK)
        vt_string_add(&text, ", a block of a caching allocator");
    else if (s->graph_memory)
        vt_string_add(&text, ", CUDA graph memory");
    if (s->device < VT_DEVICE_HOST)
        vt_string_format(&text, " on %s", VT_GPU(s->device));
    return text.text;
}

/* In a baseline each frame is one line, so control characters are removed. */
static char *clean(char *text) {
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = '?';
    return text;
}

uint64_t vt_stack_key_hash(const char *call, char *const *frames, uint32_t count) {
    uint64_t hash = vt_hash_bytes(11, call, strlen(call));
    for (uint32_t i = 0; i < count; i++)
        hash = vt_hash_bytes(hash, frames[i], strlen(frames[i]));
    return hash;
}

void vt_stack_key_make(const struct vt_site *site, struct vt_stack_key *key) {
    const struct vt_stack *stack = site->stack;
    uint32_t end = 0;
    *key = (struct vt_stack_key){0};
    for (uint32_t i = 0; i < stack->count; i++)
        if (vt_stack_frame(stack, i)->user_code)
            end = i + 1;
    if (!end)
        end = stack->count;
    key->frames = vt_alloc((size_t)end + 1, sizeof *key->frames);
    for (uint32_t i = 0; i < end; i++) {
        if (vt_stack_frame(stack, i)->interpreter)
            continue;
        char *name = clean(vt_frame_line_name(vt_stack_frame(stack, i)));
        /* frames without names look alike: keep each, as their number distinguishes stacks */
        if (key->count && name[0] != '?' && !strcmp(name, key->frames[key->count - 1]))
            free(name);
        else
            key->frames[key->count++] = name;
    }
    if (!key->count)
        key->frames[key->count++] = vt_strdup("? (no stack)");
    key->call =
        clean(vt_formatted("%s %s", vt_layer_name(site->layer), site->api ? site->api : "unknown"));
    key->hash = vt_stack_key_hash(key->call, key->frames, key->count);
}

uint64_t vt_stack_key_of(const struct vt_site *site) {
    struct vt_stack_key key;
    vt_stack_key_make(site, &key);
    uint64_t hash = key.hash;
    vt_stack_key_free(&key);
    return hash;
}

void vt_stack_key_free(struct vt_stack_key *key) {
    vt_free_texts(key->frames, key->count);
    free(key->call);
    *key = (struct vt_stack_key){0};
}
