/* SPDX-License-Identifier: MIT */
/*
 * What programs can read of a device, a call site, a leak, a failed allocation, a phase and their like (see
 * keys.h). A key is added here, and nowhere else: `make schema` writes it into doc/schema.
 */
#include "json_parts.h"
#include "keys.h"

#include "vramtrace/log_format.h"

/* --- parts of several --- */

/* clang-format off */
#define OF struct vt_bound
const struct vt_key vt_bound_keys[] = {
    VT_NUMBER_KEY("entries", entries, "count", "that it has, when it was last looked at"),
    VT_NUMBER_KEY("capacity", capacity, "count", "the most entries that it takes"),
    VT_NUMBER_KEY("full_bytes", full_bytes, "bytes", "what it would hold of this memory when full: an estimate by its largest block"),
    VT_KEYS_END,
};
#undef OF

#define OF struct vt_apart
const struct vt_key vt_apart_keys[] = {
    VT_LAYER_FIGURES(VT_FIGURE_KEY)
    VT_KEYS_END,
};
#undef OF

#define OF struct vt_pin
static const struct vt_key pin_keys[] = {
    VT_SITE_KEY("site", site, "the call site's id; null: unknown"),
    VT_NUMBER_KEY("blocks", blocks, "count", "its live blocks there"),
    VT_NUMBER_KEY("block_bytes", block_bytes, "bytes", "their size together"),
    VT_NUMBER_KEY("segments", segments, "count", "the segments that they keep"),
    VT_NUMBER_KEY("pinned_bytes", pinned_bytes, "bytes", "idle in those segments"),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

/* --- devices --- */

/* clang-format off */
#define OF struct vt_device
const struct vt_key vt_device_keys[] = {
    /* also in `watch` */
    VT_DEVICE_KEY("device", ordinal, "the ordinal that CUDA gives it in this process; null: its context was not seen"),
    VT_TEXT_KEY("uuid", uuid, "text_or_null", "GPU-xxxxxxxx-...; null: the program never asked for it"),
    VT_TEXT_KEY("name", name, "text_or_null", "the device's name"),
    VT_LAYER_FIGURES(VT_FIGURE_KEY)
    VT_DEVICE_FIGURES(VT_FIGURE_KEY)
    VT_KEYS_END,
};
#undef OF

#define OF struct vt_untracked
static const struct vt_key untracked_keys[] = {
    VT_NUMBER_KEY("samples", samples, "count", "how often NVML was asked"),
    VT_NUMBER_KEY("first_bytes", first_bytes, "bytes_or_null", "at the first sample"),
    VT_NUMBER_KEY("last_bytes", last_bytes, "bytes_or_null", "at the last sample"),
    VT_NUMBER_KEY("max_bytes", max_bytes, "bytes_or_null", "the most"),
    VT_NUMBER_KEY("max_at_ns", max_at, "ns_or_null", "when that was"),
    VT_KEYS_END,
};
#undef OF

#define OF struct vt_blocks
static const struct vt_key counter_keys[] = {
    VT_NUMBER_KEY("allocated_bytes", reported_allocated, "bytes_or_null", "in blocks, by the framework's own counter"),
    VT_NUMBER_KEY("reserved_bytes", reported_reserved, "bytes_or_null", "in segments"),
    VT_NUMBER_KEY("peak_allocated_bytes", reported_peak_allocated, "bytes_or_null", "the most in blocks"),
    VT_NUMBER_KEY("mismatches", mismatch_count, "count", "how often these disagreed with the blocks in the log"),
    VT_KEYS_END,
};
static const struct vt_key framework_keys[] = {
    VT_TEXT_KEY("name", name, "text_or_null", "the framework"),
    VT_LAYER_FIGURES(VT_FIGURE_KEY)
    VT_NUMBER_KEY("bytes_at_device_peak", at_peak_bytes, "bytes_or_null", "in blocks at the device's peak"),
    VT_NUMBER_KEY("reserved_bytes", reserved_bytes, "bytes_or_null", "in segments"),
    VT_NUMBER_KEY("reserved_peak_bytes", reserved_peak_bytes, "bytes_or_null", "the most in segments"),
    {.key = "own_counters", .type = VT_KEY_OBJECT, .keys = counter_keys, .meaning = "the framework's own counters, as it last reported them"},
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

static void make_moment(struct vt_key_writer *w, const char *key, const struct vt_moment *m) {
    struct vt_json *j = w->json;
    uint64_t idle = m->reserved_bytes - m->in_use_bytes;
    if (!vt_json_object(j, key, m->at != VT_UNKNOWN))
        return;
    vt_json_number(j, "at_ns", m->at);
    vt_json_number(j, "reserved_bytes", m->reserved_bytes);
    vt_json_number(j, "in_use_bytes", m->in_use_bytes);
    vt_json_number(j, "free_bytes", idle);
    vt_json_number(j, "largest_free_bytes", m->largest_free_bytes);
    vt_json_number(j, "pinned_bytes", m->pinned_bytes);
    vt_json_ratio(j, "ratio", vt_fragmentation_ratio(idle, m->largest_free_bytes));
    vt_json_close(j, '}');
}

static void make_last(struct vt_key_writer *w, const char *key, const void *of) {
    make_moment(w, key, &((const struct vt_fragmentation *)of)->last);
}

static void make_worst(struct vt_key_writer *w, const char *key, const void *of) {
    make_moment(w, key, &((const struct vt_fragmentation *)of)->worst);
}

static void make_history(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_fragmentation *f = of;
    for (uint32_t i = 0; vt_json_items(w->json, key, i, f->moment_count); i++)
        make_moment(w, NULL, &f->moments[i]);
}

/* Segments with their pieces: [offset, bytes, site]; the site of an idle piece is null. The page draws maps of more
 * moments instead. */
static void make_segments(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_fragmentation *f = of;
    struct vt_json *j = w->json;
    for (uint32_t i = 0; vt_json_objects(j, key, i, w->excerpt ? 0 : f->segment_count); i++) {
        const struct vt_segment_map *s = &f->segments[i];
        vt_json_number(j, "address", s->address);
        vt_json_number(j, "bytes", s->bytes);
        vt_json_number(j, "in_use_bytes", s->in_use_bytes);
        vt_json_number(j, "largest_free_bytes", s->largest_free_bytes);
        vt_json_open_line(j, "pieces", '[');
        for (uint32_t k = 0; k < s->count; k++) {
            const struct vt_piece *piece = &f->pieces[s->first + k];
            vt_json_open(j, NULL, '[');
            vt_json_number(j, NULL, piece->offset);
            vt_json_number(j, NULL, piece->bytes);
            vt_json_string(j, NULL,
                           piece->idle                 ? NULL
                           : piece->site == VT_NO_SITE ? ""
                                                       : w->process->sites[piece->site].name);
            vt_json_close(j, ']');
        }
        vt_json_close(j, ']');
    }
}

static void make_segments_left_out(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_fragmentation *f = of;
    vt_json_number(w->json, key, f->segments_left_out + (w->excerpt ? f->segment_count : 0));
}

/* clang-format off */
#define OF struct vt_fragmentation
static const struct vt_key fragmentation_keys[] = {
    VT_NUMBER_KEY("reserved_bytes", reserved_bytes, "bytes_or_null", "in segments"),
    VT_NUMBER_KEY("in_use_bytes", in_use_bytes, "bytes_or_null", "in live blocks"),
    VT_NUMBER_KEY("free_bytes", free_bytes, "bytes_or_null", "reserved and not in use"),
    VT_NUMBER_KEY("largest_free_bytes", largest_free_bytes, "bytes_or_null", "the largest free piece"),
    VT_RATIO_KEY("ratio", ratio, "1 - largest_free / free; 0 where nothing is free"),
    VT_MADE_KEY("last_request", make_last, "moment_or_null", "when the process last asked for memory"),
    VT_MADE_KEY("worst", make_worst, "moment_or_null", "when most was pinned; null: never"),
    VT_MADE_KEY("history", make_history, VT_LIST_OF("moment_or_null"), "over the run, with equally many changes between the moments"),
    VT_LIST_KEY("pins", pins, pin_count, pin_keys, "call sites whose live blocks keep mostly idle segments from being released, the most pinned first"),
    VT_MADE_KEY("segments", make_segments, NULL, "the segments at the end, by address; their pieces tile them"),
    VT_MADE_KEY("segments_left_out", make_segments_left_out, "count", "segments that are not listed"),
    VT_NUMBER_KEY("granule_waste_estimate_bytes", granule_waste_bytes, "bytes_or_null", "lost by rounding up to the driver's pages of 2 MiB, outside of segments: an estimate"),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

/* At the end of each of equal parts of the time, but the peak in its part. */
static void make_levels(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_levels *l = &((const struct vt_device *)of)->levels;
    if (!vt_json_object(w->json, key, l->count))
        return;
    vt_json_number(w->json, "from_ns", l->from);
    vt_json_number(w->json, "to_ns", l->to);
    vt_json_open_line(w->json, "bytes", '[');
    for (uint32_t i = 0; i < l->count; i++)
        vt_json_number(w->json, NULL, l->bytes[i]);
    vt_json_close(w->json, ']');
    vt_json_close(w->json, '}');
}

/* clang-format off */
#define OF struct vt_device
const struct vt_key vt_device_more_keys[] = {
    VT_INLINE_KEY(vt_device_keys),
    VT_MADE_KEY("levels", make_levels, NULL, "driver memory over the run, in equal parts of the time; null: nothing was held"),
    VT_OBJECT_KEY("untracked", untracked, untracked_keys, "the course of untracked memory, by the samples of vramtrace run"),
    VT_OBJECT_KEY("fragmentation", fragmentation, fragmentation_keys, "memory that caching allocators reserved and did not use, at the end"),
    VT_MAYBE_KEY("framework", blocks, has_blocks, framework_keys, "blocks of caching allocators in this device's memory; null: none"),
    VT_MADE_OBJECT_KEY("used_for", vt_keys_used_for, vt_used_for_keys, "what memory was for, by the roles of one snapshot; null: unknown"),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

/* --- call sites and leaks --- */

static void make_growth_bytes(struct vt_key_writer *w, const char *key, const void *of) {
    vt_json_number(w->json, key, vt_growth_bytes(of));
}

/* clang-format off */
#define OF struct vt_growth
static const struct vt_key growth_keys[] = {
    VT_TEXT_KEY("per", per, "text_or_null", "what counts as an iteration: the name of a phase, or \"rhythm\""),
    VT_NUMBER_KEY("iterations", iterations, "count_or_null", "iterations of the run"),
    VT_MADE_KEY("bytes_per_iteration", make_growth_bytes, "bytes", "what it grew by in each iteration, on average since it began"),
    VT_NUMBER_KEY("since_iteration", since_iteration, "count_or_null", "the iteration in which it began to grow"),
    VT_NUMBER_KEY("since_ns", since, "ns", "when it began to grow"),
    VT_NUMBER_KEY("full_in_iterations", full_in_iterations, "count_or_null", "iterations until the device is full; 0: it was full"),
    VT_NUMBER_KEY("full_in_ns", full_in, "ns_or_null", "the same in time"),
    VT_TEXT_KEY("appends", operation, "text_or_null", "the operation that extends one buffer by reallocating it"),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

static void make_fingerprint(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_leak *l = of;
    (void)key;
    vt_json_part_fingerprint(w->json, vt_stack_key_of(&w->process->sites[l->sites[0]]));
}

static void make_null(struct vt_key_writer *w, const char *key, const void *of) {
    (void)of;
    vt_json_null(w->json, key);
}

static void make_sites(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_leak *l = of;
    vt_json_open_line(w->json, key, '[');
    for (uint32_t i = 0; i < vt_keys_count(w, l->site_count); i++)
        if (vt_keys_site(w, l->sites[i]))
            vt_json_string(w->json, NULL, vt_keys_site(w, l->sites[i]));
    vt_json_close(w->json, ']');
}

static void make_leak_bound(struct vt_key_writer *w, const char *key, const void *of) {
    struct vt_bound bound;
    vt_keys_object(w, key, vt_bound_keys, vt_leak_bound(w->process, of, &bound) ? &bound : NULL, 0);
}

static void make_grade(struct vt_key_writer *w, const char *key, const void *of) {
    vt_json_string(w->json, key,
                   ((const struct vt_leak *)of)->verdict == VT_VERDICT_SUSPECT ? "suspect"
                                                                               : "leak");
}

/* clang-format off */
#define OF struct vt_leak
const struct vt_key vt_leak_keys[] = {
    VT_WORD_KEY("verdict", verdict, vt_verdict_names, VT_VERDICTS, NULL, "the worst of its sites"),
    VT_MADE_KEY("grade", make_grade, "{\"enum\": [\"leak\", \"suspect\"]}", "suspect: it rose to the end, and it is open whether it would go on"),
    VT_TEXT_KEY("why", why, "text_or_null", "the evidence, in a sentence"),
    VT_MADE_KEY("fingerprint", make_fingerprint, "text", "the key of its largest call stack, which stays the same from build to build: vramtraceStack/v1 in SARIF"),
    VT_MADE_KEY("known", make_null, "{\"enum\": [\"new\", \"known\", \"larger\", null]}", "null: only the gate compares with a baseline or earlier runs"),
    VT_TEXT_KEY("advice", advice, "text_or_null", "what to try, in a sentence"),
    VT_SITE_FIGURES(VT_FIGURE_KEY)
    VT_OWN_FRAME_KEY(stack),
    VT_MADE_KEY("sites", make_sites, VT_LIST_OF("text"), "ids of its call sites, the largest first"),
    VT_POINTER_KEY("growth", growth, growth_keys, "how it grows; null: it does not"),
    VT_MADE_OBJECT_KEY("bound", make_leak_bound, vt_bound_keys, "of what keeps it: a cache, a queue or an array that takes only so many entries; null: none is known"),
    VT_LIST_KEY("owners", owned.owners, owned.count, vt_owned_keys, "its owners, the largest first"),
    VT_TEXT_KEY("kept_by", kept_by, "text_or_null", "its owners in words, the largest first; where many have a little each, how many; null: unknown"),
    VT_KEYS_END,
};
#undef OF

#define OF struct vt_tested
const struct vt_key vt_tested_keys[] = {
    VT_TEXT_KEY("fixture", fixture, "text_or_null", "that holds it, or most of it"),
    VT_TEXT_KEY("scope", scope, "text_or_null", "the fixture's"),
    VT_NUMBER_KEY("fixture_bytes", fixture_bytes, "bytes", "that it holds"),
    VT_NUMBER_KEY("fixture_count", fixture_count, "count", "blocks that it holds"),
    VT_NUMBER_KEY("models", models, "count", "calls of a model that keep memory"),
    VT_NUMBER_KEY("models_bytes", models_bytes, "bytes", "that they keep"),
    VT_NUMBER_KEY("models_count", models_count, "count", "blocks that they keep"),
    VT_TEXT_KEY("test", test, "text_or_null", "the test that left it"),
    VT_FLAG_KEY("fails", fails, "its test fails for it"),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

static void make_verdict(struct vt_key_writer *w, const char *key, const void *of) {
    vt_json_string(w->json, key, vt_verdict_names[((const struct vt_site *)of)->verdict]);
}

static void make_why(struct vt_key_writer *w, const char *key, const void *of) {
    vt_json_string(w->json, key, w->brief ? NULL : ((const struct vt_site *)of)->why);
}

static void make_reachable(struct vt_key_writer *w, const char *key, const void *of) {
    enum vt_reachable reachable = ((const struct vt_site *)of)->reachable;
    if (reachable == VT_REACHABLE_YES || reachable == VT_REACHABLE_NO)
        vt_json_boolean(w->json, key, reachable == VT_REACHABLE_YES);
    else
        vt_json_null(w->json, key);
}

static void make_node(struct vt_key_writer *w, const char *key, const void *of) {
    VT_SCOPED char *node = vt_stack_text_node(((const struct vt_site *)of)->stack);
    vt_json_string(w->json, key, node);
}

static void make_class(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_site *s = of;
    vt_json_string(w->json, key, s->layer == VT_LAYER_DRIVER ? vt_class_names[s->class] : NULL);
}

static void make_unjudged(struct vt_key_writer *w, const char *key, const void *of) {
    vt_json_boolean(w->json, key, vt_site_is_inconclusive(of));
}

static void make_at(struct vt_key_writer *w, const char *key, const void *of) {
    enum { COLUMNS = 120 };
    const struct vt_site *s = of;
    VT_SCOPED char *text = w->brief && !w->excerpt ? NULL
                           : s->before             ? vt_strdup("live when the window began")
                           : s->caller             ? vt_site_text(w->process, s, 2 * COLUMNS)
                                       : vt_stack_text(w->process, s->stack, COLUMNS, true);
    vt_json_string(w->json, key, text);
}

/* clang-format off */
#define OF struct vt_site
const struct vt_key vt_site_keys[] = {
    VT_CHARS_KEY("site", name, "text", "the call site's id"),
    VT_MADE_KEY("at", make_at, "text_or_null", "its line of code, in words; null after the first 1,024 sites"),
    {.key = "verdict", .type = VT_KEY_MADE, .make = make_verdict, .words = vt_verdict_names, .word_count = VT_VERDICTS, .meaning = "see vramtrace-report(1)"},
    VT_MADE_KEY("why", make_why, "text_or_null", "the evidence, in a sentence; null after the first 1,024 sites"),
    VT_POINTER_KEY("bound", bound, vt_bound_keys, "of what keeps it: a cache, a queue or an array that takes only so many entries; null: none is known"),
    VT_MADE_KEY("reachable", make_reachable, "flag_or_null", "whether a pointer to it was left at the end; null: not searched, or unknown: memory of another allocator than the C library's points to it"),
    VT_TEXT_KEY("api", api, "text_or_null", "the function that allocated, as in source code"),
    VT_FLAG_KEY("graph_memory", graph_memory, "launches of CUDA graphs allocated all of it"),
    VT_MADE_KEY("backward_of", make_node, "text_or_null", "the node of PyTorch's autograd graph that ran"),
    VT_WORD_KEY("layer", layer, vt_layer_names, VT_LAYERS, NULL, "driver: device memory; framework: blocks inside it; host: pinned; managed"),
    VT_DEVICE_KEY("device", device, "the GPU's ordinal; null: host memory, or unknown"),
    VT_SITE_FIGURES(VT_FIGURE_KEY)
    VT_NUMBER_KEY("first_at_ns", first_at, "ns_or_null", "its first allocation"),
    VT_NUMBER_KEY("last_at_ns", last_at, "ns_or_null", "its last allocation"),
    VT_MADE_KEY("class", make_class, "text_or_null", "of driver memory: whose it is; null: of another layer"),
    VT_TEXT_KEY("class_name", class_name, "text_or_null", "the library or framework"),
    VT_FLAG_KEY("before_window", before, "no call site: all that was live when the window began"),
    VT_FLAG_KEY("segments", segments, "framework blocks lie in its memory"),
    VT_MADE_KEY("unjudged", make_unjudged, "flag", "it may leak, but is not judged; why says the reason"),
    VT_POINTER_KEY("tested", tested, vt_tested_keys, "what the pytest plugin said of it; null: nothing"),
    VT_LIST_KEY("owners", owned.owners, owned.count, vt_owned_keys, "its owners, the largest first"),
    VT_STACK_KEY(stack),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

/* --- failed allocations --- */

static void make_holders(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_oom *o = of;
    for (uint32_t i = 0; vt_json_items(w->json, key, i, o->holder_count); i++)
        if (vt_keys_site(w, o->holders[i]))
            vt_json_string(w->json, NULL, vt_keys_site(w, o->holders[i]));
}

static void make_holder_bytes(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_oom *o = of;
    for (uint32_t i = 0; vt_json_items(w->json, key, i, o->holder_count); i++)
        if (vt_keys_site(w, o->holders[i]))
            vt_json_number(w->json, NULL, o->holder_bytes[i]);
}

static void make_is_host(struct vt_key_writer *w, const char *key, const void *of) {
    vt_json_boolean(w->json, key, ((const struct vt_oom *)of)->device == VT_DEVICE_HOST);
}

static void make_oom_pins(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_oom *o = of;
    vt_keys_list(w, key, pin_keys, o->pins, o->pin_count, sizeof *o->pins);
}

/* clang-format off */
#define OF struct vt_oom
const struct vt_key vt_oom_keys[] = {
    /* also in `watch` */
    VT_NUMBER_KEY("at_ns", at, "ns_or_null", "when, since the process's first record"),
    VT_DEVICE_KEY("device", device, "the GPU's ordinal; null: host memory, or unknown"),
    VT_WORD_KEY("outcome", outcome, vt_oom_outcome_names, VT_OOM_OUTCOMES, "text_or_null", "whether the program coped with it"),
    VT_NUMBER_KEY("requested_bytes", requested_bytes, "bytes_or_null", "the requested size"),
    VT_NUMBER_KEY("free_bytes", free_bytes, "bytes_or_null", "free on the device, as the driver said at the refusal"),
    VT_WORD_KEY("cause", cause, vt_oom_cause_names, VT_CAUSES, NULL, "why memory ran out"),
    VT_TEXT_KEY("why", why, "text_or_null", "the evidence, in a sentence"),
    VT_KEYS_END,
};
const struct vt_key vt_oom_more_keys[] = {
    VT_INLINE_KEY(vt_oom_keys),
    VT_MADE_KEY("host_memory", make_is_host, "flag", "it was pinned host memory, not a GPU's"),
    VT_TEXT_KEY("api", api, "text_or_null", "the function that allocated, as in source code"),
    VT_NUMBER_KEY("total_bytes", total_bytes, "bytes_or_null", "the device's size at that moment"),
    VT_NUMBER_KEY("tracked_bytes", tracked_bytes, "bytes_or_null", "held by this process, as recorded"),
    VT_NUMBER_KEY("cached_bytes", cached_bytes, "bytes_or_null", "reserved by caching allocators and not in use"),
    VT_NUMBER_KEY("largest_free_bytes", largest_free_bytes, "bytes_or_null", "the largest free piece"),
    VT_TEXT_KEY("advice", advice, "text_or_null", "what to try, in a sentence"),
    VT_MADE_KEY("holders", make_holders, VT_LIST_OF("text"), "ids of the call sites that held most"),
    VT_MADE_KEY("holder_bytes", make_holder_bytes, VT_LIST_OF("bytes"), "what each of them held"),
    VT_TEXT_KEY("allocator", allocator, "text_or_null", "the caching allocator that asked; null: none"),
    VT_NUMBER_KEY("driver_requested_bytes", driver_requested_bytes, "bytes_or_null", "the segment that was to hold it"),
    VT_NUMBER_KEY("attempts", attempts, "count", "refusals by the driver"),
    VT_NUMBER_KEY("leaked_bytes", leaked_bytes, "bytes_or_null", "held by leaks at that moment"),
    VT_TEXT_KEY("setting", setting, "text_or_null", "a setting of the allocator with which the request would have fitted"),
    VT_NUMBER_KEY("thread", thread, "count_or_null", "the thread, numbered as it appeared"),
    VT_NUMBER_KEY("free_reported_at_ns", free_reported_at, "ns_or_null", "when the driver reported free_bytes"),
    VT_NUMBER_KEY("other_processes_bytes", others_bytes, "bytes_or_null", "device memory of other processes"),
    VT_MADE_LIST_KEY("pins", make_oom_pins, pin_keys, "call sites whose live blocks keep mostly idle segments from being released, the most pinned first"),
    VT_STACK_KEY(stack),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

static void make_error(struct vt_key_writer *w, const char *key, const void *of) {
    vt_json_string(w->json, key, vt_failed_name(((const struct vt_failed *)of)->result));
}

static void make_causes(struct vt_key_writer *w, const char *key, const void *of) {
    VT_SCOPED char *causes = vt_failed_causes(w->process, of);
    vt_json_string(w->json, key, causes);
}

/* clang-format off */
#define OF struct vt_failed
const struct vt_key vt_failed_keys[] = {
    VT_NUMBER_KEY("at_ns", at, "ns_or_null", "when the first failed, since the process's first record"),
    VT_NUMBER_KEY("count", count, "count", "how many failed"),
    VT_NUMBER_KEY("result", result, "count", "what the call answered, a CUresult or a cudaError_t"),
    VT_MADE_KEY("error", make_error, "text", "that in words"),
    VT_MADE_KEY("causes", make_causes, "text_or_null", "what usually causes it, in a sentence"),
    VT_TEXT_KEY("api", api, "text_or_null", "the function that was called, as in source code"),
    VT_STACK_KEY(stack),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

/* --- objects, modules, phases --- */

/* clang-format off */
#define OF struct vt_object_life
const struct vt_key vt_object_keys[] = {
    VT_TEXT_KEY("kind", kind, "text", "context, module, graph, graphics or external"),
    VT_NUMBER_KEY("created", created, "ns_or_null", "when, since the process's first record"),
    VT_NUMBER_KEY("destroyed", destroyed, "ns_or_null", "when; null: never"),
    VT_DEVICE_KEY("device", device, "the GPU's ordinal; null: host memory, or unknown"),
    VT_STACK_KEY(stack),
    VT_KEYS_END,
};
#undef OF

#define OF struct vt_module
const struct vt_key vt_module_keys[] = {
    VT_TEXT_KEY("module", path, "text_or_null", "its path"),
    VT_TEXT_KEY("build_id", build_id, "text_or_null", "its build id"),
    VT_KEYS_END,
};
#undef OF

#define OF struct vt_phase
const struct vt_key vt_phase_keys[] = {
    /* also in `watch` */
    VT_TEXT_KEY("name", name, "text_or_null", "the phase's name"),
    VT_NUMBER_KEY("start_ns", start, "ns", "when it began"),
    VT_NUMBER_KEY("thread", thread, "count_or_null", "the thread, numbered as it appeared"),
    VT_NUMBER_KEY("live_at_start", live_at_start, "bytes_or_null", "driver memory held then"),
    VT_KEYS_END,
};
const struct vt_key vt_phase_more_keys[] = {
    VT_INLINE_KEY(vt_phase_keys),
    VT_TEXT_KEY("domain", domain, "text_or_null", "the NVTX domain"),
    VT_FLAG_KEY("mark", mark, "a moment, not a range"),
    VT_NUMBER_KEY("end_ns", end, "ns_or_null", "when it ended; null: it did not"),
    VT_NUMBER_KEY("live_at_end", live_at_end, "bytes_or_null", "driver memory held then"),
    VT_NUMBER_KEY("peak_bytes", peak_bytes, "bytes_or_null", "the most that was held at once"),
    VT_KEYS_END,
};
#undef OF

#define OF struct vt_phase_sum
const struct vt_key vt_phase_sum_keys[] = {
    VT_TEXT_KEY("name", name, "text_or_null", "the phases' name, with * for numbers"),
    VT_FLAG_KEY("mark", mark, "moments, not ranges"),
    VT_NUMBER_KEY("count", count, "count", "how many"),
    VT_NUMBER_KEY("rose_bytes", rose, "bytes", "driver memory that those left which left more than there was"),
    VT_NUMBER_KEY("fell_bytes", fell, "bytes", "driver memory that the others gave back"),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */
