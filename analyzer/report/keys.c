/* SPDX-License-Identifier: MIT */
/*
 * Writes, as JSON, the objects that rows describe (see keys.h).
 */
#include "keys.h"

#include "json_parts.h"

#include <stdlib.h>

static uint64_t number_at(const void *at, unsigned size) {
    switch (size) {
    case 1:
        return *(const uint8_t *)at;
    case 2:
        return *(const uint16_t *)at;
    case 4:
        return *(const uint32_t *)at;
    default:
        return *(const uint64_t *)at;
    }
}

const char *vt_key_value(const struct vt_key *key, const void *of, uint64_t *number) {
    const void *at = (const char *)of + key->offset;
    *number = VT_UNKNOWN;
    if (key->type == VT_KEY_CHARS)
        return at;
    if (key->type == VT_KEY_TEXT)
        return *(const char *const *)at;
    uint64_t value = number_at(at, key->size);
    if (key->type == VT_KEY_WORD)
        return key->words[value < key->word_count ? value : key->word_count - 1u];
    *number = key->type == VT_KEY_DEVICE     ? vt_device_number((unsigned)value)
              : key->type == VT_KEY_RANK     ? vt_rank_number((int)value)
              : key->type == VT_KEY_POSITIVE ? (value ? value : VT_UNKNOWN)
                                             : value;
    return NULL;
}

void vt_keys_frame(struct vt_key_writer *w, const char *key, const struct vt_frame *f) {
    VT_SCOPED char *file = w->file_of && f ? w->file_of(w->process, f, w->source_root) : NULL;
    vt_json_part_frame(w->json, key, f, file, w->stable);
}

static void write_stack(struct vt_key_writer *w, const char *key, const struct vt_stack *s) {
    if (w->brief || w->excerpt) {
        vt_json_null(w->json, key);
        return;
    }
    for (uint32_t i = 0; vt_json_items(w->json, key, i, s->count); i++)
        if (w->stacks.native || !vt_stack_frame(s, i)->interpreter)
            vt_keys_frame(w, NULL, vt_stack_frame(s, i));
}

static void make_stacks(struct vt_key_writer *w, const char *key, const void *of) {
    (void)of;
    for (uint32_t i = 0; vt_json_items(w->json, key, i, w->stacks.stack_count); i++)
        vt_stack_table_write(&w->stacks, w->json, i);
}

static void make_frames(struct vt_key_writer *w, const char *key, const void *of) {
    (void)of;
    for (uint32_t i = 0; vt_json_items(w->json, key, i, w->stacks.frame_count); i++)
        vt_keys_frame(w, NULL, w->stacks.frames[i]);
}

/* clang-format off */
const struct vt_key vt_stack_table_keys[] = {
    VT_MADE_KEY("stacks", make_stacks, "{\"type\": \"array\", \"items\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/definitions/count\"}}}", "each call stack once: the numbers of its frames in frames, innermost first"),
    VT_MADE_KEY("frames", make_frames, VT_LIST_OF("frame"), "each frame of these stacks once"),
    VT_KEYS_END,
};
/* clang-format on */

void vt_keys_free(struct vt_key_writer *w) {
    vt_stack_table_free(&w->stacks);
    w->stacks = (struct vt_stack_table){.native = w->stacks.native};
}

static void write_key(struct vt_key_writer *w, const struct vt_key *key, const void *of) {
    struct vt_json *j = w->json;
    const void *at = (const char *)of + key->offset;
    uint64_t number;
    const char *text;
    switch ((enum vt_key_type)key->type) {
    case VT_KEY_TEXT:
    case VT_KEY_CHARS:
    case VT_KEY_WORD:
        text = vt_key_value(key, of, &number);
        vt_json_string(j, key->key, text);
        break;
    case VT_KEY_TEXTS:
        number = *(const uint32_t *)((const char *)of + key->count_offset);
        vt_json_strings(j, key->key, *(char *const *const *)at, (uint32_t)vt_keys_count(w, number));
        break;
    case VT_KEY_TIME:
        vt_json_time(j, key->key, *(const uint64_t *)at);
        break;
    case VT_KEY_NUMBER:
    case VT_KEY_POSITIVE:
    case VT_KEY_RANK:
    case VT_KEY_DEVICE:
        vt_key_value(key, of, &number);
        vt_json_number(j, key->key, number);
        break;
    case VT_KEY_RATIO:
        vt_json_ratio(j, key->key, *(const double *)at);
        break;
    case VT_KEY_FLAG:
        vt_json_boolean(j, key->key, *(const bool *)at);
        break;
    case VT_KEY_SITE:
        vt_json_string(j, key->key, vt_keys_site(w, *(const uint32_t *)at));
        break;
    case VT_KEY_MAYBE:
        number = number_at((const char *)of + key->count_offset, key->size);
        vt_keys_object(w, key->key, key->keys, number ? at : NULL, 0);
        break;
    case VT_KEY_OBJECT:
        vt_keys_object(w, key->key, key->keys, at, 0);
        break;
    case VT_KEY_POINTER:
        vt_keys_object(w, key->key, key->keys, *(const void *const *)at, 0);
        break;
    case VT_KEY_LIST:
        number = *(const uint32_t *)((const char *)of + key->count_offset);
        vt_keys_list(w, key->key, key->keys, *(const void *const *)at, number, key->item_size);
        break;
    case VT_KEY_INLINE:
        vt_keys_write(w, key->keys, of);
        break;
    case VT_KEY_THROUGH:
        vt_keys_write(w, key->keys, *(const void *const *)at);
        break;
    case VT_KEY_OWN_FRAME:
        vt_keys_frame(w, key->key, vt_stack_main_frame(*(const struct vt_stack *const *)at));
        break;
    case VT_KEY_STACK:
        write_stack(w, key->key, *(const struct vt_stack *const *)at);
        break;
    case VT_KEY_STACK_ID: {
        const struct vt_stack *stack = *(const struct vt_stack *const *)at;
        number = stack->count ? vt_stack_table_add(&w->stacks, stack) : VT_MAP_NONE;
        vt_json_number(j, key->key, number == VT_MAP_NONE ? VT_UNKNOWN : number);
        break;
    }
    case VT_KEY_STACK_CUT:
        vt_json_boolean(j, key->key, (*(const struct vt_stack *const *)at)->cut);
        break;
    case VT_KEY_MADE:
    case VT_KEY_MADE_LIST:
        key->make(w, key->key, of);
        break;
    case VT_KEY_END:
        break;
    }
}

void vt_keys_write(struct vt_key_writer *w, const struct vt_key *keys, const void *of) {
    for (; keys->key; keys++)
        write_key(w, keys, of);
}

void vt_keys_object(struct vt_key_writer *w, const char *key, const struct vt_key *keys,
                    const void *of, uint64_t item) {
    bool outer = w->brief;
    if (!of) {
        vt_json_null(w->json, key);
        return;
    }
    w->brief |= item >= VT_KEYS_WHOLE;
    (w->brief ? vt_json_open_line : vt_json_open)(w->json, key, '{');
    vt_keys_write(w, keys, of);
    vt_json_close(w->json, '}');
    w->brief = outer;
}

void vt_keys_list(struct vt_key_writer *w, const char *key, const struct vt_key *keys,
                  const void *items, uint64_t count, size_t size) {
    for (uint64_t i = 0, most = vt_keys_count(w, count); vt_json_items(w->json, key, i, most); i++)
        vt_keys_object(w, NULL, keys, (const char *)items + i * size, i);
}
