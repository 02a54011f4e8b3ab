/* SPDX-License-Identifier: MIT */
/*
 * Texts in the HTML page's data, which come from the log and may be of any length: their bounds, and the
 * list of those that are named often.
 */
#include "html.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT = 160, LONG = 2000 };

static const char NO_ROOM[] = "(name left out: there are too many)";

/* How many bytes of it to write. */
static size_t kept(const struct vt_html *h, const char *text) {
    size_t length = strlen(text);
    if (length <= SHORT)
        return length;
    size_t most = h->room->long_texts >= LONG ? LONG : SHORT;
    if (length > most) {
        length = most;
        while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--; /* no part of a character */
    }
    h->room->long_texts -= length < h->room->long_texts ? length : h->room->long_texts;
    return length;
}

static char *cut_name(const struct vt_html *h, const char *text) {
    size_t length = kept(h, text);
    return vt_formatted("%.*s%s", (int)length, text, text[length] ? "..." : "");
}

void vt_html_text(const struct vt_html *h, const char *name, const char *text) {
    VT_SCOPED char *shown = text ? cut_name(h, text) : NULL;
    vt_json_string(h->json, name, shown);
}

void vt_html_text_list(const struct vt_html *h, const char *name, const char *const *list,
                       uint32_t count) {
    for (uint32_t i = 0; vt_json_items(h->json, name, i, count); i++)
        vt_html_text(h, NULL, list[i]);
}

uint64_t vt_html_text_number(struct vt_html *h, const char *text) {
    struct vt_html_texts *t = &h->texts;
    if (!text)
        return VT_UNKNOWN;
    uint64_t hash = vt_hash_bytes(1, text, strlen(text));
    uint32_t found = vt_map_get(&t->by_hash, hash);
    if (found != VT_MAP_NONE)
        return found;
    if (!h->room->listed && strcmp(text, NO_ROOM))
        return vt_html_text_number(h, NO_ROOM);
    VT_GROW(t->items, t->count, t->room);
    t->items[t->count] = cut_name(h, text);
    size_t bytes = strlen(t->items[t->count]) + 3;
    h->room->listed -= bytes < h->room->listed ? bytes : h->room->listed;
    vt_map_put(&t->by_hash, hash, t->count);
    return t->count++;
}

void vt_html_texts_write(const struct vt_html *h) {
    for (uint32_t i = 0; vt_json_items(h->json, "texts", i, h->texts.count); i++)
        vt_json_string(h->json, NULL, h->texts.items[i]);
}

void vt_html_texts_free(struct vt_html *h) {
    for (uint32_t i = 0; i < h->texts.count; i++)
        free((char *)h->texts.items[i]);
    free(h->texts.items);
    vt_map_free(&h->texts.by_hash);
}
