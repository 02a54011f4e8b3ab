/* SPDX-License-Identifier: MIT */
/*
 * Saves and loads state of the analyzer (see saved_state.h).
 */
#include "saved_state.h"

#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { PIECE = 1 << 20 }; /* bytes written at once */

/* The head of a saved state; a file also has it before the compressed bytes. */
static const char state_name[16] = "vramtrace state";

struct head {
    char name[16];
    uint64_t size;
};

/* --- bytes --- */

static uint32_t add_to_sum(uint32_t sum, const uint8_t *bytes, size_t length) {
    return (uint32_t)crc32_z(sum, bytes, length);
}

static void write_saved(struct vt_state *s, bool last) {
    uint8_t out[1 << 14];
    ZSTD_inBuffer from = {s->saved, s->length, 0};
    size_t left = 1;
    while (!s->error && (last ? left > 0 : from.pos < from.size)) {
        ZSTD_outBuffer to = {out, sizeof out, 0};
        left = ZSTD_compressStream2(s->zstd, &to, &from, last ? ZSTD_e_end : ZSTD_e_continue);
        s->written += to.pos;
        if (ZSTD_isError(left))
            s->error = ENOMEM;
        else if (s->written > s->most)
            s->error = EFBIG;
        else if (fwrite(out, 1, to.pos, s->file) != to.pos)
            s->error = errno ? errno : EIO;
    }
    s->length = 0;
}

static void save_bytes(struct vt_state *s, const void *bytes, size_t size) {
    if (s->file && s->length > PIECE) {
        s->sum = add_to_sum(s->sum, s->saved, s->length);
        write_saved(s, false);
    }
    if (size > s->room - s->length) {
        s->room = (s->length + size) * 2;
        s->saved = vt_realloc(s->saved, s->room, 1);
    }
    if (size)
        memcpy(s->saved + s->length, bytes, size);
    s->length += size;
    s->at += size;
}

void vt_state_refuse(struct vt_state *s, const char *format, ...) {
    if (!s->loading || s->bad)
        return;
    va_list args;
    va_start(args, format);
    VT_SCOPED char *what = vt_formatted_of(format, args);
    va_end(args);
    s->bad = vt_formatted("byte %llu: %s", (unsigned long long)s->at, what);
}

static uint64_t left(const struct vt_state *s) {
    return s->length - s->at;
}

void vt_state_bytes(struct vt_state *s, void *bytes, size_t size) {
    if (!s->loading) {
        save_bytes(s, bytes, size);
        return;
    }
    if (size > left(s))
        vt_state_refuse(s, "expected %zu bytes more, found the end after %llu", size,
                        (unsigned long long)left(s));
    if (s->bad || !size) {
        if (size)
            memset(bytes, 0, size);
        return;
    }
    memcpy(bytes, s->loaded + s->at, size);
    s->at += size;
}

void vt_state_but(struct vt_state *s, void *thing, size_t size, size_t at, size_t pointers) {
    uint8_t *bytes = thing;
    vt_state_bytes(s, bytes, at);
    if (s->loading)
        memset(bytes + at, 0, pointers);
    vt_state_bytes(s, bytes + at + pointers, size - at - pointers);
}

/* --- begin and end --- */

void vt_state_save(struct vt_state *s, FILE *file) {
    *s = (struct vt_state){.file = file, .most = UINT64_MAX, .written = sizeof state_name};
    if (file) {
        s->zstd = ZSTD_createCCtx();
        ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, 1);
        if (fwrite(state_name, 1, sizeof state_name, file) != sizeof state_name)
            s->error = errno ? errno : EIO;
    }
    vt_state_section(s, state_name, VT_STATE_VERSION);
}

/* Unpacks a whole file. No real state compresses to a MOST-th of its size. */
static void unpack(struct vt_state *s, const uint8_t *bytes, size_t length) {
    enum { MOST = 1024 };
    ZSTD_DStream *zstd = ZSTD_createDStream();
    ZSTD_inBuffer from = {bytes, length, 0};
    ZSTD_outBuffer to = {0};
    size_t left = 1;
    while (left && !ZSTD_isError(left) && to.pos / MOST <= length &&
           (from.pos < from.size || to.pos == to.size)) {
        if (to.pos == to.size) {
            to.size = to.size ? to.size * 2 : PIECE;
            s->unpacked = to.dst = vt_realloc(to.dst, to.size, 1);
        }
        left = ZSTD_decompressStream(zstd, &to, &from);
    }
    ZSTD_freeDStream(zstd);
    s->loaded = s->unpacked;
    s->length = to.pos;
    if (left || from.pos < length)
        vt_state_refuse(s, "expected one frame of zstd, found %s",
                        ZSTD_isError(left) ? ZSTD_getErrorName(left)
                        : left             ? "a part of it"
                                           : "more behind it");
}

void vt_state_load(struct vt_state *s, const void *bytes, size_t length) {
    uint32_t magic = 0, sum = 0;
    *s = (struct vt_state){.loading = true, .loaded = bytes, .length = length};
    if (length >= sizeof state_name + sizeof magic)
        memcpy(&magic, s->loaded + sizeof state_name, sizeof magic);
    if (magic == ZSTD_MAGICNUMBER && !memcmp(bytes, state_name, sizeof state_name))
        unpack(s, s->loaded + sizeof state_name, length - sizeof state_name);
    if (s->length < sizeof sum) {
        vt_state_refuse(s, "expected a checksum, found the end");
        s->length = 0;
        return;
    }
    s->length -= sizeof sum;
    s->sum = add_to_sum(0, s->loaded, s->length);
    memcpy(&sum, s->loaded + s->length, sizeof sum);
    if (sum != s->sum)
        vt_state_refuse(s, "expected bytes with the checksum %08x, found %08x", sum, s->sum);
    vt_state_section(s, state_name, VT_STATE_VERSION);
}

void vt_state_drop(struct vt_state *s) {
    free(s->bad);
    free(s->unpacked);
    ZSTD_freeCCtx(s->zstd);
    if (s->file)
        free(s->saved);
    s->bad = NULL;
    s->unpacked = NULL;
    s->zstd = NULL;
    s->file = NULL;
}

static int end_loading(struct vt_state *s, const char *path, struct vt_string *message) {
    if (left(s))
        vt_state_refuse(s, "expected the end, found %llu bytes more", (unsigned long long)left(s));
    if (!s->bad)
        return 0;
    vt_string_format(message, "%s: %s", path, s->bad);
    return -EINVAL;
}

static int end_saving(struct vt_state *s, const char *path, struct vt_string *message) {
    uint32_t sum = add_to_sum(s->sum, s->saved, s->length);
    save_bytes(s, &sum, sizeof sum);
    if (!s->file)
        return 0;
    write_saved(s, true);
    if (!s->error && fflush(s->file))
        s->error = errno;
    if (s->error == EFBIG && s->written > s->most)
        vt_string_format(message, "%s: expected at most %s, found more", path, VT_BYTES(s->most));
    else if (s->error)
        vt_string_format(message, "%s: cannot be written: %s", path, strerror(s->error));
    return -s->error;
}

int vt_state_end(struct vt_state *s, const char *path, struct vt_string *message) {
    int error = (s->loading ? end_loading : end_saving)(s, path, message);
    vt_state_drop(s);
    return error;
}

/* --- parts --- */

void vt_state_section(struct vt_state *s, const char *name, size_t size) {
    struct head expected = {.size = size}, head;
    memcpy(expected.name, name, strnlen(name, sizeof expected.name - 1));
    head = expected;
    VT_STATE(s, head);
    head.name[sizeof head.name - 1] = 0;
    if (!s->bad && (strcmp(head.name, expected.name) || head.size != expected.size))
        vt_state_refuse(s,
                        "expected the part \"%s\" of %llu, found \"%s\" of %llu: another build "
                        "of vramtrace wrote it",
                        expected.name, (unsigned long long)expected.size, vt_printable(head.name),
                        (unsigned long long)head.size);
}

uint64_t vt_state_count(struct vt_state *s, uint64_t count, size_t size, size_t width) {
    VT_STATE(s, count);
    if (s->loading && (count > left(s) / size || (width < 8 && count >> (8 * width)))) {
        vt_state_refuse(s,
                        "expected a count of items of %zu bytes, found %llu with %llu bytes left",
                        size, (unsigned long long)count, (unsigned long long)left(s));
        count = 0;
    }
    return count;
}

void *vt_state_items(struct vt_state *s, void *items, uint64_t count, size_t size) {
    if (!s->loading) {
        save_bytes(s, items, (size_t)count * size);
        return items;
    }
    if (count > left(s) / size)
        vt_state_refuse(s, "expected %llu items of %zu bytes, found %llu bytes more",
                        (unsigned long long)count, size, (unsigned long long)left(s));
    if (s->bad || !count)
        return NULL;
    items = vt_alloc((size_t)count, size);
    vt_state_bytes(s, items, (size_t)count * size);
    return items;
}

void vt_state_text(struct vt_state *s, char **text) {
    uint64_t length = !s->loading && *text ? strlen(*text) + 1 : 0;
    length = vt_state_count(s, length, 1, sizeof length);
    if (!s->loading) {
        save_bytes(s, *text, (size_t)length);
        return;
    }
    *text = vt_state_items(s, NULL, length, 1);
    if (*text)
        (*text)[length - 1] = 0;
}

void vt_state_map(struct vt_state *s, struct vt_map *map, uint64_t limit) {
    struct {
        uint64_t key;
        uint32_t value;
    } __attribute__((packed)) item;
    uint64_t count = vt_state_count(s, map->used, sizeof item, sizeof map->used);
    for (size_t i = 0; !s->loading && i < map->slots; i++)
        if (map->values[i] != VT_MAP_NONE) {
            item.key = map->keys[i];
            item.value = map->values[i];
            VT_STATE(s, item);
        }
    if (!s->loading)
        return;
    *map = (struct vt_map){0};
    vt_map_reserve(map, (size_t)count);
    for (; count && !s->bad; count--) {
        VT_STATE(s, item);
        if (vt_state_within(s, item.value, limit < VT_MAP_NONE ? limit : VT_MAP_NONE, "a map"))
            vt_map_put(map, item.key, item.value);
    }
}

bool vt_state_within(struct vt_state *s, uint64_t index, uint64_t limit, const char *of_what) {
    if (!s->loading || (!s->bad && index < limit))
        return true;
    vt_state_refuse(s, "expected an index below %llu of %s, found %llu", (unsigned long long)limit,
                    of_what, (unsigned long long)index);
    return false;
}

void vt_state_index(struct vt_state *s, uint32_t *index, uint64_t limit, uint32_t none) {
    VT_STATE(s, *index);
    if (*index != none)
        vt_state_within(s, *index, limit, "a table");
    if (s->bad)
        *index = none;
}

void vt_state_expect(struct vt_state *s, bool so, const char *what) {
    if (!so)
        vt_state_refuse(s, "expected %s", what);
}

void vt_state_bool(struct vt_state *s, bool *field) {
    vt_state_bytes(s, field, sizeof *field);
    vt_state_bools(s, field, 1, sizeof *field);
}

void vt_state_bools(struct vt_state *s, bool *first, size_t count, size_t stride) {
    for (size_t i = 0; s->loading && i < count; i++) {
        uint8_t *byte = (uint8_t *)first + i * stride;
        if (*byte > 1) {
            vt_state_refuse(s, "expected 0 or 1, found %u", *byte);
            *byte = 0;
        }
    }
}
