/* SPDX-License-Identifier: MIT */
/*
 * Shared helpers (see util.h).
 */
#define _GNU_SOURCE /* vasprintf */
#include "util.h"

#include "base/base.h"
#include "vramtrace/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- sizes and times --- */

char *vt_format_bytes(uint64_t bytes, char out[VT_FORMAT_BYTES]) {
    vt_text_put_size(out, bytes);
    return out;
}

char *vt_format_duration(uint64_t ns, char out[VT_FORMAT_BYTES]) {
    if (ns < 9999500000ull) {
        snprintf(out, VT_FORMAT_BYTES, "%.3f s", (double)ns / 1e9);
    } else {
        uint64_t s = (ns + 500000000) / 1000000000;
        snprintf(out, VT_FORMAT_BYTES, "%llu:%02u:%02u", (unsigned long long)(s / 3600),
                 (unsigned)(s / 60 % 60), (unsigned)(s % 60));
    }
    return out;
}

char *vt_format_count(uint64_t count, char out[VT_FORMAT_BYTES]) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    char *to = out;
    for (int i = 0; i < length; i++) {
        *to++ = digits[i];
        if (i + 1 < length && (length - i - 1) % 3 == 0)
            *to++ = ',';
    }
    *to = 0;
    return out;
}

uint64_t vt_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- memory --- */

static void *or_exit(void *memory, size_t count, size_t size) {
    if (memory)
        return memory;
    vt_error("no memory: asked for %zu x %zu bytes", count, size);
    exit(VT_STATUS_INTERNAL);
}

void *vt_alloc(size_t count, size_t size) {
    return or_exit(calloc(count ? count : 1, size ? size : 1), count, size);
}

void *vt_realloc(void *old, size_t count, size_t size) {
    return or_exit(reallocarray(old, count ? count : 1, size ? size : 1), count, size);
}

void vt_free_scoped(void *variable) {
    void *memory;
    memcpy(&memory, variable, sizeof memory);
    free(memory);
}

unsigned vt_shown_length(const char *text, size_t left) {
    return vt_text_shown(text, left);
}

char *vt_printable(char *text) {
    char *to = text;
    size_t left = text ? strlen(text) : 0;
    for (const char *at = text; left;) {
        unsigned shown = vt_shown_length(at, left), bytes = vt_utf8_length(at, left);
        bytes = bytes ? bytes : 1;
        if (shown)
            memmove(to, at, shown);
        else
            *to = *at == '\t' || *at == '\n' ? ' ' : '?';
        to += shown ? shown : 1;
        at += bytes;
        left -= bytes;
    }
    if (to)
        *to = 0;
    return text;
}

/* The length of one of our own styles (report/text_page.h) at `text`, else 0. */
static size_t style_length(const char *text) {
    static const char *const styles[] = {"\033[0m",    "\033[1m",    "\033[2m",
                                         "\033[1;31m", "\033[1;32m", "\033[1;33m"};
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        if (!strncmp(text, styles[i], strlen(styles[i])))
            return strlen(styles[i]);
    return 0;
}

FILE *vt_page_open(struct vt_page *page) {
    *page = (struct vt_page){0};
    page->stream = open_memstream(&page->text, &page->length);
    if (!page->stream) {
        vt_error("no memory");
        exit(VT_STATUS_INTERNAL);
    }
    return page->stream;
}

static bool is_blank(const char *text, size_t bytes) {
    uint32_t c = bytes ? vt_text_character(text, (unsigned)bytes) : (uint32_t)*text;
    return c == ' ' || c == '\t' || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

/* CI services execute output lines that begin with "::", even after blanks. */
void vt_page_close(struct vt_page *page, bool colour, FILE *to) {
    size_t blanks = 0; /* at the start of this line; SIZE_MAX: other text followed */
    fclose(page->stream);
    for (size_t at = 0; at < page->length;) {
        const char *text = page->text + at;
        size_t style = colour ? style_length(text) : 0;
        size_t bytes = *text == '\n' ? 1 : style ? style : vt_shown_length(text, page->length - at);
        if (blanks != SIZE_MAX && !strncmp(text, "::", 2) &&
            !(page->commands && !blanks &&
              (!strncmp(text, "::error ", 8) || !strncmp(text, "::notice ", 9))))
            bytes = 0;
        if (bytes)
            fwrite(text, 1, bytes, to);
        else
            fputc(*text == '\t' ? ' ' : '?', to);
        if (!style)
            blanks = *text == '\n'                                 ? 0
                     : blanks != SIZE_MAX && is_blank(text, bytes) ? blanks + 1
                                                                   : SIZE_MAX;
        if (!bytes)
            bytes = vt_utf8_length(text, page->length - at);
        at += bytes ? bytes : 1;
    }
    free(page->text);
}

void vt_print(FILE *to, const char *format, ...) {
    struct vt_page page;
    va_list args;
    va_start(args, format);
    vfprintf(vt_page_open(&page), format, args);
    va_end(args);
    vt_page_close(&page, false, to);
}

char *vt_strndup(const char *text, size_t length) {
    return or_exit(strndup(text, length), length, 1);
}

char *vt_strdup(const char *text) {
    return or_exit(strdup(text), strlen(text), 1);
}

static int compare_words(const void *a, const void *b) {
    return VT_ORDER({*(const uint64_t *)a, *(const uint64_t *)b});
}

char *vt_formatted_of(const char *format, va_list args) {
    char *text;
    return or_exit(vasprintf(&text, format, args) < 0 ? NULL : text, 1, 1);
}

char *vt_formatted(const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = vt_formatted_of(format, args);
    va_end(args);
    return text;
}

void vt_sort_words(uint64_t *words, size_t count) {
    vt_sort(words, count, sizeof *words, compare_words);
}

void vt_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    if (count)
        qsort(items, count, size, compare);
}

size_t vt_count_up_to(const void *items, size_t count, size_t size, uint64_t most) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t word;
        memcpy(&word, (const char *)items + middle * size, sizeof word);
        if (word <= most)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- strings --- */

void vt_string_add_bytes(struct vt_string *s, const char *bytes, size_t length) {
    if (s->length + length + 1 > s->room) {
        s->room = (s->length + length + 1) * 2;
        s->text = vt_realloc(s->text, s->room, 1);
    }
    memcpy(s->text + s->length, bytes, length);
    s->length += length;
    s->text[s->length] = 0;
}

void vt_texts_add(struct vt_texts *list, const char *text) {
    *VT_ADD(list->items, list->count, list->room) = text;
    VT_GROW(list->items, list->count, list->room);
    list->items[list->count] = NULL;
}

void vt_string_add(struct vt_string *s, const char *text) {
    vt_string_add_bytes(s, text, strlen(text));
}

void vt_string_add_utf8(struct vt_string *s, const char *text) {
    for (size_t left = strlen(text); left;) {
        unsigned bytes = vt_utf8_length(text, left);
        vt_string_add_bytes(s, bytes ? text : "\xef\xbf\xbd", bytes ? bytes : 3);
        bytes = bytes ? bytes : 1;
        text += bytes;
        left -= bytes;
    }
}

void vt_string_format(struct vt_string *s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    VT_SCOPED char *made = vt_formatted_of(format, args);
    va_end(args);
    vt_string_add(s, made);
}

void vt_string_free(struct vt_string *s) {
    free(s->text);
    *s = (struct vt_string){0};
}

bool vt_same_text(const char *a, const char *b) {
    return a == b || (a && b && !strcmp(a, b));
}

const char *vt_basename(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

unsigned vt_utf8_length(const char *text, size_t left) {
    return vt_text_utf8(text, left);
}

void vt_free_texts(char **texts, size_t count) {
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

/* --- map --- */

uint32_t vt_map_get(const struct vt_map *map, uint64_t key) {
    if (!map->slots)
        return VT_MAP_NONE;
    size_t mask = map->slots - 1;
    for (size_t i = vt_mix(key) & mask;; i = (i + 1) & mask) {
        if (map->values[i] == VT_MAP_NONE || map->keys[i] == key)
            return map->values[i];
    }
}

static void map_make(struct vt_map *map, size_t slots) {
    *map = (struct vt_map){.slots = slots};
    map->keys = vt_alloc(slots, sizeof *map->keys);
    map->values = vt_alloc(slots, sizeof *map->values);
    memset(map->values, 0xff, slots * sizeof *map->values);
}

static void map_grow(struct vt_map *map) {
    struct vt_map old = *map;
    map_make(map, old.slots ? old.slots * 2 : 64);
    for (size_t i = 0; i < old.slots; i++)
        if (old.values[i] != VT_MAP_NONE)
            vt_map_put(map, old.keys[i], old.values[i]);
    vt_map_free(&old);
}

void vt_map_reserve(struct vt_map *map, size_t count) {
    size_t slots = 64;
    while (count * 3 > slots * 2)
        slots *= 2;
    if (count)
        map_make(map, slots);
}

/* The value of a key; for a new key, VT_MAP_NONE until the caller sets it. */
static uint32_t *map_slot(struct vt_map *map, uint64_t key) {
    if (map->used * 3 >= map->slots * 2)
        map_grow(map);
    size_t mask = map->slots - 1, i = vt_mix(key) & mask;
    while (map->values[i] != VT_MAP_NONE && map->keys[i] != key)
        i = (i + 1) & mask;
    map->used += map->values[i] == VT_MAP_NONE;
    map->keys[i] = key;
    return &map->values[i];
}

void vt_map_put(struct vt_map *map, uint64_t key, uint32_t value) {
    *map_slot(map, key) = value;
}

uint32_t vt_map_add(struct vt_map *map, uint64_t key, uint32_t value) {
    uint32_t *known = map_slot(map, key);
    return *known = *known == VT_MAP_NONE ? value : *known;
}

bool vt_map_add_key(struct vt_map *set, uint64_t key) {
    size_t used = set->used;
    vt_map_add(set, key, 0);
    return set->used > used;
}

uint32_t vt_map_remove(struct vt_map *map, uint64_t key) {
    if (!map->slots)
        return VT_MAP_NONE;
    size_t mask = map->slots - 1, hole = vt_mix(key) & mask;
    while (map->values[hole] != VT_MAP_NONE && map->keys[hole] != key)
        hole = (hole + 1) & mask;
    uint32_t removed = map->values[hole];
    if (removed == VT_MAP_NONE)
        return VT_MAP_NONE;
    for (size_t i = (hole + 1) & mask; map->values[i] != VT_MAP_NONE; i = (i + 1) & mask) {
        /* This key may move into the hole unless its first slot lies between the hole and here. */
        if (((i - vt_mix(map->keys[i])) & mask) >= ((i - hole) & mask)) {
            map->keys[hole] = map->keys[i];
            map->values[hole] = map->values[i];
            hole = i;
        }
    }
    map->values[hole] = VT_MAP_NONE;
    map->used--;
    return removed;
}

void vt_map_free(struct vt_map *map) {
    free(map->keys);
    free(map->values);
    *map = (struct vt_map){0};
}

/* --- union-find: sets[i] leads towards the least number of the set --- */

uint32_t *vt_sets_make(uint32_t count) {
    uint32_t *sets = vt_alloc(count, sizeof *sets);
    for (uint32_t i = 0; i < count; i++)
        sets[i] = i;
    return sets;
}

/* Halves the path, so that paths stay short. */
uint32_t vt_sets_find(uint32_t *sets, uint32_t i) {
    while (sets[i] != i)
        i = sets[i] = sets[sets[i]];
    return i;
}

void vt_sets_join(uint32_t *sets, uint32_t a, uint32_t b) {
    a = vt_sets_find(sets, a);
    b = vt_sets_find(sets, b);
    sets[a > b ? a : b] = a < b ? a : b;
}

/* --- hashes --- */

uint64_t vt_hash_bytes(uint64_t seed, const void *bytes, size_t length) {
    const unsigned char *b = bytes;
    uint64_t hash = vt_mix(seed ^ (length + 0x9e3779b97f4a7c15ull));
    while (length) {
        uint64_t word = 0;
        size_t take = length < 8 ? length : 8;
        /* Byte by byte, so that the byte order of the machine does not matter. */
        for (size_t i = 0; i < take; i++)
            word |= (uint64_t)b[i] << (8 * i);
        hash = vt_mix(hash ^ word) + 0x9e3779b97f4a7c15ull;
        b += take;
        length -= take;
    }
    return hash;
}
