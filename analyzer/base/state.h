/* SPDX-License-Identifier: MIT */
/*
 * What a part of the analyzer knows, as bytes: saved by one process, loaded by another of the same build. A
 * struct has one visitor, which says what is in it; the same code saves, loads and checks it:
 *
 *     void vt_thing_state(struct vt_thing *thing, struct vt_state *s) {
 *         VT_STATE_SECTION(s, "thing", *thing);
 *         VT_STATE(s, thing->ticks);
 *         VT_STATE_ARRAY(s, thing->rows, thing->count, thing->room);
 *         for (uint32_t i = 0; i < thing->count; i++)
 *             vt_state_index(s, &thing->rows[i].site, thing->site_count, VT_NO_SITE);
 *     }
 *
 * What is loaded may have been tampered with: figures may be wrong then, but nothing crashes or hangs. So counts
 * are held against the bytes that are left, indices against their tables. What is found first goes into `bad`; from
 * then on every call leaves zeroes, no items and NULL, so that visitors need no checks of their own, and what
 * was loaded can be freed. A visitor that goes by an index before the end has to look at `bad`.
 *
 * A file is compressed, to about a quarter; memory is not. Words are the machine's own. A struct is loaded into a zero-initialized one.
 */
#ifndef VRAMTRACE_ANALYZER_STATE_H
#define VRAMTRACE_ANALYZER_STATE_H

#include "util.h"

/* To be raised where the same bytes mean something else. */
#define VT_STATE_VERSION 4u

struct vt_state {
    bool loading;
    char *bad;              /* what is wrong with what is loaded, and where; NULL: nothing so far */
    FILE *file;             /* saving: where it goes; NULL: it stays in `saved` */
    uint64_t most, written; /* bytes that it may have, or the error is EFBIG; that it has */
    struct ZSTD_CCtx_s *zstd; /* of the file */
    uint8_t *saved;           /* what is not in the file yet */
    size_t length;            /* of it; loading: of all but the checksum */
    size_t room;
    const uint8_t *loaded;
    uint8_t *unpacked; /* the same where it was compressed */
    uint64_t at;       /* so many bytes were saved or loaded */
    uint32_t sum;
    int error; /* of the file: errno */
};

/* Starts saving. `file`: NULL to have the bytes in `saved`, of which there are `length` after vt_state_end; free it.
 * A file has no bound unless `most` is set then. */
void vt_state_save(struct vt_state *s, FILE *file);
/* Starts loading from memory, which must outlive it: all of a file, or what was saved to memory. */
void vt_state_load(struct vt_state *s, const void *bytes, size_t length);
/* Frees what it has; vt_state_end does so, too. */
void vt_state_drop(struct vt_state *s);
/* Ends it. Returns 0, or -errno with a message that names `path`; -EINVAL: it is not as it should be. */
int vt_state_end(struct vt_state *s, const char *path, struct vt_string *message);

/* Sets `bad`, unless it is set; only while loading. */
void vt_state_refuse(struct vt_state *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A part begins: its name, up to 15 characters, and the size of its struct, by which another build refuses it. */
#define VT_STATE_SECTION(s, name, thing) vt_state_section(s, name, sizeof(thing))
void vt_state_section(struct vt_state *s, const char *name, size_t size);

/* A field, or a whole struct, without pointers. */
#define VT_STATE(s, field) vt_state_bytes(s, &(field), sizeof(field))
void vt_state_bytes(struct vt_state *s, void *bytes, size_t size);

/* A struct without the pointers that are its member `pointer`, or its members from that one to `last`: they
 * are NULL when it was loaded. */
#define VT_STATE_BUT(s, thing, pointer) VT_STATE_BUT_TO(s, thing, pointer, pointer)
#define VT_STATE_BUT_TO(s, thing, pointer, last)                                                   \
    vt_state_but(s, &(thing), sizeof(thing),                                                       \
                 (size_t)((char *)&(thing).pointer - (char *)&(thing)),                            \
                 (size_t)((char *)(&(thing).last + 1) - (char *)&(thing).pointer))
void vt_state_but(struct vt_state *s, void *thing, size_t size, size_t at, size_t pointers);

/* An allocated array of structs without pointers, and how many there are. NULL where there are none. */
#define VT_STATE_ARRAY(s, array, count, room)                                                      \
    do {                                                                                           \
        uint64_t count_ = vt_state_count(s, count, sizeof *(array), sizeof(count));                \
        (array) = vt_state_items(s, array, count_, sizeof *(array));                               \
        if ((s)->loading)                                                                          \
            (count) = (room) = (array) ? count_ : 0;                                               \
    } while (0)

/* The same where the count is known: it was loaded before, or is that of another table. */
#define VT_STATE_ITEMS(s, array, count) ((array) = vt_state_items(s, array, count, sizeof *(array)))

/* An array whose items the caller visits, each of which saves at least half of its size: loaded, they are
 * zeroes. */
#define VT_STATE_ROWS(s, array, count, room)                                                       \
    do {                                                                                           \
        uint64_t count_ = vt_state_count(s, count, sizeof *(array) / 2, sizeof(count));            \
        if ((s)->loading) {                                                                        \
            (array) = count_ ? vt_alloc(count_, sizeof *(array)) : NULL;                           \
            (count) = (room) = count_;                                                             \
        }                                                                                          \
    } while (0)

/* For the macros above. A count whose items take at least `size` bytes each, and which fits into `width` bytes. */
uint64_t vt_state_count(struct vt_state *s, uint64_t count, size_t size, size_t width);
void *vt_state_items(struct vt_state *s, void *items, uint64_t count, size_t size);

/* A truth value: anything but 0 and 1 is none. The same of those that were loaded within an array, or within a single
 * struct. */
void vt_state_bool(struct vt_state *s, bool *field);
#define VT_STATE_BOOLS(s, array, count, field)                                                     \
    vt_state_bools(s, (count) ? &(array)->field : NULL, count, sizeof *(array))
void vt_state_bools(struct vt_state *s, bool *first, size_t count, size_t stride);

/* An allocated text, or NULL. */
void vt_state_text(struct vt_state *s, char **text);

/* A map whose values are below `limit`. Its keys have another order when it was loaded. */
void vt_state_map(struct vt_state *s, struct vt_map *map, uint64_t limit);

/* An index into a table of `limit` items, or `none`. The same as a check alone, of what was loaded within
 * something else; true while saving. */
void vt_state_index(struct vt_state *s, uint32_t *index, uint64_t limit, uint32_t none);
bool vt_state_within(struct vt_state *s, uint64_t index, uint64_t limit, const char *of_what);

/* Refuses what was loaded unless this is so. */
void vt_state_expect(struct vt_state *s, bool so, const char *what);

#endif
