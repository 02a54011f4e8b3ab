/* SPDX-License-Identifier: MIT */
/*
 * Rows of descriptors: what programs can read of an object, a row for each key with its type and its meaning.
 * The JSON of all commands, the columns of CSV, doc/schema and vramtrace-json(5) come from the same row
 * (report_keys.c has the tables of several outputs).
 *
 * A table ends with VT_KEYS_END. The macros below make its rows; OF is the struct that they describe:
 *
 *     #define OF struct vt_phase
 *     VT_NUMBER_KEY("start_ns", start, "ns", "when it began"),
 *
 * `kind` is the key's type: a name among the schema's definitions, or a schema where that has none. NULL: the
 * schema has this key by hand, or the words of an enum.
 */
#ifndef VRAMTRACE_ANALYZER_KEYS_H
#define VRAMTRACE_ANALYZER_KEYS_H

#include "formats.h"
#include "stack_table.h"

#include <stddef.h>

enum vt_key_type {
    VT_KEY_END,
    VT_KEY_TEXT,      /* NULL: null */
    VT_KEY_CHARS,     /* an array of char */
    VT_KEY_TEXTS,     /* an array of texts */
    VT_KEY_NUMBER,    /* unsigned, of any size; VT_UNKNOWN: null */
    VT_KEY_POSITIVE,  /* the same; 0: null */
    VT_KEY_RANK,      /* an int; negative: null */
    VT_KEY_TIME,      /* ns since 1970, as a date; 0: null */
    VT_KEY_RATIO,     /* a double; negative: null */
    VT_KEY_FLAG,      /* a bool */
    VT_KEY_WORD,      /* an enum of any size; past the last word: the last */
    VT_KEY_DEVICE,    /* an ordinal; null: no device's, or unknown */
    VT_KEY_SITE,      /* an index into the process's sites, as its id; VT_NO_SITE: null */
    VT_KEY_OBJECT,    /* a struct inside, with rows of its own */
    VT_KEY_MAYBE,     /* the same; null where another member is 0 */
    VT_KEY_POINTER,   /* a struct with rows of its own; NULL: null */
    VT_KEY_LIST,      /* an array of such structs */
    VT_KEY_INLINE,    /* the rows of another table, for the same struct, */
    VT_KEY_THROUGH,   /* or for the struct that it points to */
    VT_KEY_STACK,     /* a struct vt_stack *: whole, */
    VT_KEY_STACK_ID,  /* by its number among the process's stacks, */
    VT_KEY_STACK_CUT, /* and whether its outer frames are missing; */
    VT_KEY_OWN_FRAME, /* its main frame */
    VT_KEY_MADE,      /* a function writes it */
    VT_KEY_MADE_LIST, /* a list of structs with rows of their own */
};

/* The part of a process that the HTML page has: stacks only by number, and these bounds. */
struct vt_excerpt {
    const uint32_t *sites; /* of each site of the process: its place in the list, or VT_NO_SITE */
    const struct vt_phase *const *phases;
    uint32_t phase_count;
    uint32_t owners[2]; /* of a snapshot; [1]: of one taken as memory grew */
    uint32_t items;     /* of any other list */
};

/* Where rows are written. */
struct vt_key_writer {
    struct vt_json *json;
    const struct vt_process *process;
    const struct vt_format_options *options;
    const struct vt_excerpt *excerpt; /* NULL: the whole process */
    struct vt_stack_table stacks;
    bool brief;  /* an item far down a list: without its stack and its sentence */
    bool stable; /* frames without offsets, which differ from build to build */
    /* a frame's file as the output names it, which is freed; NULL: as the frame has it */
    char *(*file_of)(const struct vt_process *process, const struct vt_frame *frame,
                     const char *source_root);
    const char *source_root;
};

struct vt_key {
    const char *key, *kind, *meaning;
    uint8_t type; /* enum vt_key_type */
    uint16_t offset, size, count_offset;
    uint16_t item_size, word_count;
    const char *const *words;
    const struct vt_key *keys;
    void (*make)(struct vt_key_writer *w, const char *key, const void *of);
};

#define VT_KEYS_END                                                                                \
    { .key = NULL }
#define VT_KEY_MEMBER(m) .offset = offsetof(OF, m), .size = sizeof(((OF *)0)->m)
#define VT_KEY_OF(row_type, k, member, row_kind, text)                                             \
    .key = (k), .kind = (row_kind), .meaning = (text), .type = (row_type), VT_KEY_MEMBER(member)

#define VT_TEXT_KEY(key, member, kind, meaning)                                                    \
    { VT_KEY_OF(VT_KEY_TEXT, key, member, kind, meaning) }
#define VT_CHARS_KEY(key, member, kind, meaning)                                                   \
    { VT_KEY_OF(VT_KEY_CHARS, key, member, kind, meaning) }
#define VT_TEXTS_KEY(key, member, count_member, kind, meaning)                                     \
    {                                                                                              \
        VT_KEY_OF(VT_KEY_TEXTS, key, member, VT_LIST_OF(kind), meaning),                           \
            .count_offset = offsetof(OF, count_member)                                             \
    }
#define VT_NUMBER_KEY(key, member, kind, meaning)                                                  \
    { VT_KEY_OF(VT_KEY_NUMBER, key, member, kind, meaning) }
#define VT_POSITIVE_KEY(key, member, meaning)                                                      \
    { VT_KEY_OF(VT_KEY_POSITIVE, key, member, "count_or_null", meaning) }
#define VT_RANK_KEY(key, member, meaning)                                                          \
    { VT_KEY_OF(VT_KEY_RANK, key, member, "integer_or_null", meaning) }
#define VT_TIME_KEY(key, member, meaning)                                                          \
    { VT_KEY_OF(VT_KEY_TIME, key, member, "time_or_null", meaning) }
#define VT_RATIO_KEY(key, member, meaning)                                                         \
    { VT_KEY_OF(VT_KEY_RATIO, key, member, "number_or_null", meaning) }
#define VT_FLAG_KEY(key, member, meaning)                                                          \
    { VT_KEY_OF(VT_KEY_FLAG, key, member, "flag", meaning) }
#define VT_WORD_KEY(key, member, names, names_count, kind, meaning)                                \
    {                                                                                              \
        VT_KEY_OF(VT_KEY_WORD, key, member, kind, meaning), .words = (names),                      \
                                                            .word_count = (names_count)            \
    }
#define VT_DEVICE_KEY(key, member, meaning)                                                        \
    { VT_KEY_OF(VT_KEY_DEVICE, key, member, "count_or_null", meaning) }
#define VT_SITE_KEY(key, member, meaning)                                                          \
    { VT_KEY_OF(VT_KEY_SITE, key, member, "text_or_null", meaning) }
#define VT_OBJECT_KEY(key, member, table, meaning)                                                 \
    { VT_KEY_OF(VT_KEY_OBJECT, key, member, NULL, meaning), .keys = (table) }
#define VT_MAYBE_KEY(key_, member, there, table, meaning_)                                         \
    {                                                                                              \
        .key = (key_), .meaning = (meaning_), .type = VT_KEY_MAYBE, .keys = (table),               \
        .offset = offsetof(OF, member), .size = sizeof(((OF *)0)->there),                          \
        .count_offset = offsetof(OF, there)                                                        \
    }
#define VT_POINTER_KEY(key, member, table, meaning)                                                \
    { VT_KEY_OF(VT_KEY_POINTER, key, member, NULL, meaning), .keys = (table) }
#define VT_LIST_KEY(key, member, count_member, table, meaning)                                     \
    {                                                                                              \
        VT_KEY_OF(VT_KEY_LIST, key, member, NULL, meaning),                                        \
            .keys = (table), .count_offset = offsetof(OF, count_member),                           \
            .item_size = sizeof(*((OF *)0)->member)                                                \
    }
#define VT_INLINE_KEY(table)                                                                       \
    { .key = "", .type = VT_KEY_INLINE, .keys = (table) }
#define VT_THROUGH_KEY(member, table)                                                              \
    { VT_KEY_OF(VT_KEY_THROUGH, "", member, NULL, NULL), .keys = (table) }
#define VT_MADE_KEY(key_, function, kind_, meaning_)                                               \
    {                                                                                              \
        .key = (key_), .kind = (kind_), .meaning = (meaning_), .type = VT_KEY_MADE,                \
        .make = (function)                                                                         \
    }
/* A list that a function writes, of structs that `table` describes. */
#define VT_MADE_LIST_KEY(key_, function, table, meaning_)                                          \
    {                                                                                              \
        .key = (key_), .type = VT_KEY_MADE_LIST, .make = (function), .keys = (table),              \
        .meaning = (meaning_)                                                                      \
    }
/* An object, or null. */
#define VT_MADE_OBJECT_KEY(key_, function, table, meaning_)                                        \
    {                                                                                              \
        .key = (key_), .type = VT_KEY_MADE, .make = (function), .keys = (table),                   \
        .meaning = (meaning_)                                                                      \
    }
#define VT_STACK_KEY(member)                                                                       \
    {VT_KEY_OF(VT_KEY_STACK, "stack", member, "stack_or_null",                                     \
               "the call stack, innermost first; null after the first 1,024 of the list: "         \
               "stack_id has it")},                                                                \
        {VT_KEY_OF(VT_KEY_STACK_ID, "stack_id", member, "count_or_null",                           \
                   "the stack's number in the process's stacks; null: unknown")},                  \
    {                                                                                              \
        VT_KEY_OF(VT_KEY_STACK_CUT, "stack_cut", member, "flag", "its outer frames are missing")   \
    }
#define VT_OWN_FRAME_KEY(member)                                                                   \
    {                                                                                              \
        VT_KEY_OF(VT_KEY_OWN_FRAME, "own_frame", member, "frame_or_null",                          \
                  "the innermost frame of the user's own code; without any, the frame that says "  \
                  "most, with `own` false; null: no stack")                                        \
    }
/* The kind of a list of texts or numbers. */
#define VT_LIST_OF(kind) "{\"type\": \"array\", \"items\": {\"$ref\": \"#/definitions/" kind "\"}}"
/* A row of model/figures.def. */
#define VT_FIGURE_KEY(member, unit, merge, null, meaning)                                          \
    {VT_KEY_OF(VT_KEY_NUMBER, #member, member, VT_KIND_##unit##_##null, meaning)},
#define VT_KIND_BYTES_ALWAYS "bytes"
#define VT_KIND_BYTES_MAYBE  "bytes_or_null"
#define VT_KIND_COUNT_ALWAYS "count"
#define VT_KIND_COUNT_MAYBE  "count_or_null"
#define VT_KIND_TOTAL_ALWAYS "total"
#define VT_KIND_NS_ALWAYS    "ns"
#define VT_KIND_NS_MAYBE     "ns_or_null"

/* So many of a list have their stacks and sentences whole, an item a line from there on: 131,072 sites made 1.6 GB
 * of JSON, and make 0.1. */
#define VT_KEYS_WHOLE 1024u

/* Into an open object: the keys of a table. */
void vt_keys_write(struct vt_key_writer *w, const struct vt_key *keys, const void *of);
/* An object; of NULL: null. `item`: in a list, its place there, else 0. */
void vt_keys_object(struct vt_key_writer *w, const char *key, const struct vt_key *keys,
                    const void *of, uint64_t item);
/* Writes the first items of a list, as many as the excerpt allows. */
void vt_keys_list(struct vt_key_writer *w, const char *key, const struct vt_key *keys,
                  const void *items, uint64_t count, size_t size);
static inline uint64_t vt_keys_count(const struct vt_key_writer *w, uint64_t count) {
    return w->excerpt && count > w->excerpt->items ? w->excerpt->items : count;
}

/* A site's id; NULL: unknown, or not in the excerpt. */
static inline const char *vt_keys_site(const struct vt_key_writer *w, uint32_t site) {
    bool there = site != VT_NO_SITE && (!w->excerpt || w->excerpt->sites[site] != VT_NO_SITE);
    return there ? w->process->sites[site].name : NULL;
}

/* NULL: null. */
void vt_keys_frame(struct vt_key_writer *w, const char *key, const struct vt_frame *frame);

/* "stacks" and "frames" of a process, after all its other keys: those that these named. vt_keys_free frees them. */
extern const struct vt_key vt_stack_table_keys[];
void vt_keys_free(struct vt_key_writer *w);

static inline bool vt_key_is_text(const struct vt_key *key) {
    return key->type == VT_KEY_TEXT || key->type == VT_KEY_CHARS || key->type == VT_KEY_WORD;
}
static inline bool vt_key_is_number(const struct vt_key *key) {
    return key->type == VT_KEY_NUMBER || key->type == VT_KEY_DEVICE;
}

/* Of such a key: the text, which may be NULL; or `number`, which may be VT_UNKNOWN. */
const char *vt_key_value(const struct vt_key *key, const void *of, uint64_t *number);

/* report_keys.c */
extern const struct vt_key vt_device_keys[], vt_device_more_keys[], vt_leak_keys[], vt_site_keys[],
    vt_oom_keys[], vt_oom_more_keys[], vt_phase_keys[], vt_phase_more_keys[], vt_phase_sum_keys[],
    vt_object_keys[], vt_failed_keys[], vt_module_keys[], vt_bound_keys[], vt_apart_keys[],
    vt_tested_keys[];
/* report_keys_owners.c; vt_keys_used_for: of a device */
extern const struct vt_key vt_snapshot_keys[], vt_missed_keys[], vt_owned_keys[],
    vt_used_for_keys[];
void vt_keys_used_for(struct vt_key_writer *w, const char *key, const void *of);
/* report_keys_process.c */
extern const struct vt_key vt_process_keys[];

#endif
