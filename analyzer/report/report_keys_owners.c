/* SPDX-License-Identifier: MIT */
/*
 * What programs can read of snapshots and of owners of memory (see keys.h).
 */
#include "keys.h"

/* --- owners --- */

/* clang-format off */
#define OF struct vt_root
static const struct vt_key root_keys[] = {
    VT_WORD_KEY("kind", kind, vt_root_names, VT_ROOTS, NULL, "what kind of variable it is"),
    VT_TEXT_KEY("module", module, "text_or_null", "Python's __name__ of the module; of native code the library or program"),
    VT_TEXT_KEY("function", function, "text_or_null", "the frame's function"),
    VT_TEXT_KEY("file", file, "text_or_null", "the source file"),
    VT_POSITIVE_KEY("line", line, "the source line"),
    VT_TEXT_KEY("what", what, "text_or_null", "the class of the exception or of an object in the cycle, or the interpreter's part"),
    VT_KEYS_END,
};
#undef OF

#define OF struct vt_memory_owner
static const struct vt_key name_keys[] = {
    VT_CHARS_KEY("owner", key, "text", "the owner's id"),
    VT_TEXT_KEY("name", name, "text_or_null", "the path to the memory"),
    VT_FLAG_KEY("may_be_unused", may_be_unused, "slots of an array have it, which may no longer be in use"),
    VT_KEYS_END,
};
static const struct vt_key path_keys[] = {
    VT_OBJECT_KEY("root", root, root_keys, "the variable at which the path begins"),
    VT_TEXTS_KEY("path", path, path_count, "text", "the steps of the path"),
    VT_TEXTS_KEY("types", types, path_count, "text_or_null", "the types of the objects on the path; null: unknown"),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

static void make_seen_at(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_owned_by *by = of;
    vt_json_number(w->json, key, by->seen ? by->seen->at : VT_UNKNOWN);
}

static void make_seen(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_owned_by *by = of;
    vt_keys_object(w, key, path_keys, by->seen ? by->owner : NULL, 0);
}

/* clang-format off */
#define OF struct vt_owned_by
const struct vt_key vt_owned_keys[] = {
    VT_THROUGH_KEY(owner, name_keys),
    VT_NUMBER_KEY("bytes", bytes, "bytes", "held by it"),
    VT_NUMBER_KEY("count", count, "count", "blocks held by it"),
    VT_MADE_KEY("seen_at_ns", make_seen_at, "ns_or_null", "the earlier snapshot that saw it; null: the one at the end"),
    VT_MADE_OBJECT_KEY("seen", make_seen, path_keys, "the path in that snapshot, which is perhaps not listed; null: the one at the end"),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

static void make_by(struct vt_key_writer *w, const char *key, const void *of) {
    enum vt_root_kind kind = ((const struct vt_memory_owner *)of)->root.kind;
    /* a word of C or C++ may be one that was given up */
    bool pointer =
        kind == VT_ROOT_GLOBAL || kind == VT_ROOT_THREAD_LOCAL || kind == VT_ROOT_NATIVE_STACK;
    vt_json_string(w->json, key, pointer ? "pointer" : "reference");
}

static void make_place(struct vt_key_writer *w, const char *key, const void *of) {
    VT_SCOPED char *place = vt_owner_place(w->process, of);
    vt_json_string(w->json, key, place);
}

static void write_sites(struct vt_key_writer *w, const char *key, const struct vt_owned_site *sites,
                        uint32_t count) {
    for (uint64_t i = 0; vt_json_items(w->json, key, i, vt_keys_count(w, count)); i++)
        if (vt_keys_site(w, sites[i].site))
            vt_json_string(w->json, NULL, vt_keys_site(w, sites[i].site));
}

static void make_sites(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_memory_owner *o = of;
    write_sites(w, key, o->sites, o->site_count);
}

static void make_others(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_memory_owner *o = of;
    write_sites(w, key, o->others, o->other_count);
}

static void write_of_sites(struct vt_key_writer *w, const char *key,
                           const struct vt_memory_owner *o, bool bytes) {
    for (uint64_t i = 0; vt_json_items(w->json, key, i, vt_keys_count(w, o->site_count)); i++)
        if (vt_keys_site(w, o->sites[i].site))
            vt_json_number(w->json, NULL, bytes ? o->sites[i].bytes : o->sites[i].count);
}

static void make_site_bytes(struct vt_key_writer *w, const char *key, const void *of) {
    write_of_sites(w, key, of, true);
}

static void make_site_counts(struct vt_key_writer *w, const char *key, const void *of) {
    write_of_sites(w, key, of, false);
}

/* clang-format off */
#define OF struct vt_memory_owner
static const struct vt_key owner_keys[] = {
    VT_INLINE_KEY(name_keys),
    VT_MADE_KEY("place", make_place, "text_or_null", "where that variable is, in words"),
    VT_INLINE_KEY(path_keys),
    VT_MADE_KEY("by", make_by, "text", "\"reference\" where the interpreter counts each step, \"pointer\" where types are not known"),
    VT_TEXT_KEY("graph", graph, "text_or_null", "the class of the first node of the autograd graphs that hold it"),
    VT_POSITIVE_KEY("graphs", graphs, "how many graphs"),
    VT_POSITIVE_KEY("graph_chain", graph_chain, "nodes of one chain"),
    VT_WORD_KEY("role", purpose, vt_purpose_names, VT_PURPOSES, NULL, "what the memory is for"),
    VT_NUMBER_KEY("bytes", bytes, "bytes", "held by it"),
    VT_NUMBER_KEY("count", count, "count", "blocks held by it"),
    VT_NUMBER_KEY("host_bytes", host_bytes, "bytes", "pinned host and managed memory that it also holds"),
    VT_NUMBER_KEY("host_count", host_count, "count", "blocks of that"),
    VT_MADE_KEY("sites", make_sites, VT_LIST_OF("text"), "ids of the call sites whose blocks it holds, the largest first"),
    VT_MADE_KEY("site_bytes", make_site_bytes, VT_LIST_OF("bytes"), "what it holds of each of them"),
    VT_MADE_KEY("site_counts", make_site_counts, VT_LIST_OF("count"), "blocks of that"),
    VT_MADE_KEY("holds_too", make_others, VT_LIST_OF("text"), "ids of call sites whose blocks others hold first"),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

/* --- what memory was for --- */

struct purposes {
    unsigned device;
    uint64_t at, bytes[VT_PURPOSES];
};

/* clang-format off */
#define OF struct purposes
static const struct vt_key purpose_keys[] = {
    VT_NUMBER_KEY("parameters", bytes[VT_PURPOSE_PARAMETERS], "bytes", "of modules"),
    VT_NUMBER_KEY("gradients", bytes[VT_PURPOSE_GRADIENTS], "bytes", "of parameters"),
    VT_NUMBER_KEY("optimizer", bytes[VT_PURPOSE_OPTIMIZER], "bytes", "an optimizer's state"),
    VT_NUMBER_KEY("activations", bytes[VT_PURPOSE_ACTIVATIONS], "bytes", "kept for the backward pass"),
    VT_NUMBER_KEY("buffers", bytes[VT_PURPOSE_BUFFERS], "bytes", "of modules"),
    VT_NUMBER_KEY("batch", bytes[VT_PURPOSE_BATCH], "bytes", "what a data loader gave"),
    VT_NUMBER_KEY("other", bytes[VT_PURPOSE_OTHER], "bytes", "everything else"),
    VT_KEYS_END,
};
const struct vt_key vt_used_for_keys[] = {
    VT_NUMBER_KEY("at_ns", at, "ns_or_null", "when the snapshot was taken"),
    VT_INLINE_KEY(purpose_keys),
    VT_KEYS_END,
};
static const struct vt_key used_on_device_keys[] = {
    VT_DEVICE_KEY("device", device, "the GPU's ordinal; null: unknown"),
    VT_INLINE_KEY(purpose_keys),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

void vt_keys_used_for(struct vt_key_writer *w, const char *key, const void *of) {
    struct purposes used;
    const struct vt_snapshot *s = vt_device_purposes(w->process, of, used.bytes);
    used.at = s ? s->at : VT_UNKNOWN;
    vt_keys_object(w, key, vt_used_for_keys, s ? &used : NULL, 0);
}

/* --- snapshots --- */

static void make_used_for(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_snapshot *s = of;
    const struct vt_process *p = w->process;
    for (uint32_t d = 0; vt_json_items(w->json, key, d, p->device_count); d++) {
        struct purposes used = {.device = p->devices[d].ordinal};
        uint64_t all = 0, count;
        for (uint32_t i = 0; i < s->owner_count; i++) {
            uint64_t bytes = vt_owner_bytes_on(p, &s->owners[i], used.device, &count);
            used.bytes[s->owners[i].purpose] += bytes;
            all += bytes;
        }
        if (all)
            vt_keys_object(w, NULL, used_on_device_keys, &used, 0);
    }
}

static void make_moment(struct vt_key_writer *w, const char *key, const void *of) {
    VT_SCOPED char *moment = vt_snapshot_moment(of);
    vt_json_string(w->json, key, moment);
}

static uint32_t listed_owners(const struct vt_key_writer *w, const struct vt_snapshot *s) {
    uint32_t most = w->excerpt ? w->excerpt->owners[s->passing] : s->owner_count;
    return most < s->owner_count ? most : s->owner_count;
}

static void make_owners(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_snapshot *s = of;
    for (uint32_t i = 0; vt_json_items(w->json, key, i, listed_owners(w, s)); i++)
        vt_keys_object(w, NULL, owner_keys, &s->owners[i], 0);
}

static void make_left_out(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_snapshot *s = of;
    uint64_t bytes = 0;
    for (uint32_t i = listed_owners(w, s); i < s->owner_count; i++)
        bytes += s->owners[i].bytes;
    vt_json_number(w->json, key, bytes);
}

/* clang-format off */
#define OF struct vt_snapshot
const struct vt_key vt_snapshot_keys[] = {
    VT_NUMBER_KEY("at_ns", at, "ns_or_null", "when, since the process's first record"),
    VT_WORD_KEY("why", why, vt_snapshot_why_names, VT_SNAPSHOT_WHYS, "text_or_null", "why it was taken: end, oom, request, phase, growth"),
    VT_TEXT_KEY("phase", phase, "text_or_null", "the phase, or the name that the program gave; null: none"),
    VT_MADE_KEY("moment", make_moment, "text_or_null", "when, in words"),
    VT_FLAG_KEY("complete", complete, "no bound of the search was reached"),
    VT_NUMBER_KEY("duration_ns", duration, "ns_or_null", "how long the search took"),
    VT_MADE_LIST_KEY("owners", make_owners, owner_keys, "owners of live memory, the largest first"),
    VT_MADE_KEY("owners_left_out_bytes", make_left_out, "bytes", "held by further owners, which only the HTML page leaves out"),
    VT_NUMBER_KEY("unowned_bytes", unowned_bytes, "bytes_or_null", "memory without an owner"),
    VT_NUMBER_KEY("unowned_count", unowned_count, "count", "blocks without an owner"),
    VT_NUMBER_KEY("runtime_bytes", runtime_bytes, "bytes", "the part of unowned_bytes that CUDA's libraries keep"),
    VT_MADE_LIST_KEY("used_for", make_used_for, used_on_device_keys, "what each device's memory was for"),
    VT_KEYS_END,
};
#undef OF

#define OF struct vt_missed_snapshots
const struct vt_key vt_missed_keys[] = {
    VT_WORD_KEY("why", why, vt_snapshot_why_names, VT_SNAPSHOT_WHYS, "text_or_null", "why it was due"),
    VT_WORD_KEY("reason", reason, vt_missed_names, VT_MISSED_REASONS, "text", "no-room, left, refused, unseen or namespace"),
    VT_NUMBER_KEY("count", count, "count", "how many"),
    VT_NUMBER_KEY("needed_bytes", needed_bytes, "bytes_or_null", "what the last one needed"),
    VT_NUMBER_KEY("room_bytes", room_bytes, "bytes_or_null", "what it had"),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */
