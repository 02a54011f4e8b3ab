/* SPDX-License-Identifier: MIT */
/*
 * Settings of PyTorch's allocator, as text (see cache_model.h). Parsed as in
 * c10/core/AllocatorConfig.cpp and c10/cuda/CUDAAllocatorConfig.cpp of 2.14.
 */
#include "cache_model.h"

#include "vramtrace/text.h"

#include <stdlib.h>
#include <string.h>

/* A part of the text: a key, or a value. */
struct part {
    const char *at;
    size_t length;
};

static bool is(struct part part, const char *text) {
    return part.length == strlen(text) && !memcmp(part.at, text, part.length);
}

/* The next part, up to one of the characters `ends`, without surrounding blanks. */
static struct part next_part(const char **at, const char *ends) {
    *at += strspn(*at, " ");
    struct part part = {*at, strcspn(*at, ends)};
    *at += part.length;
    while (part.length && part.at[part.length - 1] == ' ')
        part.length--;
    return part;
}

static bool to_number(struct part part, double *number) {
    char text[32], *end;
    if (!part.length || part.length >= sizeof text)
        return false;
    memcpy(text, part.at, part.length);
    text[part.length] = 0;
    *number = strtod(text, &end);
    return !*end && *number >= 0;
}

/* Converts a number of MiB, at least `least`, to bytes. */
static bool to_mib(struct part part, double least, uint64_t *bytes) {
    double mib;
    if (!to_number(part, &mib) || mib < least || mib > 1ull << 40)
        return false;
    *bytes = (uint64_t)mib << 20;
    return true;
}

static bool to_bool(struct part part, bool *value) {
    *value = is(part, "True");
    return *value || is(part, "False");
}

static bool to_power_of_2(struct part part, uint32_t *value) {
    double number;
    if (!to_number(part, &number) || number > 1u << 31)
        return false;
    *value = (uint32_t)number;
    return !(*value & (*value - 1));
}

static void fill(struct vt_cache_settings *s, unsigned from, unsigned to, uint32_t value) {
    for (unsigned i = from; i < to; i++)
        s->divisions[i] = value;
}

/* One number, or a list such as [256:1,512:2,>:4], by MiB. */
static bool to_divisions(struct part part, struct vt_cache_settings *s) {
    const char *at = part.at + 1, *end = part.at + part.length;
    uint32_t value, boundary;
    unsigned index = 0, last = 0;
    bool first = true;
    if (*part.at != '[') {
        bool known = to_power_of_2(part, &value) && value;
        if (known)
            fill(s, 0, VT_CACHE_INTERVALS, value);
        return known;
    }
    while (at < end && *at != ']') {
        struct part from = next_part(&at, ":,]");
        if (*at++ != ':' || !to_power_of_2(next_part(&at, ",]"), &value))
            return false;
        at += *at == ',';
        if (is(from, ">")) {
            fill(s, last + 1, VT_CACHE_INTERVALS, value);
            continue;
        }
        if (!to_power_of_2(from, &boundary) || !boundary)
            return false;
        for (index = 0; boundary >>= 1;)
            index++;
        last = index < VT_CACHE_INTERVALS ? index : VT_CACHE_INTERVALS - 1;
        if (first)
            fill(s, 0, last, value);
        s->divisions[last] = value;
        first = false;
    }
    return at < end;
}

/* Whether the key, of 2.14, does not affect the memory reserved on a device. */
static bool is_for_host(struct part key) {
    static const char *const locks = "release_lock_on_cudamalloc";
    return is(key, locks) || (key.length > 7 && !memcmp(key.at, "pinned_", 7));
}

static bool apply(struct vt_cache_settings *s, struct part key, struct part value, bool *known) {
    *known = true;
    if (is(key, "expandable_segments"))
        return to_bool(value, &s->expandable);
    if (is(key, "max_split_size_mb"))
        return to_mib(value, 20, &s->max_split);
    if (is(key, "max_non_split_rounding_mb"))
        return to_mib(value, 20, &s->max_rounding);
    if (is(key, "large_segment_size_mb"))
        return to_mib(value, 11, &s->large_segment);
    if (is(key, "roundup_power2_divisions"))
        return to_divisions(value, s);
    if (is(key, "garbage_collection_threshold"))
        return to_number(value, &s->collect_from) && s->collect_from > 0 && s->collect_from < 1;
    if (is(key, "per_process_memory_fraction"))
        return to_number(value, &s->fraction) && s->fraction <= 1;
    if (is(key, "backend") && is(value, "native"))
        return true;
    *known = is_for_host(key);
    return *known;
}

/* The part's length in a message. */
static int shown(struct part part) {
    enum { MOST = 40 };
    return part.length < MOST ? (int)part.length : MOST;
}

bool vt_cache_settings_read(const char *value, struct vt_cache_settings *settings,
                            struct vt_string *refused) {
    bool good = true, known;
    *settings = (struct vt_cache_settings){
        .max_split = UINT64_MAX, .large_segment = VT_CACHE_LARGE_SEGMENT, .fraction = 1};
    for (const char *at = value ? value : ""; *at; at += *at == ',') {
        struct vt_cache_settings taken = *settings;
        struct part key = next_part(&at, ":,"), text = {at, 0};
        at += *at == ':';
        at += strspn(at, " ");
        if (*at == '[') {
            text = (struct part){at, strcspn(at, "]")};
            text.length += text.at[text.length] == ']';
            at += text.length + strcspn(at + text.length, ",");
        } else {
            text = next_part(&at, ",");
        }
        if (!key.length && !text.length)
            continue;
        if (apply(&taken, key, text, &known)) {
            *settings = taken;
            continue;
        }
        if (good && refused)
            vt_string_format(refused, "%.*s:%.*s %s", shown(key), key.at, shown(text), text.at,
                             known ? "is not a value that PyTorch accepts"
                                   : "is not in the model of PyTorch's allocator");
        good = false;
    }
    if (!settings->max_rounding)
        settings->max_rounding = settings->large_segment;
    return good;
}
