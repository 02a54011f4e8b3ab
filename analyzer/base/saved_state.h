/* SPDX-License-Identifier: MIT */
/*
 * Serialized state of the analyzer: saved by one process, loaded by another of the same build. A
 * struct has one visitor that lists its members; the same code saves, loads and checks it:
 *
 *     void vt_thing_state(struct vt_thing *thing, struct vt_state *s) {
 *         VT_STATE_SECTION(s, "thing", *thing);
 *         VT_STATE(s, thing->ticks);
 *         VT_STATE_ARRAY(s, thing->rows, thing->count, thing->room);
 *         for (uint32_t i = 0; i < thing->count; i++)
 *             vt_state_index(s, &thing->rows[i].site, thing->site_count, VT_NO_SITE);
 *     }
 *
 * Loaded bytes may have been tampered with: then figures may be wrong, but loading never crashes or hangs. So counts
 * are checked against the remaining bytes, indices against their tables. The first error goes into `bad`; from then on
 * every call yields zeroes, no items or NULL, so that visitors need no checks of their own and the result can be freed.
 * A visitor that uses an index before the end must check `bad` first.
 *
 * A file is compressed, to about a quarter of its size; state saved to memory is not. Byte order is the machine's. Load
 * into a zero-initialized struct.
 */
#ifndef VRAMTRACE_ANALYZER_SAVED_STATE_H
#define VRAMTRACE_ANALYZER_SAVED_STATE_H

#include "util.h"

/* Increment it when the meaning of the bytes changes. */
#define VT_STATE_VERSION 4u

struct vt_state {
    bool loading;
    char *bad;                /* loading: the first error and its place, or NULL */
    FILE *file;               /* saving: the file; NULL: all stays in `saved` */
    uint64_t most, written;   /* bytes: the limit (EFBIG beyond it), and the number written */
    struct ZSTD_CCtx_s *zstd; /* of the file */
    uint8_t *saved;           /* bytes that are not in the file yet */
    size_t length;            /* bytes in `saved`; when loading, all bytes but the checksum */
    size_t room;
    const uint8_t *loaded;
    uint8_t *unpacked; /* the loaded bytes, if they were compressed */
    uint64_t at;       /* bytes saved or loaded so far */
    uint32_t sum;
    int error; /* errno of the file */
};

/* Starts saving. Without a `file`, vt_state_end leaves `length` bytes in `saved`; free it. Set `most` afterwards to
 * limit a file. */
void vt_state_save(struct vt_state *s, FILE *file);
/* Starts loading from memory, which must outlive `s`: a whole file, or bytes saved to memory. */
void vt_state_load(struct vt_state *s, const void *bytes, size_t length);
/* Frees the memory of `s`, as vt_state_end also does. */
void vt_state_drop(struct vt_state *s);
/* Ends saving or loading. Returns 0, or -errno with a message that names `path`; -EINVAL: the state is invalid. */
int vt_state_end(struct vt_state *s, const char *path, struct vt_string *message);

/* Sets `bad` if it is NULL; only while loading. */
void vt_state_refuse(struct vt_state *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Begins a part with its name, up to 15 characters, and the size of its struct, so that another build refuses the
 * state. */
#define VT_STATE_SECTION(s, name, thing) vt_state_section(s, name, sizeof(thing))
void vt_state_section(struct vt_state *s, const char *name, size_t size);

/* A field, or a whole struct, without pointers. */
#define VT_STATE(s, field) vt_state_bytes(s, &(field), sizeof(field))
void vt_state_bytes(struct vt_state *s, void *bytes, size_t size);

/* A struct without its pointers: the member `pointer`, or the members from there to `last`, which are NULL after
 * loading. */
#define VT_STATE_BUT(s, thing, pointer) VT_STATE_BUT_TO(s, thing, pointer, pointer)
#define VT_STATE_BUT_TO(s, thing, pointer, last)                                                   \
    vt_state_but(s, &(thing), sizeof(thing),                                                       \
                 (size_t)((char *)&(thing).pointer - (char *)&(thing)),                            \
                 (size_t)((char *)(&(thing).last + 1) - (char *)&(thing).pointer))
void vt_state_but(struct vt_state *s, void *thing, size_t size, size_t at, size_t pointers);

/* An allocated array of structs without pointers, and its count. NULL if empty. */
#define VT_STATE_ARRAY(s, array, count, room)                                                      \
    do {                                                                                           \
        uint64_t count_ = vt_state_count(s, count, sizeof *(array), sizeof(count));                \
        (array) = vt_state_items(s, array, count_, sizeof *(array));                               \
        if ((s)->loading)                                                                          \
            (count) = (room) = (array) ? count_ : 0;                                               \
    } while (0)

/* The same with a known count: loaded before, or another table's. */
#define VT_STATE_ITEMS(s, array, count) ((array) = vt_state_items(s, array, count, sizeof *(array)))

/* An array whose items the caller visits; each must save at least half of its size. When loading, items start as
 * zeroes. */
#define VT_STATE_ROWS(s, array, count, room)                                                       \
    do {                                                                                           \
        uint64_t count_ = vt_state_count(s, count, sizeof *(array) / 2, sizeof(count));            \
        if ((s)->loading) {                                                                        \
            (array) = count_ ? vt_alloc(count_, sizeof *(array)) : NULL;                           \
            (count) = (room) = count_;                                                             \
        }                                                                                          \
    } while (0)

/* For the macros above: a count that fits into `width` bytes; each item takes at least `size` bytes. */
uint64_t vt_state_count(struct vt_state *s, uint64_t count, size_t size, size_t width);
void *vt_state_items(struct vt_state *s, void *items, uint64_t count, size_t size);

/* A bool must be 0 or 1. VT_STATE_BOOLS checks bools that were loaded as part of an array or a struct. */
void vt_state_bool(struct vt_state *s, bool *field);
#define VT_STATE_BOOLS(s, array, count, field)                                                     \
    vt_state_bools(s, (count) ? &(array)->field : NULL, count, sizeof *(array))
void vt_state_bools(struct vt_state *s, bool *first, size_t count, size_t stride);

/* An allocated text, or NULL. */
void vt_state_text(struct vt_state *s, char **text);

/* A map whose values are below `limit`. Loading changes the order of its keys. */
void vt_state_map(struct vt_state *s, struct vt_map *map, uint64_t limit);

/* An index into a table of `limit` items, or `none`. vt_state_within only checks an index that was loaded as part of
 * something else; it returns true while saving. */
void vt_state_index(struct vt_state *s, uint32_t *index, uint64_t limit, uint32_t none);
bool vt_state_within(struct vt_state *s, uint64_t index, uint64_t limit, const char *of_what);

/* Refuses the loaded state if `so` is false. */
void vt_state_expect(struct vt_state *s, bool so, const char *what);

#endif
